"""Attention operators of com.microsoft, over the full square as for ai.onnx.

Source of the shapes: ONNX Runtime, docs/ContribOperators.md.
"""

from __future__ import annotations

from py_autodoc.costs.flop_weights import DEQUANTIZE, ROTARY, SOFTMAX
from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost, minimum, prod
from py_autodoc.costs.rules.attention import Heads, split

MS = "com.microsoft"


def scores(n: Heads, v: NodeView, *biases: int) -> int:
    """Return the FLOPs on the scores: scale, softmax, and one + per mask or bias that is present."""
    return n.scores * (1 + SOFTMAX + sum(v.has(i) for i in biases))


def projected(v: NodeView, tokens: int, past: int, queries: tuple[int, int]) -> tuple[Heads, int]:
    """Return (heads, projection MACs) of an operator with its Q/K/V weight (D, q + k + v) at input 1.

    ``queries`` = (batch, sequence). Hidden sizes are equal thirds unless qkv_hidden_sizes is set.
    """
    heads = v.positive_attr("num_heads")
    weight = v.shape(1)
    if len(weight) != 2:
        raise UnknownSize("input 1 is not a (D, q + k + v) matrix")
    sizes = v.ints_attr("qkv_hidden_sizes") or [weight[1] // 3] * 3
    if len(sizes) != 3 or min(sizes) < 1:
        raise UnknownSize("attribute qkv_hidden_sizes must hold three positive sizes")
    d, dv = split((sizes[0],), heads), split((sizes[2],), heads)
    batch, sequence = queries
    return Heads(batch, heads, sequence, sequence + past, d, dv), tokens * prod(weight)


def past_length(v: NodeView, i: int) -> int:
    """Return the cached tokens in past (2, B, N, P, H) at input ``i``; 0 if absent.

    Raises: UnknownSize if the cache is a shared buffer whose filled length is unknown.
    """
    if not v.has(i):
        return 0
    if v.int_attr("past_present_share_buffer", 0):
        raise UnknownSize("the past length in a shared buffer is known at run time only")
    return v.dim(i, 3)


@cost(MS, "Attention", macs=True)
def attention(v: NodeView) -> Cost:
    """X (B, S, D) · W + bias → Q, K, V; then attention. past at input 4, attention bias at 5."""
    b, s, _ = v.dims(0, 3)
    n, projection = projected(v, b * s, past_length(v, 4), (b, s))
    bias = b * s * v.dim(1, 1) if v.has(2) else 0
    return Cost.of(projection + n.macs, bias + scores(n, v, 3, 5))


@cost(MS, "QAttention", macs=True)
def quantized_attention(v: NodeView) -> Cost:
    """Attention on 8-bit X and W; the projection is scaled back to float. Mask at 5, past at 8."""
    b, s, _ = v.dims(0, 3)
    n, projection = projected(v, b * s, past_length(v, 8), (b, s))
    width = b * s * v.dim(1, 1)
    return Cost.of(projection + n.macs, width * (DEQUANTIZE + v.has(2)) + scores(n, v, 5))


@cost(MS, "PackedAttention", macs=True)
def packed_attention(v: NodeView) -> Cost:
    """X (tokens, D) without padding; token_offset (B, S) at 3: the scores count the padded square."""
    tokens = v.dim(0, 0)
    b, s = v.dims(3, 2)
    n, projection = projected(v, tokens, 0, (b, s))
    bias = tokens * v.dim(1, 1) if v.has(2) else 0
    return Cost.of(projection + n.macs, bias + scores(n, v, 5))


@cost(MS, "DecoderMaskedSelfAttention", macs=True)
def decoder_self_attention(v: NodeView) -> Cost:
    """One new token: X (B, 1, D) · W, then attention over the cache. past at 4, its length at 6."""
    b, s, _ = v.dims(0, 3)
    declared = v.scalar(6)
    past = past_length(v, 4) if declared is None else declared
    n, projection = projected(v, b * s, past, (b, s))
    bias = b * s * v.dim(1, 1) if v.has(2) else 0
    return Cost.of(projection + n.macs, bias + scores(n, v, 3, 5))


def separate(v: NodeView, heads: int, past: int) -> Heads:
    """Return sizes from query (B, S, N·H) or packed QKV (B, S, N, 3, H), and key and value in any layout."""
    q = v.shape(0)
    if len(q) == 5:
        return Heads(q[0], q[2], q[1], q[1] + past, q[4], q[4])
    if len(q) != 3:
        raise UnknownSize(f"query of rank {len(q)}")
    d = split(q, heads)
    if not v.has(1):
        raise UnknownSize("the key is missing")
    k = v.shape(1)
    if not 3 <= len(k) <= 5:
        raise UnknownSize(f"key of rank {len(k)}")
    if len(k) == 5:  # packed (B, L, N, 2, H)
        return Heads(q[0], heads, q[1], k[1] + past, d, k[4])
    keys = k[2] if len(k) == 4 else k[1]
    val = v.shape(2)
    dv = val[3] if len(val) == 4 else split(val, heads)
    # A 4-D key (B, N, L, H) already holds all keys.
    return Heads(q[0], heads, q[1], keys + (0 if len(k) == 4 else past), d, dv)


@cost(MS, "MultiHeadAttention", macs=True)
def multi_head_attention(v: NodeView) -> Cost:
    """Query, key, value, bias (3), key mask (4), attention bias (5), past (6, 7)."""
    past = v.dim(6, 2) if v.has(6) else 0
    n = separate(v, v.positive_attr("num_heads"), past)
    bias = n.b * n.h * (n.s * n.d + n.t * (n.d + n.dv)) if v.has(3) else 0
    return Cost.of(n.macs, bias + scores(n, v, 4, 5))


@cost(MS, "DecoderMaskedMultiHeadAttention", macs=True)
def decoder_attention(v: NodeView) -> Cost:
    """One new token with the cache (past key at 5, filled length at 7), or cross attention without one."""
    heads = v.positive_attr("num_heads")
    if not v.has(5):
        past = 0
    else:
        declared = v.scalar(7)
        if declared is not None:
            past = declared
        elif v.int_attr("past_present_share_buffer", 0):
            raise UnknownSize("the past length in a shared buffer is known at run time only")
        else:
            past = v.dim(5, 2)
    n = separate(v, heads, past)
    return Cost.of(n.macs, scores(n, v, 3, 4))


@cost(MS, "PackedMultiHeadAttention", macs=True)
def packed_multi_head_attention(v: NodeView) -> Cost:
    """Query (tokens, N·H) or (tokens, N, 3, H); token_offset (B, S) at 4: the padded square."""
    q, (b, s) = v.shape(0), v.dims(4, 2)
    heads = v.positive_attr("num_heads")
    if len(q) == 4:
        d = dv = q[3]
    else:
        d, dv = split(q, heads), split(v.shape(2), heads)
    n = Heads(b, heads, s, s, d, dv)
    return Cost.of(n.macs, (v.numel(0) if v.has(3) else 0) + scores(n, v, 6))


def total_keys(v: NodeView, new: int) -> int:
    """Return the keys of a grouped query.

    total_sequence_length (6) if it is constant, else the length of present, else past + new.
    """
    declared = v.scalar(6)
    if declared is not None:
        return declared
    if v.has_out(1) and len(v.types.shapes[v.node.outputs[1]] or ()) == 4:
        return v.out(1)[2]
    return (v.dim(3, 2) if v.has(3) else 0) + new


@cost(MS, "GroupQueryAttention", "SparseAttention", macs=True)
def group_query_attention(v: NodeView) -> Cost:
    """Query (B, S, N·H), key and value (B, S, Nk·H), or all packed in query (B, S, (N + 2·Nk)·H).

    Past (B, Nk, P, H) at 3 and 4. A shared cache buffer counts at its full length, as allocated,
    unless total_sequence_length is a constant. ``do_rotary`` rotates Q and K.
    """
    b, s, width = v.dims(0, 3)
    heads, kv = v.positive_attr("num_heads"), v.positive_attr("kv_num_heads")
    key = v.shape(1) if v.has(1) else (b, 0, 0)
    packed = len(key) == 3 and key[2] == 0
    d = split((width,), heads + 2 * kv if packed else heads)
    new = s if packed or len(key) != 3 else key[1]
    n = Heads(b, heads, s, total_keys(v, new), d, d)
    rotary = ROTARY * b * s * (heads + kv) * d if v.int_attr("do_rotary", 0) else 0
    softcap = 3 * n.scores if v.attr("softcap", 0.0) else 0
    return Cost.of(n.macs, rotary + softcap + scores(n, v, 10))


@cost(MS, "LongformerAttention", macs=True)
def longformer(v: NodeView) -> Cost:
    """Sliding window attention (arXiv:2004.05150): X (B, S, D), W (D, 3D), global W (D, 3D) at 4.

    Counts local and global projections, and S · (2·window + 1) scores per head. Excludes scores of global
    tokens, which are known only at run time.
    """
    b, s, d = v.dims(0, 3)
    heads = v.positive_attr("num_heads")
    visible_keys = minimum(2 * v.positive_attr("window") + 1, s)
    n = Heads(b, heads, s, visible_keys, split((d,), heads), split((d,), heads))
    weights = v.numel(1) + (v.numel(4) if v.has(4) else 0)
    return Cost.of(b * s * weights + n.macs, n.scores * (1 + SOFTMAX))


@cost(MS, "RelativePositionBias")
def relative_position_bias(v: NodeView) -> Cost:
    """T5's bucketed bias, looked up for Y (1, N, S, S): about 8 operations per bucket index."""
    shape = v.out()
    if len(shape) != 4:
        raise UnknownSize(f"output 0 has {len(shape)} dimensions, not 4")
    return Cost(0, 8 * shape[2] * shape[3], v.bytes_out(0))
