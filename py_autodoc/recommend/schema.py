"""What a recommendation is, as it is written."""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.model import Generator
from py_autodoc.report.schema.wire import Wire

SCHEMA = "autodoc.recommendation/1.0"


class Constraints(Wire, frozen=True, kw_only=True):
    """What was asked for; null where nothing was."""

    max_latency_ms: float | None
    min_throughput_fps: float | None
    """Items a second."""
    max_power_watts: float | None
    max_price_usd_per_hour: float | None


class DeviceCandidate(Wire, frozen=True, kw_only=True):
    """A device with the batch and precision that serve the targets best on it."""

    device: str
    """Id of its profile."""
    device_name: str
    category: str
    precision: str
    batch: int | None
    vram_required_gb: float | None
    """Weights, activations and work space; GB are 10^9 bytes."""
    vram_gb: float | None
    """What the device has for it."""
    fits: bool | None
    estimated_latency_ms: float | None
    latency_low_ms: float | None
    latency_high_ms: float | None
    estimated_throughput_fps: float | None
    """Items a second, one inference after the other."""
    bottleneck: str
    label: str
    """How sure the latency is: estimate, rough or order of magnitude."""
    power_watts: float | None
    instance: str | None
    """The cheapest cloud instance with one of it; null without one that has a price."""
    price_usd_per_hour: float | None
    """Approximate, on demand; ``price_date`` and ``region`` say when and where."""
    price_date: str | None
    region: str | None
    usd_per_million: float | None
    """Price of a million items at that throughput."""
    meets_latency_target: bool | None
    """Null without a target, or without an estimate."""
    meets_all_targets: bool
    reason: str
    """In words: whether it fits, how long it takes, what bounds it, what it misses."""


class Recommendation(Wire, frozen=True, kw_only=True):
    """The devices for a model. A tier is null when no device is one."""

    schema: str
    generator: Generator
    models: list[str]
    """Names of the files; several run one after the other."""
    deployment_target: str | None
    """edge, local or cloud; null: any."""
    runtime: str
    """What runs the models: ``tensorrt``, ``ort-cuda``, ``pytorch-eager`` or ``torch-compile``."""
    user_constraints: Constraints
    bindings: dict[str, int]
    """Sizes of the free dimensions but the batch, also those that nobody gave."""
    minimum: DeviceCandidate | None
    """The least device that holds the model."""
    recommended: DeviceCandidate | None
    """The least device that meets all targets; without targets, that has half of the most throughput."""
    optimal: DeviceCandidate | None
    """The most throughput within the limits of power and price; a device whose latency is an order of
    magnitude is taken only when there is no other."""
    nearest_miss: DeviceCandidate | None
    """When no device meets all targets: the one that comes closest."""
    candidates: list[DeviceCandidate]
    """All devices of the target with an estimate, the best first."""

    def to_json(self, pretty: bool = False) -> str:
        """The document as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode()
