"""The kernels of a model in the roofline of the chosen device."""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.hardware.estimate_inputs import tensor_bytes
from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.hardware.latency_model import MODEL
from py_autodoc.report.encode.labels import node_label
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs
from py_autodoc.report.pipeline.device_choice import precision_in, stored_precisions


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """A kernel: FLOPs, bytes moved to and from memory, and estimated seconds, in one inference."""

    name: str
    flops: int
    bytes: int
    seconds: float
    bound: str
    """``compute``, ``memory`` or ``overhead``."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """The roofline (FLOP/s and bytes per second) and the kernels with matrix products or convolutions."""

    device: str
    precision: str
    peak: int
    bandwidth: int
    points: tuple[RooflinePoint, ...]


def roofline(analysis: Analysis) -> Roofline | None:
    """Return the roofline; None without a device, a rate for the precision, or kernels with known work."""
    chosen, kernels = analysis.hardware, analysis.kernels
    if chosen is None or kernels is None or analysis.contradiction is not None:
        return None
    device = chosen.device
    stored = stored_precisions(analysis.model, analysis.types, analysis.sizes, analysis.costs)
    precision = precision_in(device, chosen.precision, stored)
    peak = device.peak(precision) if precision else None
    if peak is None:
        return None
    model, width = estimate_inputs(analysis), dict(MODEL.widths)[precision]
    points = []
    for kernel, time in enumerate(estimate(kernels, model, device, precision, chosen.runtime.model).kernels):
        runs = model.repeat.get(kernels.anchor[kernel], 1)
        if time is None or not time.flops or not runs:
            continue
        tensors = (*kernels.reads[kernel], *kernels.writes[kernel])
        sizes = [tensor_bytes(model, tensor, width) for tensor in tensors]
        moved = sum(size or 0 for size in sizes)
        if None not in sizes and moved:
            name = node_label(analysis.model.nodes[kernels.anchor[kernel]])
            points.append(RooflinePoint(name, time.flops, runs * moved, time.seconds, time.bound))
    if not points:
        return None
    return Roofline(device.name, precision, peak, device.bandwidth_bytes_per_s, tuple(points))
