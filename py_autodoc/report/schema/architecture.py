"""The architecture of the network, its attention, and the findings."""

from __future__ import annotations

from typing import Any

from py_autodoc.report.schema.wire import DimValue, Wire


class AttentionGroup(Wire, frozen=True, kw_only=True):
    """Attention layers with the same configuration. Null: unknown."""

    count: int
    """Layers."""
    kind: str
    """``self``, ``cross`` (keys from another sequence) or ``unknown``."""
    causal: bool | None
    """Whether no query sees a later key; null if the mask is an input or its values were not read."""
    num_heads: int | None
    """Query heads."""
    num_kv_heads: int | None
    """Key and value heads."""
    head_dim: int | None
    """Size of a head of Q and K."""
    value_dim: int | None
    """Size of a head of V."""
    hidden_size: int | None
    """Width of the residual stream at its input."""
    mechanism: str | None
    """``MHA``, ``GQA`` or ``MQA``."""
    queries: DimValue
    """Query positions."""
    keys: DimValue
    """Key positions, including cached ones."""
    mask: bool
    """A mask hides keys in some of them."""
    rotary: bool
    """Q and K are rotated by position."""
    relative_bias: bool
    """A learned bias is added to the scores."""
    cached: bool
    """Keys and values of earlier steps come from graph inputs."""
    fused: bool
    """The attention is a single operator."""
    max_sequence_length: int | None
    """The longest sequence that a stored table or the cache allows."""
    max_sequence_length_reason: str
    """Its source, or why it is null."""
    attention_window: int | None = None
    """The most keys that a query sees in a window or chunk, its own included; null: all, or unknown."""
    nodes: list[int]
    """Layer ids of the Softmax or of the fused operator."""


class AttentionInfo(Wire, frozen=True, kw_only=True):
    """The attention of a model. A value that differs between layers is null here and given in ``groups``."""

    num_layers: int
    """Attention layers that one inference runs."""
    self_layers: int
    """Of these, self-attention."""
    cross_layers: int
    """Of these, cross-attention."""
    causal_layers: int
    """Layers known to be causal."""
    unknown_causal_layers: int
    """Layers of which it is unknown."""
    num_heads: int | None
    """Query heads."""
    num_kv_heads: int | None
    """Key and value heads."""
    head_dim: int | None
    """Size of a head of Q and K."""
    hidden_size: int | None
    """Width of the residual stream."""
    mechanism: str | None
    """``MHA``, ``GQA`` or ``MQA``."""
    max_sequence_length: int | None
    """The longest sequence that a stored table or the cache allows."""
    max_sequence_length_reason: str
    """Its source, or why it is null."""
    attention_window: int | None = None
    """The most keys that a query sees in the layers with a sliding window or chunks, its own included; null
    without such layers, and where they differ."""
    window_layers: int = 0
    """Layers with a sliding window or chunks; the others see all keys, or it is unknown."""
    groups: list[AttentionGroup]
    """Distinct configurations, in the order of their first layer."""
    kv_cache_bytes_per_token: int | None = None
    """``memory.kv_cache.bytes_per_token``; null without a cache, or where its ``reason`` says why."""


class QuantizationInfo(Wire, frozen=True, kw_only=True):
    """Whether and how layers are quantized. Shares are between 0 and 1."""

    quantized: bool
    """True if a layer with weights is quantized."""
    schemes: dict[str, int]
    """``QDQ`` (float operators between QuantizeLinear and DequantizeLinear), ``QOperator`` (integer
    operators with fixed scales), ``dynamic`` (data quantized at run time), ``weight-only`` → number of
    layers, the most frequent first."""
    weights: list[str]
    """Element types of quantized weights, the most frequent first: ``int8``, ``int4`` …"""
    activations: list[str]
    """Element types of the quantized inputs of layers with weights; empty for weight-only."""
    layers: int
    """Quantized layers with weights."""
    layers_total: int | None
    """Layers with weights; null if none is quantized."""
    macs_share: float | None
    """Share of the known MACs in quantized operators; null without any, or if no MACs are known."""
    not_quantized: list[int]
    """Ids of the layers with weights that are not quantized, at most 200; empty if none is quantized."""


class ArchitectureInfo(Wire, frozen=True, kw_only=True):
    """Family of the network."""

    family: str
    """``cnn``, ``transformer-encoder``, ``transformer-decoder``, ``encoder-decoder``, ``detector``,
    ``segmenter``, ``recurrent``, ``state-space``, ``mlp``, ``fourier``, ``graph``, ``hybrid``,
    ``classical-ml`` or ``unknown``."""
    confidence: float
    """Between 0 and 1."""
    evidence: list[str]
    """One line per reason."""
    quantization: QuantizationInfo | None = None
    """Whether and how it is quantized; null in reports of older versions."""


class RiskSignal(Wire, frozen=True, kw_only=True):
    """A finding of a rule."""

    id: str
    """Rule; ``onnx-autodoc rule ID`` explains it."""
    severity: str
    """``info``, ``low``, ``medium`` or ``high``."""
    description: str
    """Description of the finding."""
    nodes: list[int]
    """Ids of the layers concerned, at most 100; ``evidence.nodes_total`` if there are more."""
    evidence: dict[str, Any]
    """The numbers behind it, by name; the name includes the unit."""
    recommendation: str
    """Recommendation."""
