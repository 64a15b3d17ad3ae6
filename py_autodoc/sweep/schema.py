"""What a sweep gives, as it is written."""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.model import Generator
from py_autodoc.report.schema.wire import Wire

SCHEMA = "autodoc.sweep/1.0"


class SweepPoint(Wire, frozen=True, kw_only=True):
    """One point. A number that is not known is null, and ``reason`` says why."""

    bindings: dict[str, int]
    """Every free size of the model at this point."""
    input_shapes: dict[str, list[int]]
    """Whole shapes of inputs that the file has with other sizes; empty without such an axis."""
    batch: int | None
    """Items of one inference."""
    hardware: str | None
    """Id of the device; null without one."""
    precision: str | None
    """Precision of the estimate; null without a device."""
    macs: int | None
    """Multiply-accumulate operations (MACs) in one inference."""
    flops: int | None
    """Floating point operations of one inference; a MAC is two."""
    read_bytes: int | None
    write_bytes: int | None
    peak_activation_bytes: int | None
    memory_bytes: int | None
    """Weights, activations and work space in this precision, as ``vram_required_bytes`` of a report."""
    available_bytes: int | None
    """What the device has for it."""
    fits: bool | None
    latency_ms: float | None
    latency_low_ms: float | None
    latency_high_ms: float | None
    throughput: float | None
    """Items a second, one inference after the other: ``batch`` over the latency."""
    usd_per_million: float | None = None
    """Dollars of a million items at that throughput, on the cheapest cloud instance with one of the
    device; null where no cloud was asked for, or none has a price. Approximate: see ``prices``."""
    bottleneck: str
    """compute, memory_bandwidth or kernel_overhead; empty without a latency."""
    label: str
    """How sure the latency is: estimate, rough or order of magnitude; empty without one."""
    reason: str
    """Why numbers are null; empty where none is."""


class SweepPrice(Wire, frozen=True, kw_only=True):
    """What an hour of a device costs: approximate, on demand."""

    hardware: str
    instance: str
    usd_per_hour: float
    price_date: str
    region: str


class SweepChoice(Wire, frozen=True, kw_only=True):
    """A point that answers a question."""

    question: str
    """``throughput`` (the most items a second within the limits) or ``knee`` (the smallest batch with at
    least 90 % of it)."""
    hardware: str | None
    precision: str | None
    point: int | None
    """Index into ``points``; null when no point is within the limits."""
    reason: str


class Sweep(Wire, frozen=True, kw_only=True):
    """A model at many points."""

    schema: str
    generator: Generator
    model: str
    """Name of the file."""
    axes: dict[str, list[int | str]]
    """What was varied, in the order of the points, the last one fastest."""
    runtime: str | None
    """What runs the model on the devices: ``tensorrt``, ``ort-cuda``, ``pytorch-eager`` or ``torch-compile``;
    null without a device."""
    points: list[SweepPoint]
    choices: list[SweepChoice]
    prices: list[SweepPrice] = msgspec.field(default_factory=list)
    """Of the devices that can be rented, where a cloud was asked for."""

    def to_json(self, pretty: bool = False) -> str:
        """The document as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode()
