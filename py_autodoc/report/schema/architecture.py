"""What kind of network it is, its attention, and the risks found in it."""

from __future__ import annotations

from typing import Any

from py_autodoc.report.schema.wire import DimValue, Wire


class AttentionGroup(Wire, frozen=True, kw_only=True):
    """Attention layers of one configuration. Null: the graph does not tell."""

    count: int
    """Layers."""
    kind: str
    """``self``, ``cross`` (keys from another sequence) or ``unknown``."""
    causal: bool | None
    """Whether no query sees a later key; null when the mask is fed or its values were not read."""
    num_heads: int | None
    """Query heads."""
    num_kv_heads: int | None
    """Key and value heads."""
    head_dim: int | None
    """Size of a head of Q and K."""
    value_dim: int | None
    """Size of a head of V."""
    hidden_size: int | None
    """Width of the residual stream that feeds it."""
    mechanism: str | None
    """``MHA``, ``GQA`` or ``MQA``."""
    queries: DimValue
    """Query positions."""
    keys: DimValue
    """Key positions, cached ones included."""
    mask: bool
    """A mask hides keys in some of them."""
    rotary: bool
    """Q and K are rotated by position."""
    relative_bias: bool
    """A learned bias is added to the scores."""
    cached: bool
    """Keys and values of earlier steps come from graph inputs."""
    fused: bool
    """One operator does it."""
    max_sequence_length: int | None
    """The longest sequence that a stored table or the cache allows."""
    max_sequence_length_reason: str
    """Where it is from, or why it is null."""
    nodes: list[int]
    """Layer ids of the Softmax or of the fused operator."""


class AttentionInfo(Wire, frozen=True, kw_only=True):
    """The attention of a model. A fact on which the layers differ is null here and told in ``groups``."""

    num_layers: int
    """Attention layers that one inference runs."""
    self_layers: int
    """Of these, self attention."""
    cross_layers: int
    """Of these, cross attention."""
    causal_layers: int
    """Layers known to be causal."""
    unknown_causal_layers: int
    """Layers that may or may not be."""
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
    """Where it is from, or why it is null."""
    groups: list[AttentionGroup]
    """Distinct configurations, in the order of their first layer."""
    kv_cache_bytes_per_token: int | None = None
    """``memory.kv_cache.bytes_per_token``; null without a cache, or where its ``reason`` says why."""


class QuantizationInfo(Wire, frozen=True, kw_only=True):
    """Whether the layers compute with numbers of few bits. Shares are between 0 and 1."""

    quantized: bool
    """True when a layer with weights is quantized."""
    schemes: dict[str, int]
    """``QDQ`` (float operators between QuantizeLinear and DequantizeLinear), ``QOperator`` (integer operators
    with fixed scales), ``dynamic`` (data quantized while it runs), ``weight-only`` → layers, most first."""
    weights: list[str]
    """Element types of quantized weights, the most frequent first: ``int8``, ``int4`` …"""
    activations: list[str]
    """Element types of quantized data that layers with weights read; empty for weight-only."""
    layers: int
    """Layers with weights that are quantized."""
    layers_total: int | None
    """Layers with weights; null when none is quantized."""
    macs_share: float | None
    """Share of the known MACs that quantized operators do; null without any, or where no MACs are known."""
    not_quantized: list[int]
    """Ids of the layers with weights that are not, at most 200; empty when none is quantized."""


class ArchitectureInfo(Wire, frozen=True, kw_only=True):
    """What kind of network it is."""

    family: str
    """``cnn``, ``transformer-encoder``, ``transformer-decoder``, ``encoder-decoder``, ``detector``,
    ``segmenter``, ``recurrent``, ``state-space``, ``mlp``, ``fourier``, ``graph``, ``hybrid``,
    ``classical-ml`` or ``unknown``."""
    confidence: float
    """Between 0 and 1."""
    evidence: list[str]
    """One line a reason."""
    quantization: QuantizationInfo | None = None
    """Whether and how it is quantized; null in reports of versions that did not look."""


class RiskSignal(Wire, frozen=True, kw_only=True):
    """A finding: something in the design that may hurt."""

    id: str
    """Rule; ``onnx-autodoc rule ID`` explains it."""
    severity: str
    """``info``, ``low``, ``medium`` or ``high``."""
    description: str
    """What was found."""
    nodes: list[int]
    """Ids of the layers it is about, at most 100; ``evidence.nodes_total`` when there are more."""
    evidence: dict[str, Any]
    """The numbers behind it, by name; a unit in the name."""
    recommendation: str
    """What to do."""
