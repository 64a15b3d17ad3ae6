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
        ratios = [one.ratio for one in self.nodes if math.isfinite(one.ratio)]
        return median(ratios) if ratios else None

    @property
    def within(self) -> float | None:
        """Share of the measured time in layers whose estimate is within a factor of two."""
        total = sum(one.measured_ms for one in self.nodes)
        near = sum(one.measured_ms for one in self.nodes if 1 / _FACTOR <= one.ratio <= _FACTOR)
        return near / total if total else None


def compare_with_estimate(found: NodeTimes, analysis: Analysis) -> EstimatedLatency:
    """Compare measured times with the estimates of an analysis, which must have a device."""
    payload = build_payload(analysis)
    seconds = node_seconds(payload)
    nodes: list[EstimatedNode] = []
    unknown = 0
    for one in found.nodes:
        parts = [seconds[node] for node in one.nodes]
        known = [part for part in parts if part is not None]
        # The estimate of fused nodes is 0, although the measured kernel takes time: it has no estimate.
        if not known or not sum(known):
            unknown += 1
            continue
        nodes.append(
            EstimatedNode(
                node=one.node, name=one.name, op=one.op, measured_ms=one.ms, estimated_ms=1e3 * sum(known)
            )
        )
    return EstimatedLatency(
        model=found.model,
        device="" if payload.hardware is None else payload.hardware.chosen,
        source=found.source,
        nodes=nodes,
        unknown=unknown,
        measured_ms=found.total_ms,
        estimated_ms=1e3 * sum(one for one in seconds if one is not None),
    )


def estimate_lines(found: EstimatedLatency) -> Iterator[str]:
    """Yield lines about the accuracy of the estimate and its largest deviations."""
    measured = f"Measured kernels: {found.measured_ms:.3g} ms."
    yield f"Estimate for {found.device}: {found.estimated_ms:.3g} ms. {measured}"
    if found.median_ratio is None:
        return
    near = (
        "" if found.within is None else f"; for {found.within:.0%} of the time, it is within a factor of two"
    )
    yield f"Median of estimate / measurement over layers: {found.median_ratio:.2f}{near}."
    far = sorted(found.nodes, key=lambda one: -abs(one.measured_ms - one.estimated_ms))[:_WORST]
    for one in far:
        both = f"{one.measured_ms:9.4f} ms measured, {one.estimated_ms:9.4f} ms estimated"
        yield f"  {both}  {one.name} ({one.op})"
