"""Compare measured times with the estimates, layer by layer, for a device with this machine's profile."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

import msgspec

from py_autodoc.report.node_query.node_latency import node_seconds
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.runner.profile import NodeTimes

_FACTOR = 2.0
"""Ratio up to which an estimate counts as close."""
_WORST = 5
"""Number of kernels listed."""


class EstimatedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A measured kernel, and the estimate for the nodes that it computes."""

    node: int
    name: str
    op: str
    measured_ms: float
    estimated_ms: float

    @property
    def ratio(self) -> float:
        """Estimate divided by measurement; infinite if the measurement is 0."""
        return self.estimated_ms / self.measured_ms if self.measured_ms else math.inf


class EstimatedLatency(msgspec.Struct, frozen=True, kw_only=True):
    """Measured and estimated times of the kernels of a model."""

    model: str
    device: str
    source: str
    """Source of the measured times."""
    nodes: list[EstimatedNode]
    """Slowest first; kernels without an estimate are not included."""
    unknown: int
    """Number of kernels without an estimate."""
    measured_ms: float
    """Total of all kernels, including those without an estimate."""
    estimated_ms: float

    @property
    def median_ratio(self) -> float | None:
        """Median of estimate / measurement over layers; None without any."""
        ratios = [node.ratio for node in self.nodes if math.isfinite(node.ratio)]
        return median(ratios) if ratios else None

    @property
    def within(self) -> float | None:
        """Share of the measured time in layers whose estimate is within a factor of two."""
        total = sum(node.measured_ms for node in self.nodes)
        close_ms = sum(node.measured_ms for node in self.nodes if 1 / _FACTOR <= node.ratio <= _FACTOR)
        return close_ms / total if total else None


def compare_with_estimate(times: NodeTimes, analysis: Analysis) -> EstimatedLatency:
    """Compare measured times with the estimates of an analysis, which must have a device."""
    payload = build_payload(analysis)
    seconds = node_seconds(payload)
    nodes: list[EstimatedNode] = []
    unknown = 0
    for layer in times.nodes:
        parts = [seconds[node] for node in layer.nodes]
        known_seconds = [second for second in parts if second is not None]
        # The estimate of fused nodes is 0, although the measured kernel takes time: it has no estimate.
        if not known_seconds or not sum(known_seconds):
            unknown += 1
            continue
        nodes.append(
            EstimatedNode(
                node=layer.node,
                name=layer.name,
                op=layer.op,
                measured_ms=layer.ms,
                estimated_ms=1e3 * sum(known_seconds),
            )
        )
    return EstimatedLatency(
        model=times.model,
        device="" if payload.hardware is None else payload.hardware.chosen,
        source=times.source,
        nodes=nodes,
        unknown=unknown,
        measured_ms=times.total_ms,
        estimated_ms=1e3 * sum(second for second in seconds if second is not None),
    )


def estimate_lines(comparison: EstimatedLatency) -> Iterator[str]:
    """Yield lines about the accuracy of the estimate and its largest deviations."""
    measured = f"Measured kernels: {comparison.measured_ms:.3g} ms."
    yield f"Estimate for {comparison.device}: {comparison.estimated_ms:.3g} ms. {measured}"
    if comparison.median_ratio is None:
        return
    close = (
        ""
        if comparison.within is None
        else f"; for {comparison.within:.0%} of the time, it is within a factor of two"
    )
    yield f"Median of estimate / measurement over layers: {comparison.median_ratio:.2f}{close}."
    farthest = sorted(comparison.nodes, key=lambda node: -abs(node.measured_ms - node.estimated_ms))[:_WORST]
    for node in farthest:
        figures = f"{node.measured_ms:9.4f} ms measured, {node.estimated_ms:9.4f} ms estimated"
        yield f"  {figures}  {node.name} ({node.op})"
