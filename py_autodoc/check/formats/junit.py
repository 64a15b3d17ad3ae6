"""The result as JUnit XML: one test suite per model, one test case per outcome."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from py_autodoc.check.formats.names import relative, sentence
from py_autodoc.check.outcomes import CheckOutcome, CheckResult, Status
from py_autodoc.render.terminal_text import printable
from py_autodoc.version import NAME

_ROOT = f"{NAME} check"


def junit(found: Sequence[CheckResult]) -> str:
    """Return the document. Unknown figures are failures, or skipped cases if they are only warnings."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites{_attributes(name=_ROOT, **_counts(found))}>",
    ]
    for one in found:
        lines += _suite(one)
    return "\n".join([*lines, "</testsuites>", ""])


def _suite(one: CheckResult) -> list[str]:
    file = relative(one.file)
    lines = [f"  <testsuite{_attributes(name=file, **_counts([one]))}>"]
    if one.fault is not None:
        body = _element("error", one.fault.message, one.fault.code, one.fault.hint)
        lines += _case("analysis", file, body)
    for outcome in one.outcomes:
        lines += _case(
            outcome.title if outcome.status is Status.PASSED else _name(outcome), file, _body(outcome)
        )
    return [*lines, "  </testsuite>"]


def _name(one: CheckOutcome) -> str:
    """Return the case name. A rule with several findings gives several cases, so it includes the rule."""
    return one.title if one.title.startswith(one.rule) else f"{one.rule}: {one.title}"


def _body(one: CheckOutcome) -> str:
    if one.status is Status.PASSED:
        return ""
    if one.status is Status.WARNING:
        return f"      <skipped{_attributes(message=sentence(one))}/>"
    return _element("failure", one.message, one.rule, sentence(one))


def _element(kind: str, message: str, type_: str, text: str) -> str:
    start = f"<{kind}{_attributes(message=message, type=type_)}"
    return f"      {start}>{_text(text)}</{kind}>" if text else f"      {start}/>"


def _case(name: str, file: str, body: str) -> list[str]:
    start = f"    <testcase{_attributes(name=name, classname=file, file=file)}"
    return [f"{start}>", body, "    </testcase>"] if body else [f"{start}/>"]


def _counts(found: Sequence[CheckResult]) -> dict[str, int]:
    faults = sum(one.fault is not None for one in found)
    return {
        "tests": faults + sum(len(one.outcomes) for one in found),
        "failures": sum(len(one.of(Status.FAILED, Status.UNKNOWN)) for one in found),
        "errors": faults,
        "skipped": sum(len(one.of(Status.WARNING)) for one in found),
    }


def _attributes(**given: object) -> str:
    return "".join(f' {name}="{_text(str(value))}"' for name, value in given.items())


def _text(text: str) -> str:
    """Escape markup and replace characters that XML 1.0 does not allow."""
    return escape(printable(text))
