"""The result as terminal output: one line per model, followed by the rules that fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from py_autodoc.check.formats.names import sentence
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Status
from py_autodoc.render.runner_log import inert
from py_autodoc.render.terminal_text import printable
from py_autodoc.units import plural

_MARKS = {Status.PASSED: "ok", Status.FAILED: "failed", Status.UNKNOWN: "unknown", Status.WARNING: "warning"}
_WIDTH = 7


def lines(result: CheckResult, all_rules: bool = False) -> list[str]:
    """Return the lines of a model; with ``all_rules`` also the rules that pass.

    Each line starts with fixed text or a blank, so that no name can start a command to a CI system.
    """
    file = printable(result.file)
    if result.fault is not None:
        return list(
            map(_inert, [f"ERROR  {file}", f"       {printable(result.fault.message)} {result.fault.hint}"])
        )
    bad = result.of(Status.FAILED, Status.UNKNOWN)
    warned = result.of(Status.WARNING)
    word = "FAIL" if bad else "WARN" if warned else "PASS"
    count = len(result.outcomes)
    count_text = f"{len(bad):,} of {plural(count, 'check')} failed" if bad else plural(count, "check")
    outcomes = result.outcomes if all_rules else [*bad, *warned]
    return [_inert(line) for line in (f"{word}   {file}  ({count_text})", *map(_line, outcomes))]


def _line(outcome: CheckOutcome) -> str:
    return f"       {_MARKS[outcome.status]:<{_WIDTH}}  {outcome.rule}: {sentence(outcome)}".rstrip()


def _inert(line: str) -> str:
    return inert(line.rstrip())


def summary(results: Sequence[CheckResult]) -> str:
    """Return one line about all models."""
    faults = sum(result.fault is not None for result in results)
    passed = sum(result.passes for result in results)
    parts = [f"{passed:,} passed"]
    parts += [f"{failed:,} failed"] if (failed := len(results) - passed - faults) else []
    parts += [f"{faults:,} could not be checked"] if faults else []
    warned = sum(bool(result.of(Status.WARNING)) for result in results)
    parts += [f"{warned:,} with warnings"] if warned else []
    return f"{plural(len(results), 'model')}: {', '.join(parts)}."


def text(results: Iterable[CheckResult], all_rules: bool = False) -> list[str]:
    """Return all lines."""
    all_results = list(results)
    return [line for result in all_results for line in lines(result, all_rules)] + [summary(all_results)]
