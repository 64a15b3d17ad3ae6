"""Which layers to quantize, from measurements of their sensitivity."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class SensitiveLayerInfo(Wire, frozen=True, kw_only=True):
    """A layer to keep in a higher precision."""

    layer: str
    """Path of the module, or the name of the node."""
    node: int | None
    """``layers[].id``; null if the report has no such layer."""
    quantization: str
    """The number formats that were measured, such as ``u8 activations, s8 weights``."""
    sqnr_db: float | None
    """Signal-to-noise ratio of the result with only this layer quantized; null if nothing differs."""
    kl: float | None
    """Kullback-Leibler divergence of the class probabilities in nats; null without classes."""
    accuracy_drop: float | None
    """Share of samples whose largest score moved; null without classes."""
    recommendation: str
    """What to do."""


class EngineSummary(Wire, frozen=True, kw_only=True):
    """The recommended mixture of float and quantized layers."""

    layers: int
    """Layers with weights that can be quantized."""
    float_layers: int
    """Of these, layers that stay in float."""
    quantized_layers: int
    """Of these, quantized layers."""
    weight_bytes: int
    """Bytes of all weights of the mixture."""
    float_weight_bytes: int
    """Bytes of all weights in float."""
    latency_ms: float | None
    """Latency of the mixture; null if it is unknown."""
    float_latency_ms: float | None
    """Latency of the float model; null if it is unknown."""
    speedup: float | None
    """``float_latency_ms`` over ``latency_ms``; null if either is unknown."""
    latency_source: str
    """``measured``, ``estimated``, or empty."""
    device: str
    """Device of the latencies; empty without them."""
    sqnr_db: float | None
    """Signal-to-noise ratio of the mixture; null if nothing differs."""
    agreement: float | None
    """Share of samples whose largest score is at the same position as in float; null without classes."""


class QuantizationAdvice(Wire, frozen=True, kw_only=True):
    """What measurements of the sensitivity to quantization recommend."""

    samples: int
    """Samples that were measured."""
    data: str
    """Source of the samples."""
    output: str
    """Output that was compared."""
    activations: str
    """Number format of the data."""
    weights: str
    """Number format of the weights."""
    layers_measured: int
    """Layers that were measured."""
    layers_total: int
    """Layers that can be quantized."""
    sensitive_layers: list[SensitiveLayerInfo]
    """Layers to keep in a higher precision, the most sensitive first."""
    engine: EngineSummary | None
    """The recommended mixture; null if mixtures were not measured."""
    recommendations: list[str]
    """In sentences: strategy, layers, calibration, trade-off."""
