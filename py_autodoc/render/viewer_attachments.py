"""Metrics for other viewers: a Netron attachment and Model Explorer node data.

Both formats refer to the model by the names in the file. Nodes without a unique name there (those of an
expanded function, or nodes that share a name) are omitted and counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from py_autodoc import metrics
from py_autodoc.graph.ir.model import Node
from py_autodoc.report.builders.node_numbers import activation_bytes, per_inference
from py_autodoc.report.pipeline.analysis import Analysis

METRICS = metrics.ids("attachment")
"""Metrics available for nodes, all per inference."""
LATENCY = "latency"
"""Milliseconds, if a device was chosen: a kernel's time is at one of its nodes, the others have 0."""
_EXACT_IN_JAVASCRIPT = 2**53


@dataclass(frozen=True, slots=True)
class AttachmentFile:
    """The text of a file; it refers to ``named`` of ``nodes``."""

    text: str
    named: int
    nodes: int


def available_metrics(analysis: Analysis) -> tuple[str, ...]:
    """Return the available metrics: ``METRICS``, and ``LATENCY`` if a device was chosen."""
    return METRICS if analysis.hardware is None else (*METRICS, LATENCY)


def netron_attachment(analysis: Analysis) -> AttachmentFile:
    """Return a JSON file to drop on Netron (9.0 or later) while it shows the model.

    ``{"signature": "netron:attachment", "metrics": [{"kind", "target", "name", "value"}]}``: ``kind`` is
    ``node`` with the node's name, or ``value`` with the name of its first output if the node's name is not
    unique. Numbers beyond 2^53 are text. Unknown numbers are omitted.
    """
    names = Counter(node.name for node in analysis.model.nodes)
    tensors, times = _tensor_names(analysis), _Times.of(analysis)
    rows: list[dict[str, Any]] = []
    named = total = 0
    for node in _nodes(analysis):
        total += 1
        output = _output(analysis, node)
        if _is_target(node.name) and names[node.name] == 1:
            kind, target = "node", node.name
        elif _is_target(output) and tensors[output] == 1:
            kind, target = "value", output
        else:
            continue
        if _inside_function(node):
            continue
        named += 1
        for metric, value in _numbers(analysis, node).items():
            if value is not None:
                rows.append(
                    {"kind": kind, "target": target, "name": metrics.words(metric), "value": _safe(value)}
                )
        if (time := times.of_node(node.id)) is not None:
            rows.append({"kind": kind, "target": target, "name": times.label, "value": time})
    for name, value in _totals(analysis).items():
        if value is not None:
            rows.append({"kind": "model", "target": "", "name": name, "value": _safe(value)})
    if times.total is not None:
        rows.append({"kind": "model", "target": "", "name": times.label, "value": times.total})
    text = json.dumps({"signature": "netron:attachment", "metadata": [], "metrics": rows}, indent=1)
    return AttachmentFile(text + "\n", named, total)


def model_explorer_data(analysis: Analysis, metric: str) -> AttachmentFile:
    """Return node data for Model Explorer ("Add per-node data"): one metric, with a gradient.

    ``{"name", "results": {key: {"value"}}, "gradient": [{"stop", "bgColor", "textColor"}]}``; a key is the
    name of a node's first output. Unknown numbers are omitted. ``metric`` is one of ``available_metrics``.
    """
    tensors, times = _tensor_names(analysis), _Times.of(analysis)
    results: dict[str, dict[str, float]] = {}
    named = total = 0
    for node in _nodes(analysis):
        total += 1
        key = _output(analysis, node)
        if not key or tensors[key] != 1 or _inside_function(node):
            continue
        named += 1
        value = times.of_node(node.id) if metric == LATENCY else _numbers(analysis, node)[metric]
        if value is not None:
            results[key] = {"value": value}
    label = times.label if metric == LATENCY else metrics.words(metric)
    data = {"name": label, "results": results, "gradient": _gradient(metric)}
    return AttachmentFile(json.dumps(data, indent=1) + "\n", named, total)


def _gradient(metric: str) -> list[dict[str, Any]]:
    """Return the metric's colour ramp from zero to maximum, as in the viewer's light theme."""
    colors = metrics.RAMPS[metrics.BY_ID[metric].ramp][::-1]
    last = len(colors) - 1
    return [
        {"stop": stop / last, "bgColor": color, "textColor": _text_on(color)}
        for stop, color in enumerate(colors)
    ]


def _text_on(color: str) -> str:
    """Return black or white, whichever has more contrast on ``#rrggbb`` (WCAG 2.2)."""
    shares = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    luminance = sum(
        weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )
    # The contrast ratios with black and with white.
    return "#000000" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "#ffffff"


@dataclass(frozen=True, slots=True)
class _Times:
    """Milliseconds on the chosen device."""

    label: str
    total: float | None
    nodes: dict[int, float | None]
    """By node; nodes without an entry run nothing."""

    @classmethod
    def of(cls, analysis: Analysis) -> _Times:
        from py_autodoc.report.builders.hardware_section import hardware_estimates

        estimates = hardware_estimates(analysis)
        if estimates is None or not estimates.precision:
            return cls("", None, {})
        note = ", known parts" if estimates.unknown_kernels else ""
        label = f"latency in ms on {estimates.device_name}, {estimates.precision} ({estimates.label}{note})"
        nodes: dict[int, float | None] = {}
        for kernel in estimates.layers:
            nodes |= dict.fromkeys(kernel.layers, None if kernel.latency_ms is None else 0.0)
            nodes[kernel.layer] = kernel.latency_ms
        return cls(label, estimates.estimated_latency_ms, nodes)

    def of_node(self, node: int) -> float | None:
        return self.nodes.get(node, 0.0) if self.label else None


def _nodes(analysis: Analysis) -> Iterator[Node]:
    return (node for node in analysis.model.nodes if not node.is_constant)


def _tensor_names(analysis: Analysis) -> Counter[str]:
    """Count the tensors of all graphs by name."""
    return Counter(tensor.name for tensor in analysis.model.tensors)


def _output(analysis: Analysis, node: Node) -> str:
    """Return the name of the first output that is present."""
    return next((analysis.model.tensors[t].name for t in node.outputs if t >= 0), "")


def _inside_function(node: Node) -> bool:
    """Return whether the node is from a function body: its name there does not identify this call."""
    return "function" in node.origins


def _is_target(name: str) -> bool:
    """Return whether Netron can refer to the name: it compares up to the first line break."""
    return bool(name) and "\n" not in name


def _numbers(analysis: Analysis, node: Node) -> dict[str, float | None]:
    """Return all of ``METRICS``."""
    values: dict[str, float | None] = {
        "params": analysis.params.params[node.id],
        "weight_bytes": analysis.params.node_bytes[node.id],
        "activation_bytes": activation_bytes(analysis, node),
    }
    costs = per_inference(analysis.costs[node.id])

    def stored(metric: str) -> float | None:
        return values[metric] if metric in values else getattr(costs, metric)

    return {
        entry.id: metrics.derived(entry, stored) if entry.over else stored(entry.id)
        for entry in metrics.shown("attachment")
    }


def _totals(analysis: Analysis) -> dict[str, int | None]:
    """Return the totals of the model; the name of a lower bound says so."""
    from py_autodoc.report.builders import shared_parts

    sums, covered = shared_parts.build_metrics(analysis), shared_parts.build_coverage(analysis)
    totals: dict[str, int | None] = {}
    for metric in metrics.shown("strip"):
        total = metrics.total_of(metric.id)
        share = getattr(covered, total.covered) if total.covered else None
        partial = " (known parts)" if share is not None and share < 1 else ""
        totals[metrics.words(metric.id) + partial] = getattr(sums, total.field)
    return totals


def _safe(value: float) -> float | str:
    return value if abs(value) <= _EXACT_IN_JAVASCRIPT else str(value)
