"""The result as JUnit XML: one test suite per model, one test case per outcome."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from py_autodoc.check.formats.names import relative, sentence
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Status
from py_autodoc.render.terminal_text import printable
from py_autodoc.version import NAME

_ROOT = f"{NAME} check"


def junit(results: Sequence[CheckResult]) -> str:
    """Return the document. Unknown figures are failures, or skipped cases if they are only warnings."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites{_attributes(name=_ROOT, **_counts(results))}>",
    ]
    for result in results:
        lines += _suite(result)
    return "\n".join([*lines, "</testsuites>", ""])


def _suite(result: CheckResult) -> list[str]:
    file = relative(result.file)
    lines = [f"  <testsuite{_attributes(name=file, **_counts([result]))}>"]
    if result.fault is not None:
        body = _element("error", result.fault.message, result.fault.code, result.fault.hint)
        lines += _case("analysis", file, body)
    for outcome in result.outcomes:
        lines += _case(
            outcome.title if outcome.status is Status.PASSED else _name(outcome), file, _body(outcome)
        )
    return [*lines, "  </testsuite>"]


def _name(outcome: CheckOutcome) -> str:
    """Return the case name. A rule with several findings gives several cases, so it includes the rule."""
    return outcome.title if outcome.title.startswith(outcome.rule) else f"{outcome.rule}: {outcome.title}"


def _body(outcome: CheckOutcome) -> str:
    if outcome.status is Status.PASSED:
        return ""
    if outcome.status is Status.WARNING:
        return f"      <skipped{_attributes(message=sentence(outcome))}/>"
    return _element("failure", outcome.message, outcome.rule, sentence(outcome))


def _element(kind: str, message: str, type_: str, text: str) -> str:
    start = f"<{kind}{_attributes(message=message, type=type_)}"
    return f"      {start}>{_text(text)}</{kind}>" if text else f"      {start}/>"


def _case(name: str, file: str, body: str) -> list[str]:
    start = f"    <testcase{_attributes(name=name, classname=file, file=file)}"
    return [f"{start}>", body, "    </testcase>"] if body else [f"{start}/>"]


def _counts(results: Sequence[CheckResult]) -> dict[str, int]:
    faults = sum(result.fault is not None for result in results)
    return {
        "tests": faults + sum(len(result.outcomes) for result in results),
        "failures": sum(len(result.of(Status.FAILED, Status.UNKNOWN)) for result in results),
        "errors": faults,
        "skipped": sum(len(result.of(Status.WARNING)) for result in results),
    }


def _attributes(**attributes: object) -> str:
    return "".join(f' {name}="{_text(str(value))}"' for name, value in attributes.items())


def _text(text: str) -> str:
    """Escape markup and replace characters that XML 1.0 does not allow."""
    return escape(printable(text))
