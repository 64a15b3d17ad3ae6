"""Estimate the latency of mixtures, with each kernel in the precision of its layer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import fsum

from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs

FLOAT, INTEGER = "fp32", "int8"


class MixedLatency:
    """Latency of a model on the device of its analysis.

    Args:
        analysis: an analysis with a device.
        nodes: layer → its node.

    Attributes:
        device: name of the device; empty without a device, or if it has no rates for these precisions.
    """

    def __init__(self, analysis: Analysis, nodes: Mapping[int, int]) -> None:
        self.device = ""
        chosen, kernels = analysis.hardware, analysis.kernels
        if chosen is None or kernels is None or chosen.device is None:
            return
        device = chosen.device
        floating = FLOAT if device.peak(FLOAT) else "fp16"
        if not device.peak(floating) or not device.peak(INTEGER):
            return
        self.device = f"{device.name}, {floating} and {INTEGER}"
        tables = [
            estimate(kernels, estimate_inputs(analysis), device, precision, chosen.runtime.model).kernels
            for precision in (floating, INTEGER)
        ]
        self._float = [None if time is None else time.seconds for time in tables[0]]
        self._integer = [None if time is None else time.seconds for time in tables[1]]
        self._kernel = {layer: kernels.node[node] for layer, node in nodes.items()}

    def ms(self, quantized: Collection[int]) -> float | None:
        """Return milliseconds with these layers quantized; None if the device or a time is unknown."""
        if not self.device:
            return None
        integer = {self._kernel[layer] for layer in quantized if layer in self._kernel}
        times = [
            self._integer[kernel] if kernel in integer else seconds
            for kernel, seconds in enumerate(self._float)
        ]
        if any(time is None for time in times):
            return None
        return 1e3 * fsum(time for time in times if time is not None)
