"""Figures that a check compares, from an analysis or a report: values, lower bounds, reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from py_autodoc import units
from py_autodoc.compare.measures import MEASURES, Number, lower_bounds, metric_values
from py_autodoc.report.builders.hardware_section import hardware_estimates
from py_autodoc.report.builders.runnable_section import sizes_verdict
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema.estimates import HardwareEstimates
from py_autodoc.units import plural

LABELS = {measure.id: measure.label for measure in MEASURES} | {"latency": "Estimated latency"}
BY_SIZES = ("macs", "flops", "peak", "latency")
"""Figures that depend on the dimensions."""


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """One number of a model. Times are in milliseconds, sizes in bytes."""

    value: Number
    """None if unknown or only partly known."""
    least: Number = None
    """Lower bound of an unknown value: the sum of its known parts."""
    reason: str = ""
    """Why the value is unknown."""
    likely: tuple[float, float] | None = None
    """The likely range of an estimate."""


Figures = dict[str, CheckedFigure]


def figure_text(id: str, value: Number) -> str:
    """Return a value formatted for display."""
    return figure_formatter(id)(value)


def figure_formatter(id: str) -> Callable[[float | None], str]:
    """Return the formatting function of a figure."""
    if id == "latency":
        return lambda value: units.seconds(None if value is None else value / 1e3)
    return next(measure.write for measure in MEASURES if measure.id == id)


def figures(analysis: Analysis) -> Figures:
    """Return all figures of an analysed model; ``latency`` only if a device was chosen."""
    values, reason = metric_values(analysis), unknown_costs(analysis)
    figures = {
        name: CheckedFigure(value, reason="" if value is not None else reason)
        for name, value in values.items()
    }
    for name, least in lower_bounds(analysis).items():
        figures[name] = CheckedFigure(
            None, least, shorten_middle(analysis.params.reason) if name == "params" else reason
        )
    if values["weights"] is None:
        figures["weights"] = CheckedFigure(None, reason="the size of a constant is unknown")
    if values["peak"] is None:
        peak = analysis.peak
        figures["peak"] = CheckedFigure(
            None, reason=shorten_middle(peak.reason if peak else "the memory stage failed") or reason
        )
    estimate = hardware_estimates(analysis)
    if estimate is not None:
        figures["latency"] = _latency(estimate)
    return figures


def unknown_costs(analysis: Analysis) -> str:
    """Return why the costs of a model are not fully known, in one line."""
    verdict = sizes_verdict(analysis)
    if verdict.verdict == "no":
        return f"the model cannot run: {verdict.reason}"
    unset = [shorten_middle(symbol.name, 40) for symbol in analysis.dims.symbols if symbol.value is None]
    if unset:
        return f"dimensions have no value: {_first_names(unset)}"
    total = analysis.totals
    if total.unknown_ops:
        names = [
            shorten_middle(name, 60)
            for name in sorted(total.unknown_ops, key=lambda n: -total.unknown_ops[n])
        ]
        return f"{plural(sum(total.unknown_ops.values()), 'node')} without a cost rule: {_first_names(names)}"
    count = total.nodes_total - total.nodes_known
    if not count:
        return ""
    first = max(total.reasons, key=lambda reason: total.reasons[reason], default="")
    return f"{plural(count, 'node')} of unknown cost" + (f": {shorten_middle(first)}" if first else "")


def report_figures(report: Report) -> Figures:
    """Return the figures of a report."""
    numbers, cover, file = report.metrics, report.coverage, report.model
    first = max(cover.reasons, key=lambda reason: cover.reasons[reason], default="")
    stopped = report.runnable.verdict == "no" and not report.runnable.file
    reason = report.runnable.reason if stopped else first or "its report does not know it"
    mac_share = 1.0 if cover.macs is None else cover.macs
    figures = {
        "size": CheckedFigure(file.file_bytes + file.external_bytes),
        "params": _exact(numbers.total_params, numbers.params_reason or reason),
        "weights": _exact(numbers.weight_bytes, reason),
        "macs": _maybe_partial(numbers.total_macs, mac_share >= 1, reason),
        "flops": _maybe_partial(numbers.total_flops, cover.nodes_known == cover.nodes_total, reason),
        "peak": _exact(numbers.peak_activation_bytes, numbers.peak_reason or reason),
        "nodes": CheckedFigure(report.graph.num_nodes),
    }
    if report.hardware_estimates is not None:
        figures["latency"] = _latency(report.hardware_estimates)
    return figures


def _exact(value: Number, reason: str) -> CheckedFigure:
    return CheckedFigure(value, reason="" if value is not None else shorten_middle(reason))


def _maybe_partial(value: Number, is_complete: bool, reason: str) -> CheckedFigure:
    return (
        CheckedFigure(value)
        if is_complete and value is not None
        else CheckedFigure(None, value, shorten_middle(reason))
    )


def _latency(estimate: HardwareEstimates) -> CheckedFigure:
    value = estimate.estimated_latency_ms
    if value is not None and not estimate.unknown_kernels:
        low, high = estimate.latency_low_ms, estimate.latency_high_ms
        return CheckedFigure(value, likely=None if low is None or high is None else (low, high))
    return CheckedFigure(
        None, value, shorten_middle(estimate.reason) or "there is no estimate for this device"
    )


def _first_names(names: list[str], max_names: int = 3) -> str:
    more = [f"{len(names) - max_names:,} more"] if len(names) > max_names else []
    return ", ".join([*names[:max_names], *more])
