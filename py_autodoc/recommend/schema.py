"""The wire format of a recommendation."""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.model import Generator
from py_autodoc.report.schema.wire import Wire

SCHEMA = "autodoc.recommendation/1.0"


class Constraints(Wire, frozen=True, kw_only=True):
    """The requested limits; null if not given."""

    max_latency_ms: float | None
    min_throughput_fps: float | None
    """Items per second."""
    max_power_watts: float | None
    max_price_usd_per_hour: float | None
    risk: str = "typical"
    """``typical``: the target applies to the estimate; ``high``: to the upper end of its likely range."""


class DeviceCandidate(Wire, frozen=True, kw_only=True):
    """A device with its best batch and precision for the targets."""

    device: str
    """Id of its profile."""
    device_name: str
    category: str
    precision: str
    runtime: str
    """Id of the runtime of the estimate."""
    batch: int | None
    vram_required_gb: float | None
    """Weights, activations and workspace; 1 GB is 10^9 bytes."""
    vram_gb: float | None
    """Memory of the device that a model can use."""
    fits: bool | None
    devices: int
    """Devices that run copies of the model side by side (data-parallel); throughput, power and price are
    those of all, memory and latency of each."""
    system: str | None
    """The smallest system that has as many of them, such as a DGX; null for one device, or if none has."""
    estimated_latency_ms: float | None
    latency_low_ms: float | None
    latency_high_ms: float | None
    estimated_throughput_fps: float | None
    """Items per second with sequential inferences."""
    bottleneck: str
    label: str
    """Certainty of the latency: estimate, rough or order of magnitude."""
    power_watts: float | None
    instance: str | None
    """The cheapest cloud instance with one such device; null if none has a price."""
    price_usd_per_hour: float | None
    """Approximate, on demand; see ``price_date`` and ``region``."""
    price_date: str | None
    region: str | None
    usd_per_million: float | None
    """Price of a million items at that throughput."""
    reads_opset: bool | None
    """Whether the last runtime for the device reads the opset of the model; null if no limit is known."""
    meets_latency_target: bool | None
    """Null without a target or an estimate."""
    meets_all_targets: bool
    reason: str
    """Summary: whether it fits, its latency and bottleneck, and missed targets."""


class Recommendation(Wire, frozen=True, kw_only=True):
    """The devices for a model. A tier is null if no device qualifies."""

    schema: str
    generator: Generator
    models: list[str]
    """File names; several models run in sequence."""
    deployment_target: str | None
    """edge, local or cloud; null: any."""
    runtime: str | None
    """The requested runtime; null: the usual one of each device (``candidates``)."""
    user_constraints: Constraints
    bindings: dict[str, int]
    """Values of the symbolic dimensions except the batch, including assumed ones."""
    minimum: DeviceCandidate | None
    """The smallest device that runs the model, at no more than four times the targets if one does."""
    recommended: DeviceCandidate | None
    """The smallest device that meets all targets; without any, that has half of the best throughput."""
    optimal: DeviceCandidate | None
    """The highest throughput within the limits of power and price; a device whose latency is an order of
    magnitude is chosen only if there is no other."""
    nearest_miss: DeviceCandidate | None
    """The closest device if none meets all targets."""
    candidates: list[DeviceCandidate]
    """All devices of the target with an estimate, best first."""

    def to_json(self, pretty: bool = False) -> str:
        """Return the document as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode()
