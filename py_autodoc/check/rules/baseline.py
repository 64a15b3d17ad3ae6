"""Comparison with a baseline: growth of figures, changes of the architecture, new findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from py_autodoc.check.amounts import tolerance
from py_autodoc.check.figures import BY_SIZES, LABELS, CheckedFigure, Figures, figures, reported, written
from py_autodoc.check.outcomes import CheckOutcome, Status
from py_autodoc.check.policy import PolicyBaseline
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.compare.gate import WORDS, GateCondition, condition
from py_autodoc.compare.measures import percent, relative
from py_autodoc.errors import OptionError
from py_autodoc.findings.registry import SEVERITIES
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.similar_names import similar_names

NEW = "new-findings"
"""Condition: a finding that the baseline does not have, or with a higher severity."""
_TOLERATED = ("size", "params", "weights", "macs", "flops", "peak")


@dataclass(frozen=True)
class Baseline:
    """The baseline that models are compared with."""

    name: str
    figures: Figures
    findings: Mapping[str, str]
    """Rule id → its highest severity."""
    dims: Mapping[str, int | None]
    device: tuple[str, ...]
    """Device, precision and runtime of the latency; empty without one."""
    analysis: Analysis | None = None
    """None for a report."""


def of_analysis(analysis: Analysis) -> Baseline:
    """Use a model as baseline."""
    return Baseline(
        analysis.model.file.name, figures(analysis), _worst((f.rule, f.severity) for f in analysis.findings),
        _dims(analysis), _device(analysis), analysis,
    )  # fmt: skip


def of_report(report: Report, name: str) -> Baseline:
    """Use a report as baseline."""
    chosen = report.hardware_estimates
    return Baseline(
        name, reported(report), _worst((one.id, one.severity) for one in report.risk_signals),
        {dim.name: dim.value for dim in report.dims},
        () if chosen is None else (chosen.device, chosen.precision, chosen.runtime),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BaselineTests:
    """The conditions of the comparison, from the policy, before anything is analysed."""

    conditions: tuple[GateCondition, ...]
    new_findings: bool

    @property
    def words(self) -> list[str]:
        """Conditions that need the model of the baseline."""
        return [one.text for one in self.conditions if not one.than]


def baseline_tests(given: PolicyBaseline, latency: bool) -> BaselineTests:
    """Return the conditions. By default, no figure may grow. Raises: OptionError."""
    made = [condition(text, "--fail-on", tuple(LABELS), (*WORDS, NEW)) for text in given.fail_on]
    named: dict[str, float] = {}
    for name, growth in given.tolerances.items():
        if name not in LABELS:
            guess = similar_names(name, list(LABELS))
            hint = f"Did you mean {guess[0]!r}?" if guess else f"Choose one of {', '.join(LABELS)}."
            raise OptionError("unknown-figure", f"--tolerance: unknown figure {name[:40]!r}.", hint)
        named[name] = tolerance(growth, f"--tolerance {name}")
    if given.tolerance is not None or not (made or named):
        every = 0.0 if given.tolerance is None else tolerance(given.tolerance, "--tolerance")
        tolerated = (*_TOLERATED, "latency") if latency else _TOLERATED
        named = dict.fromkeys(tolerated, every) | named
    grown = [GateCondition(f"{n}>+{share:g}%", n, ">", share, True, True) for n, share in named.items()]
    numbers = tuple(dict.fromkeys((*grown, *(one for one in made if one.name != NEW))))
    return BaselineTests(numbers, any(one.name == NEW for one in made))


def baseline_rules(base: Baseline, tests: BaselineTests) -> list[Rule]:
    """Return the rules of a baseline.

    Raises: OptionError: a condition needs a model and the baseline is a report.
    """
    if tests.words and base.analysis is None:
        raise OptionError(
            "baseline-is-report", f"{base.name}: {tests.words[0]!r} compares graphs, but a report has none.",
            "Pass the model as --baseline.",
        )  # fmt: skip
    found = [_number_rule(base, one) for one in tests.conditions if one.than]
    words = [one for one in tests.conditions if not one.than]
    if words:
        found.append(_word_rule(base, words))
    if tests.new_findings:
        found.append(_findings_rule(base))
    return found


def _number_rule(base: Baseline, one: GateCondition) -> Rule:
    label = LABELS[one.name]

    def check(subject: CheckSubject) -> list[CheckOutcome]:
        before, after = base.figures.get(one.name), subject.figures.get(one.name)
        title = f"{one.text} against {shorten_middle(base.name, 80)}"
        why = _incomparable(base, subject.analysis, one.name) or _missing(base, before, after)
        if why or before is None or after is None:
            message = (
                f"{label} cannot be compared with {shorten_middle(base.name, 80)}; {why or 'it is unknown'}."
            )
            return [CheckOutcome("baseline", title, Status.UNKNOWN, message)]
        fails = one.beyond({one.name: before.value}, {one.name: after.value})
        shown = f"{label}: {written(one.name, before.value)} → {written(one.name, after.value)}"
        change = percent(relative(before.value, after.value)) if before.value else _from_zero(after.value)
        message = f"{shown} ({change}) against {shorten_middle(base.name, 80)}."
        return [CheckOutcome("baseline", title, Status.FAILED if fails else Status.PASSED, message)]

    return check


def _from_zero(value: float | None) -> str:
    return "from nothing" if value else "same"


def _missing(base: Baseline, before: CheckedFigure | None, after: CheckedFigure | None) -> str:
    for one, name in ((before, shorten_middle(base.name, 80)), (after, "this model")):
        if one is None:
            return f"unknown for {name}"
        if one.value is None:
            return f"unknown for {name}: {one.reason}" if one.reason else f"unknown for {name}"
    return ""


def _incomparable(base: Baseline, analysis: Analysis, figure: str) -> str:
    """Return why two known figures are not comparable."""
    if figure not in BY_SIZES:
        return ""
    for name, now in _dims(analysis).items():
        was = base.dims.get(name, now)
        if was is not None and now is not None and was != now:
            return f"its dimensions are others: {shorten_middle(name, 40)} was {was:,} and is {now:,}"
    device = _device(analysis)
    if figure == "latency" and device != base.device:
        before = " ".join(base.device).strip()
        return f"its latency is for {before or 'no device'}, not {' '.join(device)}"
    return ""


def _word_rule(base: Baseline, words: Sequence[GateCondition]) -> Rule:
    """Return a rule for conditions on the alignment, which is computed once for all of them."""

    def check(subject: CheckSubject) -> list[CheckOutcome]:
        from py_autodoc.compare.align import align

        assert base.analysis is not None
        found = align(base.analysis, subject.analysis)
        made = []
        for one in words:
            why = one.holds(found, {}, {})
            title = f"{one.text} against {shorten_middle(base.name, 80)}"
            status = Status.FAILED if why else Status.PASSED
            told = shorten_middle(why, 400) or "no such change"
            message = f"{one.text}: {told}, against {shorten_middle(base.name, 80)}."
            made.append(CheckOutcome("baseline", title, status, message))
        return made

    return check


def _findings_rule(base: Baseline) -> Rule:
    def check(subject: CheckSubject) -> list[CheckOutcome]:
        title = f"No new findings against {shorten_middle(base.name, 80)}"
        made = []
        for rule, severity in _worst((f.rule, f.severity) for f in subject.analysis.findings).items():
            was = base.findings.get(rule)
            if was is not None and SEVERITIES.index(was) >= SEVERITIES.index(severity):
                continue
            first = next(
                f for f in subject.analysis.findings if f.rule == rule and f.severity == severity
            )  # fmt: skip
            grade = f"{severity}, new" if was is None else f"{severity}, was {was}"
            message = f"{grade}: {shorten_middle(first.message, 1000)}"
            hint = shorten_middle(first.recommendation, 1000)
            made.append(CheckOutcome(f"finding/{rule}", title, Status.FAILED, message, hint))
        return made or [CheckOutcome("baseline", title, Status.PASSED, f"{title}.")]

    return check


def _worst(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    worst: dict[str, str] = {}
    for rule, severity in found:
        known = worst.get(rule)
        if known is None or SEVERITIES.index(severity) > SEVERITIES.index(known):
            worst[rule] = severity
    return worst


def _dims(analysis: Analysis) -> dict[str, int | None]:
    return {shorten_middle(symbol.name): symbol.value for symbol in analysis.dims.symbols}


def _device(analysis: Analysis) -> tuple[str, ...]:
    from py_autodoc.report.builders.hardware_section import hardware_estimates

    found = hardware_estimates(analysis)
    return () if found is None else (found.device, found.precision, found.runtime)
