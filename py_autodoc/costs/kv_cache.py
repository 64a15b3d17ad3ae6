"""Size of the KV cache of a generating model, per token and for the whole context.

Measured on the graph's own past inputs if it has them (``cache_inputs``): bytes per token = product of the
sizes of all axes except batch and positions, times the element size, over all caches, for batch 1.

Otherwise estimated from recognised attention: kv heads × (head size of K + of V) × element size, over the
causal self-attention layers. Only graphs that generate tokens get an estimate: one output scores the rows of
an embedding table that the graph reads. An encoder keeps no keys and values between inferences.
If mask values were not read, causality is unknown. The estimate then relies on the caller's confidence that
the network is a decoder.

"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from py_autodoc.costs.attention_usage import trimmed_output
from py_autodoc.costs.cache_inputs import Cache, cache_inputs
from py_autodoc.costs.weight_slots import PASSES_ON
from py_autodoc.graph.ir.model import Dim, Model, TypeTable
from py_autodoc.graph.protobuf.tensor_protos import BITS

_ROLES = ("key", "both", "value")
ESTIMATE = 0.9
"""Maximum confidence of an estimate: a runtime may use another type for the cache, or repeat heads."""
_LOOKUPS = frozenset({("", "Gather"), ("com.microsoft", "GatherBlockQuantized")})
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AttentionSize:
    """Sizes of a recognised attention layer, as required by the estimate. None if unknown."""

    kv_heads: int | None
    head_dim: int | None
    value_dim: int | None
    causal: bool | None
    kind: str
    """``self``, ``cross`` or ``unknown``."""
    dtype: int
    """Element type of keys and values, 0 if unknown."""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class CacheLayer:
    """The cache of one attention layer. Sizes are None if unknown."""

    inputs: tuple[int, ...]
    """Graph inputs of keys and values, or a single input for both; empty for an estimate."""
    attention: int
    """The Softmax or fused operator, -1 for an estimate."""
    kv_heads: int | None
    head_dim: int | None
    value_dim: int | None
    dtype: int
    axis: int | None
    """Axis of the positions in the first input."""
    bytes_per_token: int | None
    positions: int | None = None
    """Positions of the full cache as declared in the file; None if symbolic."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KVCache:
    """Cached keys and values of one sequence (batch 1). A size that differs between layers is None.

    ``source``: ``inputs`` (measured on the graph's past inputs), ``estimated``, or ``none``. ``reason``
    explains why there is no cache or why bytes are unknown, ``context_reason`` why the full size is.
    """

    source: str
    layers: tuple[CacheLayer, ...] = ()
    kv_heads: int | None = None
    head_dim: int | None = None
    value_dim: int | None = None
    dtype: int = 0
    axis: int | None = None
    bytes_per_token: int | None = None
    context: int | None = None
    """Positions of the full cache, the maximum of all layers."""
    context_bytes: int | None = None
    confidence: float | None = None
    """Between 0 and 1; None without a cache."""
    reason: str = ""
    context_reason: str = ""


def kv_cache(
    model: Model,
    types: TypeTable,
    attention: Sequence[AttentionSize],
    max_context: int | None = None,
    decoder: float = 0.0,
) -> KVCache:
    """Return the KV cache of a model.

    ``attention`` are the recognised layers, ``max_context`` the maximum positions according to a position
    table, ``decoder`` the confidence (0 to 1) that self-attention with an unread mask is causal. Never
    raises on content.
    """
    caches = cache_inputs(model, types)
    if caches is None:
        return KVCache("none", reason="too many inputs could be cached keys and values to distinguish them")
    layers = _layers(model, types, caches)
    if layers:
        return _summary("inputs", layers, max_context, 1.0)
    if caches:
        return KVCache("none", reason="cached keys and values do not come in pairs")
    return _estimate(model, types, attention, max_context, decoder)


def _layers(model: Model, types: TypeTable, all_caches: Iterable[Cache]) -> list[CacheLayer]:
    """Return caches paired by the attention that reads them; a pair shared by several layers counts once."""
    by_attention: dict[int, list[Cache]] = {}
    for cache in all_caches:
        by_attention.setdefault(cache.attention, []).append(cache)
    layers: list[CacheLayer] = []
    counted: set[tuple[tuple[int, int], ...]] = set()
    for attention, caches in by_attention.items():
        pair = sorted(caches, key=lambda cache: _ROLES.index(cache.role))  # stable: keys, then values
        if {cache.role for cache in pair} in ({"key"}, {"value"}):
            continue
        # Both branches may extend an input; parts of a stacked input differ by the extending operator.
        identity = tuple((cache.tensor, -1 if cache.whole_input else cache.node) for cache in pair)
        if identity not in counted:
            counted.add(identity)
            layers.append(_layer(model, types, attention, pair))
    return layers


def _layer(model: Model, types: TypeTable, attention: int, pair: Sequence[Cache]) -> CacheLayer:
    inputs = tuple(dict.fromkeys(cache.tensor for cache in pair))
    parts = [_position_bytes(types, cache) for cache in pair]
    unknown = [cache for cache, position_bytes in zip(pair, parts, strict=True) if position_bytes is None]
    reason = ""
    if unknown:
        name = model.tensors[unknown[0].tensor].name or f"tensor {unknown[0].tensor}"
        unknown_width = unknown[0].width is None or unknown[0].axis is None
        reason = f"the layout of {name} is not known" if unknown_width else f"the size of {name} is not known"
    first, last = pair[0], pair[-1]
    spans = [_positions(model, types, cache) for cache in pair]
    return CacheLayer(
        inputs=inputs,
        attention=attention,
        kv_heads=_size(types, first.tensor, first.heads),
        head_dim=_size(types, first.tensor, first.width),
        value_dim=_size(types, last.tensor, last.width),
        dtype=types.dtypes[first.tensor],
        axis=first.axis,
        bytes_per_token=None if unknown else sum(position_bytes or 0 for position_bytes in parts),
        positions=None if None in spans else max(span or 0 for span in spans),
        reason=reason,
    )


def _position_bytes(types: TypeTable, cache: Cache) -> int | None:
    """Return the bytes of one position of a cache; None if a size is unknown."""
    heads, width = _size(types, cache.tensor, cache.heads), _size(types, cache.tensor, cache.width)
    bits = BITS.get(types.dtypes[cache.tensor])
    if heads is None or width is None or bits is None or cache.axis is None:
        return None
    tensors = 2 if cache.stack >= 0 else 1
    return (tensors * heads * width * bits + 7) // 8


def _size(types: TypeTable, tensor: int, axis: int | None) -> int | None:
    shape = types.shapes[tensor]
    if axis is None or shape is None or not 0 <= axis < len(shape):
        return None
    size: Dim = shape[axis]
    return size if type(size) is int and size > 0 else None


def _positions(model: Model, types: TypeTable, cache: Cache) -> int | None:
    """Return the positions after this step if the file itself fixes them, not a bound symbol."""
    declared = model.tensors[cache.tensor].shape
    if cache.axis is None or declared is None or cache.axis >= len(declared):
        return None
    declared_size = declared[cache.axis]
    if type(declared_size) is not int or declared_size < 0:
        return None
    result = cache.result
    kept = trimmed_output(model, result) if result >= 0 else -1
    if kept >= 0 and _size(types, kept, cache.result_axis) == declared_size:
        result = kept  # A streaming model attends to more in a step than it keeps.
    shape = types.shapes[result] if result >= 0 else None
    after = shape[cache.result_axis] if shape and 0 <= cache.result_axis < len(shape) else None
    return max(declared_size, after) if type(after) is int else declared_size


def _summary(
    source: str, layers: Sequence[CacheLayer], max_context: int | None, confidence: float
) -> KVCache:
    parts = [layer.bytes_per_token for layer in layers]
    per_token = None if None in parts else sum(layer_bytes or 0 for layer_bytes in parts)
    reason = next((layer.reason for layer in layers if layer.reason), "")
    spans = [max_context if layer.positions is None else layer.positions for layer in layers]
    lengths = [span for span in spans if span is not None]
    full = per_token is not None and len(lengths) == len(spans)
    why = (
        "" if full else (reason or "neither an axis nor a table of positions gives the length of the context")
    )
    return KVCache(
        source=source,
        layers=tuple(layers),
        kv_heads=_common(layer.kv_heads for layer in layers),
        head_dim=_common(layer.head_dim for layer in layers),
        value_dim=_common(layer.value_dim for layer in layers),
        dtype=_common(layer.dtype for layer in layers) or 0,
        axis=_common(layer.axis for layer in layers),
        bytes_per_token=per_token,
        context=max(lengths) if len(lengths) == len(spans) else None,
        context_bytes=sum((p or 0) * s for p, s in zip(parts, lengths, strict=True)) if full else None,
        confidence=confidence,
        reason=reason,
        context_reason=why,
    )


def _common(values: Iterable[T]) -> T | None:
    """Return the common value, None if they differ."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _estimate(
    model: Model,
    types: TypeTable,
    attention: Sequence[AttentionSize],
    max_context: int | None,
    decoder: float,
) -> KVCache:
    """Estimate from the causal self-attention of a graph that generates tokens."""
    self_attention = [layer for layer in attention if layer.kind == "self"]
    known_causal = [layer for layer in self_attention if layer.causal]
    unknown_causality = [layer for layer in self_attention if layer.causal is None]
    causal = [layer for layer in self_attention if layer.causal is not False] if decoder > 0 else known_causal
    if not causal:
        return KVCache("none", reason=_no_cache_reason(attention))
    if not scores_vocabulary(model, types):
        return KVCache("none", reason="attention is causal, but no output scores a vocabulary")
    layers = [_estimated(layer) for layer in causal]
    confidence = min(ESTIMATE, *(layer.confidence for layer in causal))
    if unknown_causality:  # some layers are included or excluded by assumption
        confidence = min(confidence, decoder if decoder > 0 else 0.5)
    return _summary("estimated", layers, max_context, confidence)


def _no_cache_reason(attention: Sequence[AttentionSize]) -> str:
    if not attention:
        return "no cached keys and values among the inputs, and no attention was recognised"
    if any(layer.causal is None or layer.kind == "unknown" for layer in attention):
        return "no cached keys and values among the inputs, and it is unknown whether attention is causal"
    return "attention is not causal, so nothing is cached between inferences"


def _estimated(layer: AttentionSize) -> CacheLayer:
    bits, heads, width = BITS.get(layer.dtype), layer.kv_heads, layer.head_dim
    value = width if layer.value_dim is None else layer.value_dim
    per_token, reason = None, ""
    if heads is None or width is None or value is None:
        reason = "the heads of an attention layer are unknown"
    elif bits is None:
        reason = "the element type of an attention layer is unknown"
    else:
        per_token = (heads * (width + value) * bits + 7) // 8
    return CacheLayer((), -1, heads, width, value, layer.dtype, None, per_token, None, reason)


def scores_vocabulary(model: Model, types: TypeTable) -> bool:
    """True if an output's last axis is as long as an embedding table that the graph looks up.

    A lookup is a Gather along the first axis of a weight matrix with computed indices. The output then
    scores the same tokens that are the input.
    """
    rows: set[int] = set()
    for node in model.nodes:
        if (node.domain, node.op_type) not in _LOOKUPS or len(node.inputs) < 2 or min(node.inputs[:2]) < 0:
            continue
        table, indices = node.inputs[:2]
        shape = types.shapes[table]
        if shape is None or len(shape) != 2 or type(shape[0]) is not int:
            continue
        first = node.attributes.get("axis", node.attributes.get("gather_axis", 0)) == 0
        if first and _is_weight(model, table) and not model.tensors[indices].is_constant:
            rows.add(shape[0])
    lasts = (shape[-1] for t in model.graphs[0].outputs if (shape := types.shapes[t]))
    return any(last in rows for last in lasts if type(last) is int and last > 1)


def _is_weight(model: Model, tensor: int) -> bool:
    """True for a constant, including one that is dequantized or cast first."""
    for _ in range(4):
        entry = model.tensors[tensor]
        if entry.is_constant:
            return True
        if entry.producer < 0 or model.nodes[entry.producer].op_type not in PASSES_ON:
            return False
        tensor = model.nodes[entry.producer].inputs[0]
        if tensor < 0:
            return False
    return False
