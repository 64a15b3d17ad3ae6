"""What a measurement of sensitivity says, as data."""

from __future__ import annotations

import msgspec

from py_autodoc.sensitivity.scores import Score

SCHEMA = "autodoc.sensitivity/1"
_HOTTEST = 10.0
"""Relative error that larger ones are painted as."""


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """How far results are from those of the float model, over all samples."""

    sqnr_db: float | None
    """Signal to noise; null where nothing differs, or values are not finite."""
    relative_error: float
    """null where values are NaN or infinite."""
    kl: float | None
    """Mean Kullback-Leibler divergence of class probabilities in nats; null without classes."""
    agreement: float | None
    """Share of rows whose largest score is in the same place."""


class SensitiveLayer(msgspec.Struct, frozen=True, kw_only=True):
    """A layer, quantized alone."""

    rank: int | None
    """1 hurts most; null where it was not measured."""
    name: str
    """Path of the module that it comes from, or the node's name."""
    op: str
    node: int | None
    """``layers[].id`` of the report."""
    output: str
    """Tensor that the node gives."""
    weight_values: int
    macs: int | None
    quality: Quality | None
    """Null where the time was over."""


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A mixture: the most sensitive layers float, all others quantized."""

    float_layers: int
    quality: Quality
    weight_bytes: int
    """Of the layers' weights and all others, as they would be stored."""
    latency_ms: float | None
    """Estimated on the device that was asked for: each kernel in the precision of its layer."""
    measured_ms: float | None = None
    """Median of the file that ``quantize`` makes with these layers in float, run here; null without."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The cheapest mixture that reaches a target."""

    target: str
    reached: bool
    float_layers: list[str]
    """Output tensors of the layers to keep float."""
    point: CurvePoint


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """A layer to keep in a higher precision."""

    layer: str
    quantization: str
    sqnr_db: float | None
    kl: float | None
    accuracy_drop: float | None
    """Share of rows whose largest score moved, the layer quantized alone; null where there are no classes."""
    recommendation: str


class Sensitivity(msgspec.Struct, frozen=True, kw_only=True):
    """All layers of a model."""

    schema: str = SCHEMA
    model: str
    samples: int
    data: str
    output: str
    """The result that is compared."""
    activations: str
    weights: str
    per_channel: bool
    metric: str
    """What layers are ranked by: ``kl`` or ``relative_error``."""
    float_error: float
    """Relative error of the session with nothing quantized: what reordered sums make."""
    all_quantized: Quality | None
    layers: list[SensitiveLayer]
    """The most sensitive first; those that were not measured last."""
    measured: int
    sensitive_layers: list[Advice]
    curve: list[CurvePoint]
    choice: Choice | None
    device: str
    """Of ``latency_ms``; empty where none was asked for."""
    measured_on: str = ""
    """The processor of ``measured_ms``; empty where nothing was measured."""
    measured_float_ms: float | None = None
    """Median of the float model, run in turn with the mixtures."""

    def heat(self) -> dict[str, object]:
        """The relative errors as numbers to paint the graph by, for ``Autodoc.overlay`` and pictures."""
        values = {
            str(one.node): min(one.quality.relative_error, _HOTTEST)
            for one in self.layers
            if one.node is not None and one.quality is not None
        }
        return {"label": "Error if quantized alone", "unit": "", "values": values, "largest": True}

    def to_json(self, pretty: bool = False) -> str:
        """As JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"


def quality(one: Score) -> Quality:
    """The figures of a score."""
    return Quality(sqnr_db=one.sqnr_db, relative_error=one.relative_error, kl=one.kl, agreement=one.agreement)
