"""Estimated latency and memory of a model on a device."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class LayerLatency(Wire, frozen=True, kw_only=True):
    """One kernel of a fusing runtime: layers that run as one."""

    layer: int
    """Id of the layer that represents it."""
    name: str
    """Name of that layer, which may not be listed."""
    layers: list[int]
    """Ids of all its layers."""
    latency_ms: float | None
    """Time of all its runs in one inference; null if a dimension or the number of runs is unknown."""
    bottleneck: str
    """``compute``, ``memory_bandwidth`` or ``kernel_overhead``; empty without a latency."""


class HardwareEstimates(Wire, frozen=True, kw_only=True):
    """Latency and memory of one inference on a device, from published figures and a model of the runtime.

    Nothing was run. ``runtime`` determines what is fused; ``docs/hardware.md`` says what was compared with
    measurements and what was not.
    """

    device: str
    """Id of the profile."""
    device_name: str
    """Name of the device in its profile."""
    precision: str
    """``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8`` or ``int8``; empty without an
    estimate."""
    runtime: str
    """The runtime: ``tensorrt``, ``ort-cuda``, ``pytorch-eager``, ``torch-compile`` or
    ``vendor``."""
    batch_size: int | None
    """The value of the only symbolic dimension with “batch” in its name, otherwise the first dimension of
    the first input."""
    estimated_latency_ms: float | None
    """Null with a ``reason``. Kernels without a time are not included: see ``unknown_kernels``."""
    latency_low_ms: float | None
    """Lower end of the likely range; with ``unknown_kernels``, of the known kernels."""
    latency_high_ms: float | None
    """Upper end of the likely range: most measured times, if there are any, are between the two; see
    ``label``."""
    label: str
    """``estimate``, ``rough`` or ``order of magnitude``."""
    theoretical_latency_ms: float | None
    """The bound: these kernels at full peak rate and bandwidth, without time between them."""
    compute_utilization_estimate: float | None
    """Share of the device's peak that matrix products and convolutions reach."""
    bottleneck: str
    """What takes most of the time: ``compute``, ``memory_bandwidth`` or ``kernel_overhead``."""
    kernels: int
    """Number of kernels; fused operators count once."""
    unknown_kernels: int
    """Kernels without a time: unknown shape or number of runs, or an operator without a latency rule."""
    vram_required_bytes: int | None
    """Weights and peak activations in this precision, plus a tenth for workspace."""
    vram_bytes: int | None
    """Memory of the device that a model can use; null if not published."""
    fits_in_vram: bool | None
    """Whether it fits; null if one of the two is unknown."""
    layers: list[LayerLatency]
    """The kernels in execution order."""
    reason: str = ""
    """Why there is no estimate, or why kernels have no time; empty if all have one."""
    assumption: str = ""
    """Assumptions about dimensions that are known only at run time; empty without any."""
    usd_per_hour: float | None = None
    """Price of the device: as given, else that of the cheapest cloud instance with one, approximate and on
    demand; null if none has one."""
    price_source: str = ""
    """Instance, region and date of that price, or ``as given``."""
    usd_per_million_inferences: float | None = None
    """At that price, one inference after the other."""
