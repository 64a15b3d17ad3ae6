"""Operators of com.microsoft except attention and quantized ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from py_autodoc.costs.flop_weights import (
    ACTIVATION,
    GELU_ERF,
    GELU_TANH,
    LAYER_NORM,
    QUICK_GELU,
    RMS_NORM,
    SOFTMAX,
)
from py_autodoc.costs.registry import VIEW, Cost, NodeView, UnknownSize, cost, maximum, minimum, prod
from py_autodoc.costs.rules._make import (
    in_bytes,
    movement,
    per_input,
    per_output,
    register,
    rows_read,
    traffic,
)
from py_autodoc.costs.rules.attention import rotary
from py_autodoc.costs.rules.conv import fused_activation
from py_autodoc.costs.rules.matmul import gemm_extra, gemm_macs, matmul
from py_autodoc.costs.weight_slots import expert_bits

MS = "com.microsoft"

# ---- elementwise

register(MS, "Gelu", per_output(GELU_ERF))
register(MS, "BiasGelu", per_output(GELU_ERF + 1))
register(MS, "QuickGelu", per_output(QUICK_GELU))
register(MS, "BiasAdd", per_output(2))  # x + bias + skip
register(MS, "BiasSoftmax", per_input(SOFTMAX + 1))
register(MS, "BiasDropout", per_output(2))  # + bias, + residual
register(MS, "IsAllFinite", per_input(1))
register(MS, "Trilu Pad ExpandDims CropAndResize RemovePadding RestorePadding", movement())
register(MS, "BitmaskDropout", lambda v: VIEW)


@cost(MS, "FastGelu")
def fast_gelu(v: NodeView) -> Cost:
    """The tanh form of Gelu on x + bias."""
    return Cost(0, (GELU_TANH + v.has(1)) * v.out_numel())


@cost(MS, "BiasSplitGelu")
def bias_split_gelu(v: NodeView) -> Cost:
    """Left · gelu(right) of the halves of X + bias (X is twice Y): 2 +, gelu, × per output element."""
    return Cost(0, (2 + GELU_ERF + 1) * v.out_numel())


register(MS, "RotaryEmbedding", lambda v: _contrib_rotary(v))
register(MS, "GemmaRotaryEmbedding", per_output(3))


def _contrib_rotary(v: NodeView) -> Cost:
    """Like ai.onnx RotaryEmbedding; head count and head size default to the width of the caches."""
    if v.int_attr("rotary_embedding_dim", 0) > 0 or len(v.shape(0)) == 4:
        return rotary(v)
    return Cost(0, 3 * v.numel(0))


# ---- normalization


def _norm(arithmetic: int, affine: Callable[[NodeView], int]) -> Callable[[NodeView], Cost]:
    return lambda v: Cost(0, (arithmetic + affine(v)) * v.numel(0))


register(MS, "LayerNormalization", _norm(LAYER_NORM, lambda v: 1 + v.has(2)))
register(MS, "SimplifiedLayerNormalization", _norm(RMS_NORM, lambda v: 1))
register("", "SimplifiedLayerNormalization", _norm(RMS_NORM, lambda v: 1))  # registered in ai.onnx by ORT
# input, skip, gamma, beta, bias: one + for the skip, another for the bias
register(MS, "SkipLayerNormalization", _norm(LAYER_NORM, lambda v: 2 + v.has(3) + v.has(4)))
register(MS, "SkipSimplifiedLayerNormalization", _norm(RMS_NORM, lambda v: 2 + v.has(3)))


@cost(MS, "GroupNorm", "SkipGroupNorm")
def group_norm(v: NodeView) -> Cost:
    """Normalize, × gamma, + beta, optional SiLU; SkipGroupNorm adds input 3 (and bias, input 4) first."""
    skip = v.has(3) + v.has(4) if v.op == "SkipGroupNorm" else 0
    silu = ACTIVATION["Silu"] if v.int_attr("activation", 0) else 0
    return Cost(0, (LAYER_NORM + 2 + skip + silu) * v.numel(0))


@cost(MS, "EmbedLayerNormalization")
def embed_layer_norm(v: NodeView) -> Cost:
    """Word + position (+ segment) embedding rows, then LayerNorm. Y (B, S, D).

    Inputs: ids, segment ids, three tables (2, 3, 4), gamma, beta, mask, position ids.
    """
    tables = 2 + v.has(4)

    def read(w: NodeView) -> int:
        return tables * w.bytes_out(0) + in_bytes(w, 0, 1, 5, 6, 7, 8)

    return Cost(0, (tables - 1 + LAYER_NORM + 2) * v.out_numel(), traffic(read, v))


# ---- matrix products

cost(MS, "FusedGemm", macs=True)(lambda v: Cost.of(gemm_macs(v), gemm_extra(v) + fused_activation(v)))
cost(MS, "MatMul", macs=True)(matmul)


@cost(MS, "FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", macs=True)
def fused_matmul(v: NodeView) -> Cost:
    """Alpha · A' · B': prod(Y) · K, with K at −2 of A when it is transposed (0 with transBatchA)."""
    transposed = v.int_attr("transA", 0) and len(v.shape(0)) > 1
    k = v.dim(0, (0 if v.int_attr("transBatchA", 0) else -2) if transposed else -1)
    scale = v.out_numel() if v.attr("alpha", 1.0) != 1.0 else 0
    return Cost.of(v.out_numel() * k, scale + fused_activation(v))


@cost(MS, "GemmFastGelu", macs=True)
def gemm_fast_gelu(v: NodeView) -> Cost:
    """FastGelu(X · W + bias)."""
    return Cost.of(v.out_numel() * v.dim(0, -1), (GELU_TANH + v.has(2)) * v.out_numel())


@cost(MS, "GatedRelativePositionBias", macs=True)
def gated_position_bias(v: NodeView) -> Cost:
    """WavLM's gate: query (B, S, N·H) · weight (H, D), then one × per score of Y (B, N, S, S).

    With u, r = sigmoid of the halves of the product + bias: u·(r·eco − 1) + 2, 6 FLOPs per query and head.
    """
    heads = v.positive_attr("num_heads")
    weight = v.shape(3)
    if len(weight) != 2 or not weight[0]:
        raise UnknownSize("input 3 is not a matrix")
    gates = v.numel(0) // weight[0]
    extra = v.numel(0) + gates * (2 * weight[1] + 6) + v.out_numel()
    return Cost.of(gates * weight[0] * weight[1], extra if heads else 0)


@cost(MS, "CDist", macs=True)
def cdist(v: NodeView) -> Cost:
    """Distances of all pairs: A (M, K), B (N, K): one − and one multiply-accumulate per coordinate."""
    m, k = v.dims(0, 2)
    n = v.dim(1, 0)
    return Cost.of(m * n * k, m * n * k)


def active_experts(v: NodeView, weights: Mapping[int, int]) -> Cost:
    """K experts per token. Tokens (…, D), router (T, E), expert weights (E, …).

    ``weights``: input → values per stored element. T · k · (|fc1| + |fc2| + |fc3|)/E MACs, in any layout.
    Reads the weights of at most min(E, T·k) experts.
    """
    tokens, experts = prod(v.shape(0)[:-1]), v.dim(1, -1)
    if not experts:
        raise UnknownSize("no experts")
    k = v.positive_attr("k", 1)
    present = [i for i in weights if v.has(i)]
    per_expert = sum(v.numel(i) * weights[i] for i in present) // experts
    first = next(iter(weights))
    activation = tokens * k * v.numel(first) * weights[first] // (experts * maximum(v.dim(0, -1), 1))

    def read(w: NodeView) -> int:
        stored = in_bytes(w, *present)
        other_bytes = in_bytes(w, *(i for i in range(w.n_inputs) if i not in present))
        return stored * minimum(experts, tokens * k) // experts + other_bytes

    return Cost.of(tokens * k * per_expert, SOFTMAX * v.numel(1) + activation, read_bytes=traffic(read, v))


@cost(MS, "MoE", macs=True)
def moe(v: NodeView) -> Cost:
    """Mixture of experts: input, router, fc1, bias, fc2, bias, fc3, bias."""
    return active_experts(v, {2: 1, 4: 1, 6: 1})


@cost(MS, "QMoE", macs=True)
def qmoe(v: NodeView) -> Cost:
    """MoE on packed weights of 2, 4 or 8 bits: input, router, then (weight, scales, bias) three times."""
    packing = {}
    for slot in (2, 5, 8):
        bits = expert_bits(v.node, slot)
        if bits is None:
            raise UnknownSize("the bits of the expert weights are none of 2, 4 and 8")
        packing[slot] = 8 // bits
    return active_experts(v, packing)


# ---- data

register(MS, "GatherND", movement(read=rows_read(0)))
register(MS, "TorchEmbedding", movement(read=rows_read(0)))
register(MS, "Range", lambda v: Cost(0, 2 * v.out_numel(), 0))
register(MS, "Unique", per_input(1))
