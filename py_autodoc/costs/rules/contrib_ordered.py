"""Operators in layouts of their own: QOrdered* of com.microsoft (int8 for cublasLt), and channels last.

Source of the shapes: ONNX Runtime, docs/ContribOperators.md.
"""

from __future__ import annotations

from py_autodoc.costs.flop_weights import DEQUANTIZE, GELU_ERF, LAYER_NORM, PER_ELEMENT, QUANTIZE, SOFTMAX
from py_autodoc.costs.registry import Cost, NodeView, UnknownSize, cost, minimum
from py_autodoc.costs.rules._make import movement, per_input, per_output, register
from py_autodoc.costs.rules.attention import Heads, split
from py_autodoc.costs.rules.contrib_quant import qlinear
from py_autodoc.costs.rules.conv import fused_conv
from py_autodoc.costs.rules.matmul import gemm_extra, gemm_macs
from py_autodoc.costs.rules.pool import grid_sample
from py_autodoc.costs.windows import covered
from py_autodoc.graph.shapes.conv import NHWC

MS = "com.microsoft"

# ---- int8 in the layouts of cublasLt

register(MS, "QuantizeWithOrder", per_output(QUANTIZE))
register(MS, "DequantizeWithOrder", per_output(DEQUANTIZE))
register(MS, "QOrderedGelu", qlinear(GELU_ERF, 1))
register(MS, "QOrderedLayerNormalization", qlinear(LAYER_NORM + 2, 1))


@cost(MS, "QOrderedMatMul", macs=True)
def ordered_matmul(v: NodeView) -> Cost:
    """A (…, K) at 0 · B at 2, requantized; bias at 5, C at 6 with a factor of its own."""
    extra = (QUANTIZE + v.has(5) + 2 * v.has(6)) * v.out_numel()
    return Cost.of(v.out_numel() * v.dim(0, -1), extra)


@cost(MS, "QOrderedAttention", macs=True)
def ordered_attention(v: NodeView) -> Cost:
    """X (B, S, D) and three weights (D, N·H) at 5 to 7, biases at 11 to 13; results are requantized."""
    b, s, _ = v.dims(0, 3)
    heads = v.positive_attr("num_heads")
    widths = [v.dims(i, 2)[1] for i in (5, 6, 7)]
    n = Heads(b, heads, s, s, split((widths[0],), heads), split((widths[2],), heads))
    weights = sum(v.numel(i) for i in (5, 6, 7))
    projected = b * s * sum(widths)
    biases = b * s * sum(width for i, width in zip((11, 12, 13), widths, strict=True) if v.has(i))
    softmax = n.scores * (1 + SOFTMAX + 2 * QUANTIZE + v.has(17) + v.has(19))
    requantized = QUANTIZE * (projected + v.out_numel())
    return Cost.of(b * s * weights + n.macs, requantized + biases + softmax)


@cost(MS, "QOrderedLongformerAttention", macs=True)
def ordered_longformer(v: NodeView) -> Cost:
    """Like LongformerAttention: weight (D, 3D) at 2, bias at 4, global weight at 8."""
    b, s, d = v.dims(0, 3)
    heads = v.positive_attr("num_heads")
    n = Heads(
        b, heads, s, minimum(2 * v.positive_attr("window") + 1, s), split((d,), heads), split((d,), heads)
    )
    weights = v.numel(2) + (v.numel(8) if v.has(8) else 0)
    extra = b * s * 3 * d * (QUANTIZE + v.has(4)) + n.scores * (1 + SOFTMAX) + QUANTIZE * v.out_numel()
    return Cost.of(b * s * weights + n.macs, extra)


@cost(MS, "GemmFloat8", macs=True)
def gemm_float8(v: NodeView) -> Cost:
    """Gemm whose operands are scaled by one number each (inputs 3 and 4), as is the result (5)."""
    activation = v.text_attr("activation", "NONE")
    per_element = {"NONE": 0, "RELU": PER_ELEMENT["Relu"], "GELU": GELU_ERF}.get(activation.upper())
    if per_element is None:
        raise UnknownSize(f"fused activation {activation} is unknown")
    scaled = any(v.has(i) for i in (3, 4, 5))
    return Cost.of(gemm_macs(v), gemm_extra(v) + (scaled + per_element) * v.out_numel())


register(MS, "MulInteger", per_output(3))  # less both zero points, times
register(MS, "BitmaskBiasDropout", per_output(2))
cost(MS, "GridSample")(grid_sample)

# ---- channels last

cost(NHWC, "Conv", macs=True)(fused_conv)
register(NHWC, "GlobalAveragePool GlobalMaxPool", per_input(1))
register(NHWC, "GlobalLpPool", per_input(3))
register(NHWC, "BatchNormalization", per_input(2))
register(NHWC, "DepthToSpace SpaceToDepth", movement())


@cost(NHWC, "MaxPool")
def max_pool_last(v: NodeView) -> Cost:
    """One comparison per input element in a window."""
    return Cost(0, covered(v, channels_last=True))


@cost(NHWC, "AveragePool")
def average_pool_last(v: NodeView) -> Cost:
    """One operation per averaged element; padding counts only with count_include_pad."""
    return Cost(0, covered(v, bool(v.int_attr("count_include_pad", 0)), True))
