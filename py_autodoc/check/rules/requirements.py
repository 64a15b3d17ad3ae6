"""Requirements: ``opset>=17``, ``runs``, ``precision=int8``, ``family~transformer``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from py_autodoc.check.figures import LABELS, figure_text, unknown_costs
from py_autodoc.check.outcomes import CheckOutcome, Status
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.compare.measures import precision
from py_autodoc.errors import OptionError
from py_autodoc.report.builders.hardware_section import hardware_estimates
from py_autodoc.report.builders.runnable_section import runnable
from py_autodoc.report.encode.labels import sentence_start, shorten_middle
from py_autodoc.report.node_query.query_parser import query_number
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.similar_names import similar_names
from py_autodoc.units import UNKNOWN, size

WORDS = ("runs", "fits", "static")
NUMBERS = ("opset", "ir", "inputs", "outputs", "coverage", *LABELS)
TEXTS = ("family", "precision", "scheme", "producer", "domain")
_FORM = re.compile(
    r"\s*(?P<name>[A-Za-z_]+)(?::(?P<domain>[\w.\-]{1,200}))?\s*"
    r"(?P<than>>=|<=|==|!=|=|>|<|~)\s*(?P<value>[^\s].{0,200}?)\s*"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
_EXAMPLES = "Pass a requirement such as 'opset>=17', 'precision=int8' or 'runs'."


@dataclass(frozen=True, slots=True)
class _Fact:
    """A value of the model, or why it is unknown."""

    value: float | str | None
    text: str
    reason: str = ""


def requirement_rule(text: str, hardware: str) -> Rule:
    """Return the rule of one requirement. Raises: OptionError."""
    word = text.strip().lower()
    if word in ("fits", "latency") or word.startswith("latency"):
        _needs_device(text, hardware)
    if word in WORDS:
        return _word_rule(word)
    match = _FORM.fullmatch(text)
    if match is None:
        more = f"Words: {', '.join(WORDS)}."
        raise OptionError("bad-requirement", f"--require: cannot read {text[:60]!r}.", f"{_EXAMPLES} {more}")
    name, domain, than = match["name"].lower(), match["domain"] or "", match["than"].replace("==", "=")
    if name not in NUMBERS + TEXTS or (domain and name != "opset"):
        guess = similar_names(name, (*NUMBERS, *TEXTS, *WORDS))
        hint = f"Did you mean {guess[0]!r}?" if guess else f"Choose one of {', '.join((*NUMBERS, *TEXTS))}."
        raise OptionError("bad-requirement", f"--require {text[:60]!r}: unknown fact {name[:40]!r}.", hint)
    if name in TEXTS:
        if than not in ("=", "!=", "~"):
            hint = "Use =, != or ~ for it."
            raise OptionError("bad-requirement", f"--require {text[:60]!r}: {name} is a text field.", hint)
        return _text_rule(text.strip(), name, than, match["value"].lower())
    number = _number(match["value"])
    if number is None or than == "~":
        raise OptionError("bad-requirement", f"--require {text[:60]!r}: expected a number.", _EXAMPLES)
    return _number_rule(text.strip(), name, domain, than, number)


def _needs_device(text: str, hardware: str) -> None:
    if not hardware:
        raise OptionError(
            "hardware-missing", f"--require {text[:60]!r} needs a device.", "Add --hardware ID."
        )


def _number(text: str) -> float | None:
    share = text.endswith("%")
    value = query_number(text.removesuffix("%").strip())
    return None if value != value else value / 100 if share else value


def _number_rule(text: str, name: str, domain: str, than: str, number: float) -> Rule:
    compare = _COMPARE[than]

    def check(subject: CheckSubject) -> list[CheckOutcome]:
        fact = _number_fact(subject, name, domain)
        if fact.value is None:
            return [_outcome(text, Status.UNKNOWN, f"{fact.text} is unknown; {fact.reason}")]
        assert not isinstance(fact.value, str)
        status = Status.PASSED if compare(fact.value, number) else Status.FAILED
        return [_outcome(text, status, fact.text)]

    return check


def _number_fact(subject: CheckSubject, name: str, domain: str) -> _Fact:
    model = subject.analysis.model
    if name == "opset":
        key = "" if domain in ("", "ai.onnx") else domain
        label = f"opset of {shorten_middle(domain or 'ai.onnx')}"
        version = model.opsets.get(key)
        if version is None:
            return _Fact(0.0, f"the model does not import {shorten_middle(domain or 'ai.onnx')}")
        return _Fact(float(version), f"the {label} is {version}")
    if name == "ir":
        return _Fact(float(model.ir_version), f"the IR version is {model.ir_version}")
    if name in ("inputs", "outputs"):
        count = len(getattr(model.graphs[0], name))
        return _Fact(float(count), f"the model has {count:,} {name}")
    if name == "coverage":
        share = subject.analysis.totals.node_share
        return _Fact(share, f"costs are known for {100 * share:.3g} % of the nodes")
    figure = subject.figures.get(name)
    if figure is None:
        return _Fact(None, LABELS[name], "there is no device")
    if figure.value is None:
        return _Fact(None, LABELS[name], figure.reason or "it could not be computed")
    return _Fact(
        float(figure.value), f"{LABELS[name]}: {figure_text(name, figure.value)} ({figure.value:,.10g})"
    )


def _text_rule(text: str, name: str, than: str, expected: str) -> Rule:
    def check(subject: CheckSubject) -> list[CheckOutcome]:
        value = _text_fact(subject.analysis, name)
        if not value or value == "unknown":
            return [_outcome(text, Status.UNKNOWN, f"the {name} is unknown")]
        same = expected in value.lower() if than == "~" else expected == value.lower()
        status = Status.PASSED if same == (than != "!=") else Status.FAILED
        return [_outcome(text, status, f"the {name} is {shorten_middle(value, 200)}")]

    return check


def _text_fact(analysis: Analysis, name: str) -> str:
    if name == "family":
        return analysis.structure.verdict.family
    if name == "precision":
        return precision(analysis)[0]
    if name == "scheme":
        return precision(analysis)[1]
    return analysis.model.producer_name if name == "producer" else analysis.model.domain


def _word_rule(word: str) -> Rule:
    tests = {"runs": _runs, "fits": _fits, "static": _static}
    return lambda subject: [_outcome(word, *tests[word](subject.analysis))]


def _runs(analysis: Analysis) -> tuple[Status, str]:
    verdict = runnable(analysis)
    if verdict.verdict == "yes":
        return Status.PASSED, "every shape is known and none contradicts another"
    # The reason may begin with a name, which is shown as it is: the words come before it.
    if verdict.verdict == "no":
        return Status.FAILED, f"the model cannot run: {verdict.reason}"
    return Status.UNKNOWN, f"it is not known whether the model runs: {verdict.reason}"


def _fits(analysis: Analysis) -> tuple[Status, str]:
    estimate = hardware_estimates(analysis)
    if estimate is None or estimate.fits_in_vram is None:
        unknown = "required" if estimate is None or estimate.vram_required_bytes is None else "device's"
        return Status.UNKNOWN, f"the {unknown} memory is unknown; {unknown_costs(analysis) or UNKNOWN}"
    need = f"{size(estimate.vram_required_bytes)} of {size(estimate.vram_bytes)} on {estimate.device_name}"
    return (Status.PASSED if estimate.fits_in_vram else Status.FAILED), f"the model needs {need}"


def _static(analysis: Analysis) -> tuple[Status, str]:
    names = [shorten_middle(symbol.name, 40) for symbol in analysis.dims.symbols]
    if not names:
        return Status.PASSED, "all input shapes are fixed"
    return Status.FAILED, f"symbolic dimensions: {', '.join(names[:5])}"


def _outcome(text: str, status: Status, fact_text: str) -> CheckOutcome:
    message = f"{sentence_start(fact_text)}."
    if status is Status.FAILED:
        message = f"Required: {text}. {message}"
    return CheckOutcome("require", f"require {text}", status, message)
