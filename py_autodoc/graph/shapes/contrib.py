"""Operators of com.microsoft except attention and quantized arithmetic."""

from __future__ import annotations

from py_autodoc.graph.shapes import conv, indexing, reducing
from py_autodoc.graph.shapes.linear import product_shape
from py_autodoc.graph.shapes.shape_context import BOOL, INT32, MS, InvalidNode, ShapeContext, broadcast, rule
from py_autodoc.graph.symbolic_dims import dim_arithmetic


@rule(
    "BiasAdd", "BiasGelu", "BiasSoftmax", "BitmaskBiasDropout", "FastGelu", "Gelu", "GroupNorm", "Inverse",
    "LongformerAttention", "MoE", "QMoE", "QLongformerAttention", "QuickGelu", "RotaryEmbedding",
    "SimplifiedLayerNormalization", "SkipGroupNorm", "Trilu", domain=MS,
)  # fmt: skip
@rule("SimplifiedLayerNormalization")  # registered in ai.onnx by ONNX Runtime
def as_input(op: ShapeContext) -> None:
    """Type and shape of the first input."""
    op.same()


@rule("BiasDropout", "BitmaskDropout", domain=MS)
def dropout(op: ShapeContext) -> None:
    """The mask of BiasDropout is boolean; that of BitmaskDropout is packed and left open."""
    op.same()
    if op.node.op_type == "BiasDropout":
        op.set(1, op.shape(0), BOOL)


@rule("BiasSplitGelu", domain=MS)
def bias_split_gelu(op: ShapeContext) -> None:
    """The gate halves the last axis."""
    shape = op.shape(0)
    op.set(0, (*shape[:-1], dim_arithmetic.floordiv(shape[-1], 2)) if shape else None, op.dtype(0))


@rule("GemmaRotaryEmbedding", domain=MS)
def gemma_rotary(op: ShapeContext) -> None:
    """Two rotated tensors, as inputs 1 and 3 (query, key) in float16."""
    op.set(0, op.shape(1), op.dtype(1))
    op.set(1, op.shape(3), op.dtype(3))


@rule("NhwcConv", "NhwcFusedConv", domain=MS)
def nhwc_conv(op: ShapeContext) -> None:
    """[N, …, C] with weight [M, C/group, k…] → [N, …, M]."""
    channels_last(op, 1, op.dtype(0))


def channels_last(op: ShapeContext, weight_at: int, dtype: int) -> None:
    """A convolution whose activations have the channels last."""
    x, weight = op.shape(0), op.shape(weight_at)
    op.set(0, None, dtype)
    if op.int_attr("group", 1) <= 0:
        raise InvalidNode("bad-attribute", f"group is {op.int_attr('group', 1)}")
    if x is None or weight is None or len(x) != len(weight) or len(x) < 3:
        return
    w = conv.window(op, weight[2:], len(x) - 2)
    op.set(0, (x[0], *(conv.window_count(w, i, d) for i, d in enumerate(x[1:-1])), weight[0]))


@rule("QLinearConv", domain=MS)
def qlinear_conv(op: ShapeContext) -> None:
    """As ai.onnx, or with the channels last."""
    if op.int_attr("channels_last", 0):
        channels_last(op, 3, op.dtype(7) or op.dtype(0))
    else:
        conv.qlinear_conv(op)


@rule("MatMulInteger16", domain=MS)
def matmul_integer16(op: ShapeContext) -> None:
    """16-bit operands, int32 result."""
    op.set(0, None, INT32)
    op.set(0, product_shape(op.shape(0), op.shape(1)))


@rule("Range", domain=MS)
def range_(op: ShapeContext) -> None:
    """The step may be omitted."""
    if len(op.inputs) > 2:
        reducing.range_(op)
    else:
        op.set(0, (op.fresh(),), op.dtype(0))


@rule("GatherND", domain=MS)
def gather_nd(op: ShapeContext) -> None:
    """As ai.onnx without batch dimensions."""
    indexing.gather_nd(op)


@rule("TorchEmbedding", domain=MS)
def embedding(op: ShapeContext) -> None:
    """Rows of the table for each index."""
    table, index = op.shape(0), op.shape(1)
    op.set(0, (*index, *table[1:]) if table and index is not None else None, op.dtype(0))


@rule("CDist", domain=MS)
def cdist(op: ShapeContext) -> None:
    """Distances between rows, [n, m]."""
    a, b = op.shape(0), op.shape(1)
    op.set(0, (a[0] if a else None, b[0] if b else None), op.dtype(0))


@rule("ComplexMul", "ComplexMulConj", domain=MS)
def complex_mul(op: ShapeContext) -> None:
    """Broadcast."""
    op.set(0, None, op.dtype(0))
    op.set(0, broadcast(op.shape(0), op.shape(1)))


@rule("IsAllFinite", domain=MS)
def is_all_finite(op: ShapeContext) -> None:
    """One boolean."""
    op.set(0, (), BOOL)


@rule("ReduceSumInteger", domain=MS)
def reduce_sum_integer(op: ShapeContext) -> None:
    """8-bit input, int32 sums."""
    shape, axes = op.shape(0), op.ints_attr("axes")
    keepdims = bool(op.int_attr("keepdims", 1))
    op.set(0, reducing.reduced(shape, axes, keepdims) if shape is not None and axes else None, INT32)


@rule("RemovePadding", domain=MS)
def remove_padding(op: ShapeContext) -> None:
    """[B, S, H] → tokens [n, H], their places, cumulated lengths [B + 1], the longest."""
    x = op.shape(0)
    if x is None or len(x) != 3:
        return
    op.set(0, (op.fresh(0), x[2]), op.dtype(0))
    op.set(1, (x[0], x[1]), INT32)
    op.set(2, (dim_arithmetic.add(x[0], 1),), INT32)
    op.set(3, (1,), INT32)


@rule("RestorePadding", domain=MS)
def restore_padding(op: ShapeContext) -> None:
    """[n, H] and places [B, S] → [B, S, H]."""
    x, positions = op.shape(0), op.shape(1)
    has_ranks = x is not None and positions is not None and len(x) == 2 and len(positions) == 2
    op.set(0, (*positions, x[1]) if has_ranks and x and positions else None, op.dtype(0))


@rule("GatherBlockQuantized", domain=MS)
def gather_block_quantized(op: ShapeContext) -> None:
    """Rows of a packed table, in the type of the scales."""
    op.set(0, None, op.dtype(2))
    data, index = op.shape(0), op.shape(1)
    if data is None or index is None:
        return
    axis = op.axis(len(data), "gather_axis")
    last = data[-1]
    if op.dtype(0) == 2 and op.int_attr("bits", 4) < 8:
        last = dim_arithmetic.mul(last, 8 // max(op.int_attr("bits", 4), 1))
    op.set(0, (*data[:axis], *index, *data[axis + 1 : -1], last) if axis < len(data) - 1 else None)


@rule("NGramRepeatBlock", domain=MS)
def ngram_repeat(op: ShapeContext) -> None:
    """Scores keep their shape."""
    op.set(0, op.shape(1), op.dtype(1))
