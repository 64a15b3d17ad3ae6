"""Inputs of the latency estimate for an analysed model: its kernels in a runtime, and its sizes."""

from __future__ import annotations

from dataclasses import replace

from py_autodoc.hardware.estimate_inputs import EstimateInputs
from py_autodoc.hardware.kernel_fusion import Kernels
from py_autodoc.hardware.runtimes import TENSORRT, Runtime
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_choice import DeviceChoice, kernels_of


def kernels_in(analysis: Analysis, runtime: Runtime) -> Kernels:
    """Return the kernels of an analysed model in a runtime."""
    return kernels_of(
        analysis.model, analysis.types, analysis.sizes, analysis.costs, analysis.structure, runtime
    )


def on_device(analysis: Analysis, chosen: DeviceChoice) -> Analysis:
    """Return the analysis as if it had been requested for this device."""
    current = TENSORRT if analysis.hardware is None else analysis.hardware.runtime
    kernels = analysis.kernels
    if kernels is not None and chosen.runtime.id != current.id:
        kernels = kernels_in(analysis, chosen.runtime)
    return replace(analysis, hardware=chosen, kernels=kernels)


def estimate_inputs(analysis: Analysis) -> EstimateInputs:
    """Return the inputs of the estimate from an analysed model."""
    return EstimateInputs(
        shapes=analysis.types.shapes,
        dtypes=analysis.types.dtypes,
        weight=[tensor.is_constant for tensor in analysis.model.tensors],
        producer=[tensor.producer for tensor in analysis.model.tensors],
        macs=[None if entry.cost is None else entry.cost.macs for entry in analysis.costs],
        repeat={i: entry.repeat for i, entry in enumerate(analysis.costs) if entry.repeat != 1},
    )
