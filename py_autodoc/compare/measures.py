"""Metrics of a model shown in comparisons, and their differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from py_autodoc import units
from py_autodoc.metrics import shown, total_label, total_of
from py_autodoc.report.builders import shared_parts
from py_autodoc.report.builders.hardware_section import hardware_estimates
from py_autodoc.report.builders.identity_section import identity
from py_autodoc.report.builders.quantization_section import quantization
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema.estimates import HardwareEstimates

Number = int | float | None
_SHORT = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}


class Measure(NamedTuple):
    """One metric: name in JSON and conditions, label, formatting, and source."""

    id: str
    label: str
    write: Callable[[float | None], str]
    read: Callable[[Analysis], Number]


def _file(analysis: Analysis) -> Number:
    return analysis.model.file.bytes + analysis.model.file.external_bytes


def _params(analysis: Analysis) -> Number:
    return None if analysis.params.reason else analysis.params.total


def _nodes(analysis: Analysis) -> Number:
    return shared_parts.graph_info(analysis).num_nodes


_READ: dict[str, Callable[[Analysis], Number]] = {
    "file_bytes": _file,
    "params": _params,
    "weight_bytes": lambda a: a.params.weight_bytes,
    "macs": lambda a: shared_parts.build_metrics(a).total_macs,
    "flops": lambda a: shared_parts.build_metrics(a).total_flops,
    "peak": lambda a: a.peak.inplace if a.peak else None,
    "nodes": _nodes,
}
MEASURES = tuple(
    Measure(
        total_of(metric.id).name,
        total_label(metric.id),
        getattr(units, metric.written),
        _READ[metric.id],
    )
    for metric in shown("compare")
)
"""Metrics in display order. Values are None if unknown."""


def metric_values(analysis: Analysis) -> dict[str, Number]:
    """Return all metrics of a model; None if unknown or only partly known."""
    if analysis.stored is not None:
        return {measure.id: analysis.stored.metrics.get(measure.id) for measure in MEASURES}
    bounds = lower_bounds(analysis)
    return {measure.id: None if measure.id in bounds else measure.read(analysis) for measure in MEASURES}


def lower_bounds(analysis: Analysis) -> dict[str, Number]:
    """Return, for partly known metrics, the known sum, or None if nothing is known."""
    if analysis.stored is not None:
        return dict(analysis.stored.lower_bounds)
    total = analysis.totals
    bounds: dict[str, Number] = {}
    if total.mac_nodes_known < total.mac_nodes_total:
        bounds["macs"] = shared_parts.build_metrics(analysis).total_macs
    if total.nodes_known < total.nodes_total:
        bounds["flops"] = shared_parts.build_metrics(analysis).total_flops
    if analysis.params.reason:
        bounds["params"] = analysis.params.total
    return bounds


def estimates(analysis: Analysis) -> HardwareEstimates | None:
    """Return the estimates for a device: those of a report are stored."""
    return hardware_estimates(analysis) if analysis.stored is None else analysis.stored.estimates


def precision_breakdown(analysis: Analysis) -> dict[str, int] | None:
    """Return stored type → parameters; None if unknown."""
    if analysis.stored is not None:
        return analysis.stored.precision_breakdown
    return shared_parts.build_metrics(analysis).precision_breakdown


def deltas(before: dict[str, Number], after: dict[str, Number]) -> dict[str, Number]:
    """Return the second value minus the first; None if one is unknown."""
    changes: dict[str, Number] = {}
    for name, value in after.items():
        base = before.get(name)
        changes[name] = None if value is None or base is None else value - base
    return changes


def relative(before: Number, after: Number) -> float | None:
    """Return the change relative to the first value; None if one is unknown or the first is 0.

    Infinite if it exceeds the range of a float.
    """
    if before is None or after is None or not before:
        return None
    try:
        return (after - before) / before
    except OverflowError:
        return math.inf if (after > before) is (before > 0) else -math.inf


def percent(share: float | None) -> str:
    """Return ``+12.3 %``; a dash if unknown."""
    if share is None or not math.isfinite(share):
        return units.UNKNOWN
    if not share:
        return "same"
    if abs(share) < 5e-6:
        return "about the same"
    digits = 0 if abs(share) >= 1 else 1 if abs(share) >= 0.001 else 3
    return f"{share * 100:+.{digits}f} %".replace("-", "−")


def precision(analysis: Analysis) -> tuple[str, str]:
    """Return (short precision, scheme): ``fp32`` and ``none``, ``int8`` and ``QDQ``; ``unknown`` if it is.

    A model of which some layers with weights stay float is not ``int8`` but ``int8 (14 of 16 layers)``.
    """
    info = quantization(analysis)
    if info.quantized:
        kind = "/".join(info.weights) or "int8"
        partly = info.layers_total is not None and info.layers < info.layers_total
        layers = f" ({info.layers:,} of {info.layers_total:,} layers)" if partly else ""
        return f"{kind}{layers}", "/".join(info.schemes)
    label = identity(analysis).precision.removesuffix(", not quantized")
    return " and ".join(_SHORT.get(name, name) for name in label.split(" and ")), "none"
