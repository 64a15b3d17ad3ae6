"""Result of a sensitivity measurement as data."""

from __future__ import annotations

import msgspec

from py_autodoc.sensitivity.scores import Score

SCHEMA = "autodoc.sensitivity/1"
_MAX_HEAT = 10.0
"""Relative error at which the heatmap saturates."""


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """Difference between results and those of the float model, over all samples."""

    sqnr_db: float | None
    """Signal-to-noise ratio; null if nothing differs, or values are not finite."""
    relative_error: float
    """Null if values are NaN or infinite."""
    kl: float | None
    """Mean Kullback-Leibler divergence of class probabilities in nats; null without classes."""
    agreement: float | None
    """Share of rows whose largest score has the same index."""


class SensitiveLayer(msgspec.Struct, frozen=True, kw_only=True):
    """A layer and the effect of quantizing it alone."""

    rank: int | None
    """1 is the most sensitive; null if it was not measured."""
    name: str
    """Path of its module, or the node's name."""
    op: str
    node: int | None
    """``layers[].id`` of the report."""
    output: str
    """Output tensor of the node."""
    weight_values: int
    macs: int | None
    quality: Quality | None
    """Null if the time budget was exhausted."""


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A mixture: the most sensitive layers in float, all others quantized."""

    float_layers: int
    quality: Quality
    weight_bytes: int
    """Stored bytes of all weights, including those outside the layers."""
    latency_ms: float | None
    """Estimate for the requested device, with each kernel in the precision of its layer."""
    measured_ms: float | None = None
    """Of the file that ``quantize`` creates with these layers in float, run on this machine.

    A fifth of the runs are faster.
    """


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The cheapest mixture that reaches a target."""

    target: str
    reached: bool
    float_layers: list[str]
    """Output tensors of the layers to keep in float."""
    point: CurvePoint
    written: Quality | None = None
    """Figures of the file that ``quantize`` writes with these layers in float, which decide ``reached``."""
    not_checked: str = ""
    """Why there are none; ``reached`` is then that of ``point``."""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """A layer to keep in higher precision."""

    layer: str
    quantization: str
    sqnr_db: float | None
    kl: float | None
    accuracy_drop: float | None
    """Share of rows whose largest score moved with only this layer quantized; null without classes."""
    recommendation: str


class WrittenFigures(msgspec.Struct, frozen=True, kw_only=True):
    """SQNR in decibels of the output of a quantized file; null if nothing differs or if unknown."""

    here_db: float | None
    """With the integer kernels of this machine."""
    exact_db: float | None
    """With exact integer sums."""
    not_measured: str
    """Why there are no figures; empty if there are."""


class Sensitivity(msgspec.Struct, frozen=True, kw_only=True):
    """Sensitivity of all layers of a model."""

    schema: str = SCHEMA
    model: str
    samples: int
    data: str
    output: str
    """The output that is compared."""
    activations: str
    weights: str
    per_channel: bool
    metric: str
    """Figure for the ranking: ``kl`` or ``relative_error``."""
    float_error: float
    """Relative error of the session with nothing quantized, caused by reordered sums."""
    all_quantized: Quality | None
    layers: list[SensitiveLayer]
    """Most sensitive first; layers that were not measured last."""
    measured: int
    """Number of measured layers."""
    sensitive_layers: list[Advice]
    """Layers to keep in higher precision."""
    curve: list[CurvePoint]
    """Mixtures by number of float layers; empty if mixtures were not measured."""
    choice: Choice | None
    """The mixture for the target; null without one."""
    device: str
    """Device of ``latency_ms``; empty if none was requested."""
    products: str = "float"
    """Products of quantized layers are computed in ``float``, so figures do not depend on integer kernels."""
    kernels_here: str = ""
    """Integer kernels of this machine: ``exact``, or ``pairs`` if sums of u8 and s8 saturate at 16 bits."""
    written: WrittenFigures | None = None
    """The file that ``quantize`` writes from all layers; null if it was not measured."""
    measured_on: str = ""
    """Processor of ``measured_ms``; empty if nothing was measured."""
    measured_float_ms: float | None = None
    """Median of the float model, run in turn with the mixtures."""

    def heat(self) -> dict[str, object]:
        """Return the relative errors as a heatmap for ``Autodoc.overlay`` and images."""
        values = {
            str(layer.node): min(layer.quality.relative_error, _MAX_HEAT)
            for layer in self.layers
            if layer.node is not None and layer.quality is not None
        }
        return {"label": "Error if quantized alone", "unit": "", "values": values, "largest": True}

    def to_json(self, pretty: bool = False) -> str:
        """Return the result as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"


def quality(score: Score) -> Quality:
    """Return the figures of a score."""
    return Quality(
        sqnr_db=score.sqnr_db, relative_error=score.relative_error, kl=score.kl, agreement=score.agreement
    )
