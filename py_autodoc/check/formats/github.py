"""Annotations for GitHub Actions: workflow commands, one per line on stdout."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.check.formats.names import relative, sentence
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Status
from py_autodoc.render.runner_log import break_colons, break_markers
from py_autodoc.render.terminal_text import printable

_MAX_MESSAGE = 4000
"""Maximum length of a message; GitHub cuts longer ones."""


def workflow_commands(results: Iterable[CheckResult]) -> list[str]:
    """Return ``::error …::`` for failures and ``::warning …::`` for warnings, as lines without line ends."""
    commands = []
    for result in results:
        if result.fault is not None:
            hint = f" {result.fault.hint}" if result.fault.hint else ""
            commands.append(
                _command("error", result.file, result.fault.code, f"{result.fault.message}{hint}")
            )
        commands += [
            _outcome(result.file, outcome)
            for outcome in result.outcomes
            if outcome.status is not Status.PASSED
        ]
    return commands


def _outcome(file: str, outcome: CheckOutcome) -> str:
    kind = "warning" if outcome.status is Status.WARNING else "error"
    return _command(kind, file, outcome.rule, sentence(outcome))


def _command(kind: str, file: str, title: str, message: str) -> str:
    # Other runners, and people, read the line as well: its only :: are those of the command.
    text = break_colons(_data(message))
    return f"::{kind} file={_property(relative(file))},title={_property(title)}::{text}"


def _data(text: str) -> str:
    # printable() removes line ends; older commands start anywhere in a line.
    return break_markers(printable(text)[:_MAX_MESSAGE].replace("%", "%25"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
