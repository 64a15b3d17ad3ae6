"""The result as terminal output: one line per model, followed by the rules that fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from py_autodoc.check.formats.names import sentence
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Status
from py_autodoc.render.terminal_text import printable
from py_autodoc.units import plural

_MARKS = {Status.PASSED: "ok", Status.FAILED: "failed", Status.UNKNOWN: "unknown", Status.WARNING: "warning"}
_WIDTH = 7
_COMMAND, _INERT = "##[", "## ["
"""A command to GitHub runners, which may occur anywhere in a line, and its replacement."""


def lines(one: CheckResult, every: bool = False) -> list[str]:
    """Return the lines of a model; with ``every`` also the rules that pass.

    Each line starts with fixed text or a blank, so that no name can start a command to a CI system.
    """
    shown = printable(one.file)
    if one.fault is not None:
        return list(
            map(_inert, [f"ERROR  {shown}", f"       {printable(one.fault.message)} {one.fault.hint}"])
        )
    bad = one.of(Status.FAILED, Status.UNKNOWN)
    warned = one.of(Status.WARNING)
    word = "FAIL" if bad else "WARN" if warned else "PASS"
    count = len(one.outcomes)
    told = f"{len(bad):,} of {plural(count, 'check')} failed" if bad else plural(count, "check")
    listed = one.outcomes if every else [*bad, *warned]
    return [_inert(line) for line in (f"{word}   {shown}  ({told})", *map(_line, listed))]


def _line(one: CheckOutcome) -> str:
    return f"       {_MARKS[one.status]:<{_WIDTH}}  {one.rule}: {sentence(one)}".rstrip()


def _inert(line: str) -> str:
    return line.rstrip().replace(_COMMAND, _INERT)


def summary(found: Sequence[CheckResult]) -> str:
    """Return one line about all models."""
    faults = sum(one.fault is not None for one in found)
    passed = sum(one.passes for one in found)
    parts = [f"{passed:,} passed"]
    parts += [f"{failed:,} failed"] if (failed := len(found) - passed - faults) else []
    parts += [f"{faults:,} could not be checked"] if faults else []
    warned = sum(bool(one.of(Status.WARNING)) for one in found)
    parts += [f"{warned:,} with warnings"] if warned else []
    return f"{plural(len(found), 'model')}: {', '.join(parts)}."


def text(found: Iterable[CheckResult], every: bool = False) -> list[str]:
    """Return all lines."""
    done = list(found)
    return [line for one in done for line in lines(one, every)] + [summary(done)]
