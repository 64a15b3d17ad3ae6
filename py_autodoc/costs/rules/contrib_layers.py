"""Layers of com.microsoft: states, paged caches, fused products of packed weights, blocked channels.

Source of the shapes: ONNX Runtime, docs/ContribOperators.md.
"""

from __future__ import annotations

from itertools import pairwise

from py_autodoc.costs.flop_weights import ACTIVATION, DEQUANTIZE, PER_ELEMENT, RMS_NORM, ROTARY, SOFTMAX
from py_autodoc.costs.registry import VIEW, Cost, NodeView, UnknownSize, cost, prod
from py_autodoc.costs.rules._make import movement, per_input, per_output, register
from py_autodoc.costs.rules.attention import delta_rule, linear_attention, split
from py_autodoc.costs.rules.conv import bias_adds, causal_conv, filter_size, fused_activation
from py_autodoc.costs.rules.matmul import inner
from py_autodoc.costs.rules.pool import average_pool, max_pool

MS = "com.microsoft"
NCHWC = "com.microsoft.nchwc"

# ---- recurrent states

cost(MS, "LinearAttention", macs=True)(linear_attention)
cost(MS, "CausalConvWithState", macs=True)(causal_conv)


@cost(MS, "GatedDeltaNet", macs=True)
def gated_delta_net(v: NodeView) -> Cost:
    """Linear attention over V-major states: query (…, H, d_k), value (…, H_v, d_v), or all packed in query.

    ``qk_l2_norm`` takes a square, a sum and a division per element of query and key; ``qwen`` gates a
    softplus, an addition and a product per gate, ``beta_activation`` a sigmoid.
    """
    q = v.shape(0)
    if v.has(2):
        value = v.shape(2)
        if len(q) < 3 or len(value) != len(q):
            raise UnknownSize("query and value must have heads and a head size")
        tokens, heads, d_k, kv, d_v = prod(q[:-2]), q[-2], q[-1], value[-2], value[-1]
    else:
        state = v.dims(6, 4)
        kv, d_v, d_k = state[1], state[2], state[3]
        tokens, heads = prod(q[:-1]), split((q[-1] - kv * d_v,), 2 * d_k)
    work = delta_rule(tokens, (heads, kv), (d_k, d_v), v.text_attr("update_rule", "gated_delta"))
    extra = 3 * 2 * tokens * heads * d_k if v.int_attr("qk_l2_norm", 0) else 0
    gates = tokens * kv
    if v.text_attr("gate_activation", "none") == "qwen":
        extra += (PER_ELEMENT["Softplus"] + 2) * gates
    if v.text_attr("beta_activation", "none") == "sigmoid":
        extra += PER_ELEMENT["Sigmoid"] * gates
    decay = v.numel(4) if v.has(4) else 0
    return Cost.of(work.macs, work.flops - 2 * work.macs + extra + decay)


@cost(MS, "MRotaryEmbedding")
def rotary_of_sections(v: NodeView) -> Cost:
    """Rotary embedding with positions for time, height and width: which one a channel uses costs nothing."""
    return Cost(0, ROTARY * v.numel(0))


register(MS, "GatedRMSNorm BranchwiseRMSNorm", per_input(RMS_NORM + 1 + ACTIVATION["Silu"] + 1))
register(MS, "GatedAdd", per_output(2))
register(MS, "ScaledSiLU", per_output(ACTIVATION["Silu"] + 1))

# ---- attention over paged caches


@cost(MS, "PagedAttention", macs=True)
def paged_attention(v: NodeView) -> Cost:
    """Packed tokens of several requests; each reads the keys of its own: past lengths at 6, new tokens at 5.

    Query (tokens, heads · d), or with key and value packed. Raises: UnknownSize unless both are constants.
    """
    q = v.dims(0, 2)
    heads, kv = v.positive_attr("num_heads"), v.positive_attr("kv_num_heads")
    latent = v.text_attr("kv_cache_layout", "SEPARATE") == "LATENT"
    d = split((q[1],), heads if v.has(1) or latent else heads + 2 * kv)
    d_v = v.int_attr("v_head_size", 0) or d
    ends, past = v.value(5), v.value(6)
    if ends is None or past is None or ends.size != past.size + 1:
        raise UnknownSize("how many keys each token reads is known at run time only")
    new = [int(b) - int(a) for a, b in pairwise(ends.reshape(-1))]
    scores = heads * sum(n * (n + int(p)) for n, p in zip(new, past.reshape(-1), strict=True))
    rotary = ROTARY * q[0] * (heads + kv) * d if v.int_attr("do_rotary", 0) else 0
    return Cost.of(scores * (d + d_v), scores * (1 + SOFTMAX) + rotary)


# ---- products with packed weights


@cost(MS, "MatMulNBitsMlp", macs=True)
def gated_products(v: NodeView) -> Cost:
    """Activation(A · G) · (A · U), with G and U (N, K) packed; the norm and the sum before it if present."""
    k, n = v.positive_attr("K"), v.positive_attr("N")
    activation = v.text_attr("activation", "silu")
    gate = {name.lower(): flops for name, flops in ACTIVATION.items()}.get(activation.lower())
    if gate is None:
        raise UnknownSize(f"fused activation {activation} is unknown")
    extra = (gate + 1 + v.has(5) + v.has(8)) * v.out_numel() + 2 * DEQUANTIZE * n * k + _normalized(v)
    return Cost.of(2 * v.out_numel() * k, extra)


@cost(MS, "MatMulNBitsQkv", macs=True)
def packed_projections(v: NodeView) -> Cost:
    """Query, key and value of the normalized input, with packed weights of Nq and twice Nkv rows."""
    k, n = v.positive_attr("K"), v.positive_attr("Nq") + 2 * v.positive_attr("Nkv")
    rows = v.numel(0) // k
    biases = rows * sum(v.positive_attr(name) for i, name in ((5, "Nq"), (8, "Nkv"), (11, "Nkv")) if v.has(i))
    return Cost.of(rows * n * k, biases + DEQUANTIZE * n * k + _normalized(v))


def _normalized(v: NodeView) -> int:
    """Return the FLOPs before the products: + skip (input 1), RMS norm (scale at input 2)."""
    return (v.has(1) + (RMS_NORM + 1 if v.has(2) else 0)) * v.numel(0)


@cost(MS, "MatMulBlockQuantizedFp4Weight", macs=True)
def fp4_product(v: NodeView) -> Cost:
    """A (…, K) · B (N, K/2), two numbers a byte, each times its block's and the global scale."""
    bias = v.out_numel() if v.has(5) else 0
    return Cost.of(v.out_numel() * inner(v), DEQUANTIZE * 2 * v.numel(1) + bias)


@cost(MS, "MatMulBlockQuantizedFp8Weight", macs=True)
def fp8_product(v: NodeView) -> Cost:
    """A (…, K) · B (N, K), each number times its block's scale; A is quantized if it has one too (3)."""
    bias = v.out_numel() if v.has(4) else 0
    return Cost.of(v.out_numel() * inner(v), v.numel(1) + 2 * v.has(3) * v.numel(0) + bias)


# ---- generation: the work is in the subgraphs, which run an unknown number of times

register(MS, "BeamSearch WhisperBeamSearch GreedySearch Sampling", lambda v: VIEW)

# ---- blocked channels: counted as they are computed, with the padding


@cost(NCHWC, "Conv", macs=True)
def blocked_conv(v: NodeView) -> Cost:
    """Conv + residual (input 3) + activation."""
    residual = v.out_numel() if v.has(3) else 0
    return Cost.of(v.out_numel() * filter_size(v, 1), bias_adds(v, 2) + residual + fused_activation(v))


cost(NCHWC, "MaxPool")(max_pool)
cost(NCHWC, "AveragePool")(average_pool)
register(NCHWC, "GlobalAveragePool GlobalMaxPool", per_input(1))
register(NCHWC, "ReorderInput ReorderOutput", movement())


@cost(NCHWC, "Upsample")
def blocked_upsample(v: NodeView) -> Cost:
    """Nearest copies; linear weighs four neighbours."""
    return Cost(0, 0 if v.text_attr("mode", "nearest") == "nearest" else 7 * v.out_numel())
