"""What a chosen device is estimated to take for a model."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class LayerLatency(Wire, frozen=True, kw_only=True):
    """One kernel of a fusing runtime: layers that run as one."""

    layer: int
    """Id of the layer that stands for it."""
    name: str
    """Of that layer, which may not be listed."""
    layers: list[int]
    """Ids of all its layers."""
    latency_ms: float | None
    """Over all its runs in one inference; null when a size or the number of runs is unknown."""
    bottleneck: str
    """``compute``, ``memory_bandwidth`` or ``kernel_overhead``; empty without a latency."""


class HardwareEstimates(Wire, frozen=True, kw_only=True):
    """Latency and memory of one inference on a device, from public numbers and a model of the runtime.

    Nothing was run. ``runtime`` says what is taken to be fused; ``docs/hardware.md`` says what was
    compared with measurements, and what was not.
    """

    device: str
    """Id of the profile."""
    device_name: str
    """As its profile has it."""
    precision: str
    """``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8`` or ``int8``; empty without an
    estimate."""
    runtime: str
    """What runs the model: ``tensorrt``, ``ort-cuda``, ``pytorch-eager`` or ``torch-compile``."""
    batch_size: int | None
    """The one free dimension with batch in its name, else the first size of the first input."""
    estimated_latency_ms: float | None
    """Null with a ``reason``. Kernels without a time are left out: see ``unknown_kernels``."""
    latency_low_ms: float | None
    """The band around it; with ``unknown_kernels`` that of the known part."""
    latency_high_ms: float | None
    """Most measured times are between the two, as far as there were any: see ``label``."""
    label: str
    """``estimate``, ``rough`` or ``order of magnitude``."""
    theoretical_latency_ms: float | None
    """The bound: these kernels at full peak and bandwidth, no time between them."""
    compute_utilization_estimate: float | None
    """Share of the device's peak that the products reach."""
    bottleneck: str
    """What most of the time goes to: ``compute``, ``memory_bandwidth`` or ``kernel_overhead``."""
    kernels: int
    """What the runtime runs as one counts once."""
    unknown_kernels: int
    """Kernels without a time: no size, no known number of runs, or an operator without a model."""
    vram_required_bytes: int | None
    """Weights and peak activations in this precision, and a tenth for workspace."""
    vram_bytes: int | None
    """What of the device's memory a model can use; null when not published."""
    fits_in_vram: bool | None
    """Null when one of the two is not known."""
    layers: list[LayerLatency]
    """The kernels in execution order."""
    reason: str = ""
    """Why there is no estimate, or why kernels have no time; empty where all have one."""
    assumption: str = ""
    """What is taken for granted of sizes that only a run can tell; empty where nothing is."""
