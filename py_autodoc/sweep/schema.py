"""The wire format of a sweep."""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.model import Generator
from py_autodoc.report.schema.wire import Wire

SCHEMA = "autodoc.sweep/1.0"


class SweepPoint(Wire, frozen=True, kw_only=True):
    """One point. Unknown numbers are null, and ``reason`` says why."""

    bindings: dict[str, int]
    """All symbolic dimensions of the model at this point."""
    input_shapes: dict[str, list[int]]
    """Full shapes of inputs for which the file has others; empty without such an axis."""
    batch: int | None
    """Items per inference."""
    hardware: str | None
    """Id of the device; null without one."""
    precision: str | None
    """Precision of the estimate; null without a device."""
    runtime: str | None = None
    """Id of the runtime of the estimate; null without a device."""
    devices: int = 1
    """Devices that run copies of the model on requests of their own; memory and latency are those of one."""
    macs: int | None
    """Multiply-accumulate operations (MACs) in one inference."""
    flops: int | None
    """Floating-point operations in one inference; a MAC is two."""
    read_bytes: int | None
    write_bytes: int | None
    peak_activation_bytes: int | None
    memory_bytes: int | None
    """Weights, activations and workspace in this precision, as ``vram_required_bytes`` of a report."""
    available_bytes: int | None
    """Memory of the device that a model can use."""
    fits: bool | None
    latency_ms: float | None
    latency_low_ms: float | None
    latency_high_ms: float | None
    throughput: float | None
    """Items per second with sequential inferences: ``batch`` divided by the latency, times ``devices``."""
    usd_per_million: float | None = None
    """Price of a million items at that throughput, on the cheapest cloud instance with one such device; null
    if no cloud was requested, or none has a price. Approximate: see ``prices``."""
    compute_utilization: float | None = None
    """Share of the device's peak that products and convolutions reach; null without a latency."""
    bottleneck: str
    """compute, memory_bandwidth or kernel_overhead; empty without a latency."""
    label: str
    """Certainty of the latency: estimate, rough or order of magnitude; empty without one."""
    reason: str
    """Why numbers are null; empty if none are."""


class SweepPrice(Wire, frozen=True, kw_only=True):
    """Hourly price of a device: approximate, on demand."""

    hardware: str
    instance: str
    usd_per_hour: float
    price_date: str
    region: str


class SweepChoice(Wire, frozen=True, kw_only=True):
    """A selected point."""

    question: str
    """``throughput`` (the highest throughput within the limits) or ``knee`` (the smallest batch with at least
    90 % of it)."""
    hardware: str | None
    precision: str | None
    point: int | None
    """Index into ``points``; null if no point is within the limits."""
    reason: str


class Sweep(Wire, frozen=True, kw_only=True):
    """A model at many points."""

    schema: str
    generator: Generator
    model: str
    """Name of the file."""
    axes: dict[str, list[int | str]]
    """The varied parameters, in the order of the points; the last one varies fastest."""
    runtime: str | None
    """Runtime of the model on all devices; null without a device, or if theirs differ (``points``)."""
    points: list[SweepPoint]
    choices: list[SweepChoice]
    opset: int | None = None
    """Opset of the operators of ONNX in the file."""
    prices: list[SweepPrice] = msgspec.field(default_factory=list)
    """Prices of the devices that can be rented, if a cloud was requested."""

    def to_json(self, pretty: bool = False) -> str:
        """Return the document as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode()
