"""Operators of com.microsoft in layouts of their own, with sparse attention, n-gram memories and streams."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Dim
from py_autodoc.graph.shapes.contrib import channels_last
from py_autodoc.graph.shapes.conv import NHWC
from py_autodoc.graph.shapes.shape_context import FLOAT, INT32, INT64, MS, ShapeContext, broadcast, rule
from py_autodoc.graph.symbolic_dims import dim_arithmetic

_INT8 = 3


@rule("QuantizeWithOrder", domain=MS)
def quantize_with_order(op: ShapeContext) -> None:
    """The input as int8."""
    op.set(0, op.shape(0), _INT8)


@rule("DequantizeWithOrder", domain=MS)
def dequantize_with_order(op: ShapeContext) -> None:
    """The input as floats of the type ``to``."""
    op.set(0, op.shape(0), op.int_attr("to", FLOAT))


@rule("QOrderedGelu", "QOrderedLayerNormalization", "QOrderedLongformerAttention", domain=MS)
def as_first(op: ShapeContext) -> None:
    """Type and shape of the first input."""
    op.same()


@rule("QOrderedMatMul", domain=MS)
def ordered_matmul(op: ShapeContext) -> None:
    """A (…, M, K) · B (K, N), which may be stored transposed."""
    a, b = op.shape(0), op.shape(2)
    op.set(0, None, op.dtype(0))
    if a is not None and b is not None and len(a) > 1 and len(b) > 1:
        op.set(0, (*a[:-1], b[-1] if b[-2] == a[-1] else b[-2]))


@rule("QOrderedAttention", domain=MS)
def ordered_attention(op: ShapeContext) -> None:
    """X (B, S, D) → (B, S, width of V)."""
    x, w = op.shape(0), op.shape(7)
    op.set(0, None, op.dtype(0))
    if x is not None and len(x) == 3:
        op.set(0, (x[0], x[1], w[1] if w is not None and len(w) == 2 else None))


@rule("GemmFloat8", domain=MS)
def gemm_float8(op: ShapeContext) -> None:
    """A' (M, K) · B' (K, N), of the type ``dtype``."""
    a, b = op.shape(0), op.shape(1)
    op.set(0, None, op.int_attr("dtype", FLOAT))
    if a is not None and b is not None and len(a) == len(b) == 2:
        rows, columns = a[1 if op.int_attr("transA", 0) else 0], b[0 if op.int_attr("transB", 0) else 1]
        op.set(0, (rows, columns))


@rule("MulInteger", domain=MS)
def mul_integer(op: ShapeContext) -> None:
    """A (0) and B (2) broadcast; int32."""
    a, b = op.shape(0), op.shape(2)
    op.set(0, broadcast(a, b), INT32)


@rule("EngramGate", domain=MS)
def engram_gate(op: ShapeContext) -> None:
    """Key (B, S, C, D): the output, and the same normalized."""
    op.same()
    op.set(1, op.shape(0), op.dtype(0))


@rule("HyperConnectionPostMix", domain=MS)
def post_mix(op: ShapeContext) -> None:
    """The streams."""
    op.same()


@rule("HyperConnectionPreMix", domain=MS)
def pre_mix(op: ShapeContext) -> None:
    """(…, C, H) → (…, H), or (…, C · H) with num_branches."""
    x, branches = op.shape(0), op.int_attr("num_branches", 0)
    op.set(0, None, op.dtype(0))
    if x is None or len(x) < 2:
        return
    gates = op.shape(1)
    flat = branches > 0 and (gates is None or len(x) <= len(gates) or x[-2] != branches)
    if flat and x[-2] != branches:
        op.set(0, (*x[:-1], dim_arithmetic.floordiv(x[-1], branches)))
    else:
        op.set(0, (*x[:-2], x[-1]))


@rule("LinearAttentionGate", domain=MS)
def linear_attention_gate(op: ShapeContext) -> None:
    """Decay like a (0), beta like b (3)."""
    op.same()
    op.set(1, op.shape(3), op.dtype(3))


@rule("NGramHashMapping", domain=MS)
def ngram_hashes(op: ShapeContext) -> None:
    """Ids (B, S) → (B, S, (N − 1) · heads), and the last N − 1 ids."""
    ids, largest = op.shape(0), op.int_attr("max_ngram_size", 0)
    heads: Dim = op.int_attr("n_head_per_ngram", 0)
    op.set(0, None, op.dtype(0) or INT64)
    op.set(1, None, op.dtype(0) or INT64)
    if ids is not None and len(ids) == 2 and largest > 0:
        op.set(0, (*ids, dim_arithmetic.mul(largest - 1, heads)))
        op.set(1, (ids[0], largest - 1))


@rule("DynamicSparseAttention", domain=MS)
def dynamic_sparse_attention(op: ShapeContext) -> None:
    """Query (B, S, N · H), or packed with key and value; caches (B, N_kv, P, H) grow by S."""
    q, past = op.shape(0), op.shape(3)
    heads, kv = op.int_attr("num_heads", 0), op.int_attr("kv_num_heads", 0)
    op.set(0, None, op.dtype(0))
    for output in (1, 2):
        op.set(output, None, op.dtype(output + 2) or op.dtype(0))
    if q is None or len(q) != 3 or heads <= 0 or kv <= 0:
        return
    head = dim_arithmetic.floordiv(q[2], heads if op.has(1) else heads + 2 * kv)
    op.set(0, (q[0], q[1], dim_arithmetic.mul(head, heads)))
    before = past[2] if past is not None and len(past) == 4 else None if op.has(3) else 0
    for output in (1, 2):
        op.set(output, (q[0], kv, dim_arithmetic.add(before, q[1]), head))


# ---- channels last


@rule("Conv", domain=NHWC)
def conv_last(op: ShapeContext) -> None:
    """[N, …, C] with weight [M, C/group, k…] → [N, …, M]."""
    channels_last(op, 1, op.dtype(0))


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", domain=NHWC)
def global_pool_last(op: ShapeContext) -> None:
    """[N, …, C] → [N, 1…, C]."""
    x = op.shape(0)
    op.set(0, None if x is None else (x[0], *(1 for _ in x[1:-1]), x[-1]), op.dtype(0))


@rule("BatchNormalization", domain=NHWC)
def normalization_last(op: ShapeContext) -> None:
    """Type and shape of the first input."""
    op.same()
