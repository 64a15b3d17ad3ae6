"""Comparison with a baseline: growth of figures, changes of the architecture, new findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from py_autodoc.check.amounts import tolerance
from py_autodoc.check.figures import (
    BY_SIZES,
    LABELS,
    CheckedFigure,
    Figures,
    figure_text,
    figures,
    report_figures,
)
from py_autodoc.check.outcomes import CheckOutcome, Status
from py_autodoc.check.policy import PolicyBaseline
from py_autodoc.check.rules.baseline_interface import interface_rule
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.compare.gate import WORDS, GateCondition, condition
from py_autodoc.compare.measures import percent, relative
from py_autodoc.errors import OptionError
from py_autodoc.findings.registry import SEVERITIES
from py_autodoc.report.builders.shared_parts import graph_info
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema.model import GraphInfo
from py_autodoc.similar_names import similar_names

NEW = "new-findings"
"""Condition: a finding that the baseline does not have, or with a higher severity."""
INTERFACE = "interface"
"""Condition: an input or output that differs. Unlike the other words it needs no graph, so reports do."""
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
    graph: GraphInfo
    """Its inputs and outputs."""
    analysis: Analysis | None = None
    """None for a report."""


def baseline_of_analysis(analysis: Analysis) -> Baseline:
    """Use a model as baseline."""
    return Baseline(
        analysis.model.file.name,
        figures(analysis),
        _highest_severities((f.rule, f.severity) for f in analysis.findings),
        _dims(analysis),
        _device(analysis),
        graph_info(analysis),
        analysis,
    )


def baseline_of_report(report: Report, name: str) -> Baseline:
    """Use a report as baseline."""
    estimates = report.hardware_estimates
    return Baseline(
        name,
        report_figures(report),
        _highest_severities((signal.id, signal.severity) for signal in report.risk_signals),
        {dim.name: dim.value for dim in report.dims},
        () if estimates is None else (estimates.device, estimates.precision, estimates.runtime),
        report.graph,
    )


@dataclass(frozen=True, slots=True)
class BaselineTests:
    """The conditions of the comparison, from the policy, before anything is analysed."""

    conditions: tuple[GateCondition, ...]
    new_findings: bool
    interface: bool
    """Inputs and outputs may not change: part of the default, and the condition ``interface``."""

    @property
    def words(self) -> list[str]:
        """Conditions that need the model of the baseline."""
        return [condition.text for condition in self.conditions if not condition.than]


def baseline_tests(policy: PolicyBaseline, latency: bool) -> BaselineTests:
    """Return the conditions. By default, no figure may grow and no input or output may change.

    Raises: OptionError.
    """
    conditions = [condition(text, "--fail-on", tuple(LABELS), (*WORDS, NEW)) for text in policy.fail_on]
    tolerances: dict[str, float] = {}
    for name, growth in policy.tolerances.items():
        if name not in LABELS:
            guess = similar_names(name, list(LABELS))
            hint = f"Did you mean {guess[0]!r}?" if guess else f"Choose one of {', '.join(LABELS)}."
            raise OptionError("unknown-figure", f"--tolerance: unknown figure {name[:40]!r}.", hint)
        tolerances[name] = tolerance(growth, f"--tolerance {name}")
    default_conditions = policy.tolerance is None and not (conditions or tolerances)
    if policy.tolerance is not None or default_conditions:
        default = 0.0 if policy.tolerance is None else tolerance(policy.tolerance, "--tolerance")
        tolerated = (*_TOLERATED, "latency") if latency else _TOLERATED
        tolerances = dict.fromkeys(tolerated, default) | tolerances
    growth_conditions = [
        GateCondition(f"{n}>+{share:g}%", n, ">", share, True, True) for n, share in tolerances.items()
    ]
    others = (c for c in conditions if c.name not in (NEW, INTERFACE))
    names = {c.name for c in conditions}
    return BaselineTests(
        tuple(dict.fromkeys((*growth_conditions, *others))),
        NEW in names,
        default_conditions or INTERFACE in names,
    )


def baseline_rules(base: Baseline, tests: BaselineTests) -> list[Rule]:
    """Return the rules of a baseline.

    Raises: OptionError: a condition needs a model and the baseline is a report.
    """
    if tests.words and base.analysis is None:
        raise OptionError(
            "baseline-is-report",
            f"{base.name}: {tests.words[0]!r} compares graphs, but a report has none.",
            "Pass the model as --baseline.",
        )
    rules = [_number_rule(base, condition) for condition in tests.conditions if condition.than]
    word_conditions = [condition for condition in tests.conditions if not condition.than]
    if word_conditions:
        rules.append(_word_rule(base, word_conditions))
    if tests.interface:
        rules.append(interface_rule(base.name, base.graph, base.dims))
    if tests.new_findings:
        rules.append(_findings_rule(base))
    return rules


def _number_rule(base: Baseline, condition: GateCondition) -> Rule:
    label = LABELS[condition.name]

    def check(subject: CheckSubject) -> list[CheckOutcome]:
        before, after = base.figures.get(condition.name), subject.figures.get(condition.name)
        title = f"{condition.text} against {shorten_middle(base.name, 80)}"
        reason = _incomparable(base, subject.analysis, condition.name) or _missing(base, before, after)
        if reason or before is None or after is None:
            base_name = shorten_middle(base.name, 80)
            message = f"{label} cannot be compared with {base_name}; {reason or 'it is unknown'}."
            return [CheckOutcome("baseline", title, Status.UNKNOWN, message)]
        fails = condition.number_reason({condition.name: before.value}, {condition.name: after.value})
        texts = figure_text(condition.name, before.value), figure_text(condition.name, after.value)
        change = (
            percent(relative(before.value, after.value)) if before.value else _change_from_zero(after.value)
        )
        message = f"{label}: {texts[0]} → {texts[1]} ({change}) against {shorten_middle(base.name, 80)}."
        return [CheckOutcome("baseline", title, Status.FAILED if fails else Status.PASSED, message)]

    return check


def _change_from_zero(value: float | None) -> str:
    return "from nothing" if value else "same"


def _missing(base: Baseline, before: CheckedFigure | None, after: CheckedFigure | None) -> str:
    for figure, name in ((before, shorten_middle(base.name, 80)), (after, "this model")):
        if figure is None:
            return f"unknown for {name}"
        if figure.value is None:
            return f"unknown for {name}: {figure.reason}" if figure.reason else f"unknown for {name}"
    return ""


def _incomparable(base: Baseline, analysis: Analysis, figure: str) -> str:
    """Return why two known figures are not comparable."""
    if figure not in BY_SIZES:
        return ""
    for name, value in _dims(analysis).items():
        base_value = base.dims.get(name, value)
        if base_value is not None and value is not None and base_value != value:
            return (
                f"its dimensions are others: {shorten_middle(name, 40)} was {base_value:,} and is {value:,}"
            )
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
        alignment = align(base.analysis, subject.analysis)
        outcomes = []
        for word in words:
            change = word.holds(alignment, {}, {})
            title = f"{word.text} against {shorten_middle(base.name, 80)}"
            status = Status.FAILED if change else Status.PASSED
            change_text = shorten_middle(change, 400) or "no such change"
            message = f"{word.text}: {change_text}, against {shorten_middle(base.name, 80)}."
            outcomes.append(CheckOutcome("baseline", title, status, message))
        return outcomes

    return check


def _findings_rule(base: Baseline) -> Rule:
    def check(subject: CheckSubject) -> list[CheckOutcome]:
        title = f"No new findings against {shorten_middle(base.name, 80)}"
        outcomes = []
        for rule, severity in _highest_severities(
            (f.rule, f.severity) for f in subject.analysis.findings
        ).items():
            base_severity = base.findings.get(rule)
            if base_severity is not None and SEVERITIES.index(base_severity) >= SEVERITIES.index(severity):
                continue
            first = next(f for f in subject.analysis.findings if f.rule == rule and f.severity == severity)
            grade = f"{severity}, new" if base_severity is None else f"{severity}, was {base_severity}"
            message = f"{grade}: {shorten_middle(first.message, 1000)}"
            hint = shorten_middle(first.recommendation, 1000)
            outcomes.append(CheckOutcome(f"finding/{rule}", title, Status.FAILED, message, hint))
        return outcomes or [CheckOutcome("baseline", title, Status.PASSED, f"{title}.")]

    return check


def _highest_severities(severities: Iterable[tuple[str, str]]) -> dict[str, str]:
    worst: dict[str, str] = {}
    for rule, severity in severities:
        current = worst.get(rule)
        if current is None or SEVERITIES.index(severity) > SEVERITIES.index(current):
            worst[rule] = severity
    return worst


def _dims(analysis: Analysis) -> dict[str, int | None]:
    return {shorten_middle(symbol.name): symbol.value for symbol in analysis.dims.symbols}


def _device(analysis: Analysis) -> tuple[str, ...]:
    from py_autodoc.report.builders.hardware_section import hardware_estimates

    estimates = hardware_estimates(analysis)
    return () if estimates is None else (estimates.device, estimates.precision, estimates.runtime)
