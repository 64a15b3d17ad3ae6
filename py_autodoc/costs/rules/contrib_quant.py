"""Quantized operators of com.microsoft. Source of the shapes: ONNX Runtime, docs/ContribOperators.md."""

from __future__ import annotations

from py_autodoc.costs.flop_weights import (
    DEQUANTIZE,
    DYNAMIC_RANGE,
    LAYER_NORM,
    PER_ELEMENT,
    QUANTIZE,
    SOFTMAX,
)
from py_autodoc.costs.registry import Cost, NodeView, Rule, UnknownSize, cost
from py_autodoc.costs.rules._make import movement, per_input, per_output, register, traffic
from py_autodoc.costs.rules.matmul import gemm_macs, inner
from py_autodoc.costs.windows import covered

MS = "com.microsoft"

# ---- QLinear*: dequantize the operands, compute, requantize


def qlinear(flops: int, operands: int) -> Rule:
    """Create a rule: ``flops`` per output element, plus dequantizing ``operands`` inputs and requantizing."""
    return per_output(operands * DEQUANTIZE + flops + QUANTIZE)


register(MS, "QLinearAdd QLinearMul", qlinear(1, 2))
register(MS, "QLinearSigmoid", qlinear(PER_ELEMENT["Sigmoid"], 1))
register(MS, "QLinearLeakyRelu", qlinear(PER_ELEMENT["LeakyRelu"], 1))
register(MS, "QLinearSoftmax", qlinear(SOFTMAX, 1))
register(MS, "QLinearConcat QLinearWhere", qlinear(0, 1))  # every input has its own scale
register(MS, "QLinearGlobalAveragePool", per_input(1))
register(MS, "QLinearReduceMean ReduceSumInteger", per_input(1))


@cost(MS, "QLinearAveragePool")
def qlinear_average_pool(v: NodeView) -> Cost:
    """Like AveragePool, optionally with channels last, then requantized."""
    padding, last = (bool(v.int_attr(name, 0)) for name in ("count_include_pad", "channels_last"))
    return Cost(0, covered(v, padding, last) + QUANTIZE * v.out_numel())


# ---- matrix products


@cost(MS, "QGemm", macs=True)
def qgemm(v: NodeView) -> Cost:
    """A (0), B (3), both with scale and zero point, and C (6); requantized if output scale 7 is present."""
    extra = (v.has(6) + (QUANTIZE if v.has(7) else 1)) * v.out_numel()
    return Cost.of(gemm_macs(v), extra)


@cost(MS, "MatMulInteger16", macs=True)
def matmul_integer16(v: NodeView) -> Cost:
    """16-bit MatMul."""
    return Cost.of(v.out_numel() * inner(v))


@cost(MS, "MatMulIntegerToFloat", macs=True)
def matmul_integer_to_float(v: NodeView) -> Cost:
    """8-bit A · B, scaled to float (×), plus bias (input 6)."""
    return Cost.of(v.out_numel() * inner(v), (1 + v.has(6)) * v.out_numel())


@cost(MS, "DynamicQuantizeMatMul", macs=True)
def dynamic_matmul(v: NodeView) -> Cost:
    """A is quantized at run time; the product is scaled to float (×), plus bias (input 4)."""
    extra = (DYNAMIC_RANGE + QUANTIZE) * v.numel(0) + (1 + v.has(4)) * v.out_numel()
    return Cost.of(v.out_numel() * inner(v), extra)


@cost(MS, "MatMulNBits", macs=True)
def matmul_nbits(v: NodeView) -> Cost:
    """A (…, K) · B, with B (N, K) packed in blocks: prod(Y) · K. B is dequantized once: 2 · N · K."""
    k, n = v.positive_attr("K"), v.positive_attr("N")
    bias = v.out_numel() if v.has(5) else 0
    return Cost.of(v.out_numel() * k, DEQUANTIZE * n * k + bias)


@cost(MS, "MatMulBnb4", macs=True)
def matmul_bnb4(v: NodeView) -> Cost:
    """Like MatMulNBits; a 4-bit code is looked up and multiplied by its block's absmax."""
    k, n = v.positive_attr("K"), v.positive_attr("N")
    return Cost.of(v.out_numel() * k, n * k)


@cost(MS, "MatMulFpQ4", macs=True)
def matmul_fpq4(v: NodeView) -> Cost:
    """A (…, K) · B of shape input 2 = (K, N), packed in 4-bit blocks."""
    return Cost.of(v.out_numel() * inner(v), DEQUANTIZE * inner(v) * (v.out()[-1] if v.out() else 1))


# ---- embeddings and normalization


@cost(MS, "GatherBlockQuantized")
def gather_block_quantized(v: NodeView) -> Cost:
    """Rows of a block-quantized table, dequantized: − zero point, × scale.

    Reads bits/8 bytes per output element, and the indices.
    """
    bits = v.positive_attr("bits", 4)
    if bits > 8:
        raise UnknownSize(f"attribute bits is {bits}")

    def read(w: NodeView) -> int:
        return (w.out_numel() * bits + 7) // 8 + w.bytes_in(1)

    return Cost(0, DEQUANTIZE * v.out_numel(), traffic(read, v))


@cost(MS, "QEmbedLayerNormalization")
def quantized_embed_layer_norm(v: NodeView) -> Cost:
    """Rows of 8-bit word, position and segment tables, dequantized and added, then LayerNorm."""
    tables = 2 + v.has(4)
    flops = tables * DEQUANTIZE + tables - 1 + LAYER_NORM + 2
    ids = [i for i in (0, 1, 7) if v.has(i)]

    def read(w: NodeView) -> int:
        return tables * w.out_numel() + sum(w.bytes_in(i) for i in ids)

    return Cost(0, flops * v.out_numel(), traffic(read, v))


register(MS, "DequantizeBFP QuantizeBFP", movement())
