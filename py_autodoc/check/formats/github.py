"""Annotations for GitHub Actions: workflow commands, one per line on stdout."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.check.formats.names import relative, sentence
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Status
from py_autodoc.render.terminal_text import printable

_MOST = 4000
"""Maximum length of a message; GitHub cuts longer ones."""


def workflow_commands(found: Iterable[CheckResult]) -> list[str]:
    """Return ``::error …::`` for failures and ``::warning …::`` for warnings, as lines without line ends."""
    made = []
    for one in found:
        if one.fault is not None:
            hint = f" {one.fault.hint}" if one.fault.hint else ""
            made.append(_command("error", one.file, one.fault.code, f"{one.fault.message}{hint}"))
        made += [
            _outcome(one.file, outcome) for outcome in one.outcomes if outcome.status is not Status.PASSED
        ]
    return made


def _outcome(file: str, one: CheckOutcome) -> str:
    kind = "warning" if one.status is Status.WARNING else "error"
    return _command(kind, file, one.rule, sentence(one))


def _command(kind: str, file: str, title: str, message: str) -> str:
    return f"::{kind} file={_property(relative(file))},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    # printable() removes line ends; the older command syntax starts with ##[ anywhere in a line.
    return printable(text)[:_MOST].replace("%", "%25").replace("##[", "## [")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
