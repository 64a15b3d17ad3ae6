"""Attention and embedding operators of ai.onnx and com.microsoft."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.graph.shapes.shape_context import INT32, MS, InvalidNode, ShapeContext, rule
from py_autodoc.graph.symbolic_dims import dim_arithmetic


def _heads(op: ShapeContext, name: str, default: int = 0) -> int:
    n = op.int_attr(name, default)
    if n <= 0:
        raise InvalidNode("bad-attribute", f"{name} is {n}")
    return n


@rule("Attention")
def attention(op: ShapeContext) -> None:
    """Q, K, V of rank 3 [B, S, heads·d] or 4 [B, heads, S, d]; optional past and present."""
    q, k, v = op.shape(0), op.shape(1), op.shape(2)
    op.set(0, None, op.dtype(0))
    op.set(1, None, op.dtype(4) or op.dtype(1))
    op.set(2, None, op.dtype(5) or op.dtype(2))
    op.set(3, None, op.dtype(0))
    if q is None or k is None or v is None:
        return
    if len(q) == 3:
        qh, kvh = _heads(op, "q_num_heads"), _heads(op, "kv_num_heads")
        heads: Dim = qh
        kv_heads: Dim = kvh
        batch, seq, total = q[0], q[1], k[1]
        dk, dv = dim_arithmetic.floordiv(k[2], kvh), dim_arithmetic.floordiv(v[2], kvh)
        op.set(0, (batch, seq, dim_arithmetic.mul(dv, qh)))
    elif len(q) == 4 and len(k) == 4 and len(v) == 4:
        batch, heads, seq = q[0], q[1], q[2]
        kv_heads, total, dk, dv = k[1], k[2], k[3], v[3]
        op.set(0, (batch, heads, seq, dv))
    else:
        raise InvalidNode("shape-mismatch", f"query has rank {len(q)}, key {len(k)}, value {len(v)}")
    past = op.shape(4)
    if op.has(4):
        total = dim_arithmetic.add(total, past[2]) if past is not None and len(past) == 4 else None
    op.set(1, (batch, kv_heads, total, dk))
    op.set(2, (batch, kv_heads, total, dv))
    op.set(3, (batch, heads, seq, total))


@rule("Attention", "QAttention", domain=MS)
def packed_attention(op: ShapeContext) -> None:
    """Input [B, S, in], packed weight [in, q + k + v]; output [B, S, v]."""
    x, w = op.shape(0), op.shape(1)
    quantized = op.node.op_type == "QAttention"
    dtype = op.dtype(3) if quantized else op.dtype(0)
    op.set(0, None, dtype)
    op.set(1, None, dtype)
    if x is None or len(x) != 3:
        return
    heads = _heads(op, "num_heads")
    sizes = op.ints_attr("qkv_hidden_sizes")
    if sizes:
        hidden: Dim = sizes[-1]
    else:
        hidden = dim_arithmetic.floordiv(w[1], 3) if w is not None and len(w) == 2 else None
    op.set(0, (x[0], x[1], hidden))
    past = op.shape(8 if quantized else 4)
    before = past[3] if past is not None and len(past) == 5 else 0
    if op.has(8 if quantized else 4) and past is None:
        before = None
    total = before if op.int_attr("past_present_share_buffer", 0) else dim_arithmetic.add(before, x[1])
    op.set(1, (2, x[0], heads, total, dim_arithmetic.floordiv(hidden, heads)))


@rule("MultiHeadAttention", "DecoderMaskedMultiHeadAttention", domain=MS)
def multi_head_attention(op: ShapeContext) -> None:
    """Query [B, S, D] (or packed [B, S, heads, 3, d]); present [B, heads, total, d]."""
    q, k, v = op.shape(0), op.shape(1), op.shape(2)
    for i in range(4):
        op.set(i, None, op.dtype(0))
    if q is None:
        return
    heads = _heads(op, "num_heads")
    if len(q) == 5:
        op.set(0, (q[0], q[1], dim_arithmetic.mul(q[2], q[4])))
        return
    if len(q) != 3:
        raise InvalidNode("shape-mismatch", f"the query has rank {len(q)}")
    head = dim_arithmetic.floordiv(q[2], heads)
    if k is not None and len(k) == 5:
        op.set(0, q)
        total: Dim = k[1]
        value: Dim = q[2]
    elif v is not None and len(v) == 4:
        value, total = dim_arithmetic.mul(v[1], v[3]), v[2]
    elif v is not None and len(v) == 3:
        value, total = v[2], v[1]
    else:
        value, total = (q[2], q[1]) if not op.has(1) else (None, None)
    op.set(0, (q[0], q[1], value))
    masked = op.node.op_type.startswith("Decoder")
    past = op.shape(5 if masked else 6)
    if past is not None and len(past) == 4:
        total = past[2] if op.int_attr("past_present_share_buffer", 0) else dim_arithmetic.add(total, past[2])
    op.set(1, (q[0], heads, total, head))
    op.set(2, (q[0], heads, total, dim_arithmetic.floordiv(value, heads)))
    op.set(3, (q[0], heads, q[1], total))


def is_packed(op: ShapeContext) -> bool:
    """Return whether query holds key and value as well: these are absent, or have no width."""
    key = op.shape(1)
    return not op.has(1) or (key is not None and len(key) == 3 and key[2] == 0)


@rule("GroupQueryAttention", domain=MS)
def group_query_attention(op: ShapeContext) -> None:
    """Query [B, S, heads·d], or packed with key and value when those are absent."""
    q = op.shape(0)
    for i in range(4):
        # Present has the type of past, which may be quantized.
        op.set(i, None, op.dtype(i + 2) if i in (1, 2) and op.has(i + 2) else op.dtype(0))
    heads, kv = _heads(op, "num_heads"), _heads(op, "kv_num_heads")
    if q is None or len(q) != 3:
        return
    packed = is_packed(op)
    head = dim_arithmetic.floordiv(q[2], heads + 2 * kv if packed else heads)
    op.set(0, (q[0], q[1], dim_arithmetic.mul(head, heads)))
    past, total_dims = op.shape(3), op.dims_in(6)
    total: Dim = total_dims[0] if total_dims is not None and len(total_dims) == 1 else None
    if total is None and not op.has(3):
        total = q[1]
    elif total is not None and op.has(3):
        # Past may be a buffer shared with present, which then has the buffer's length.
        length = past[2] if past is not None and len(past) == 4 else None
        total = None if length is None else dim_arithmetic.extreme(True, total, length)
    key = op.shape(1)
    if key is not None and len(key) == 3 and key[1] == 0:  # nothing is added: present is past
        total = past[2] if past is not None and len(past) == 4 else 0 if not op.has(3) else None
    for output, source in ((1, 3), (2, 4)):
        op.set(output, (q[0], kv, total, _stored_width(op, source, head)))


def _stored_width(op: ShapeContext, past: int, head: Dim) -> Dim:
    """Return the last size of a cache: that of past, or of a head, of which 4 bits are two in a byte."""
    shape = op.shape(past)
    if shape is not None and len(shape) == 4:
        return shape[3]
    packed = op.int_attr("kv_cache_bit_width", 0) == 4
    return dim_arithmetic.ceildiv(head, 2) if packed else head


@rule("RotaryEmbedding")
def rotary(op: ShapeContext) -> None:
    """Output has the shape of the input."""
    op.same()


@rule("EmbedLayerNormalization", "QEmbedLayerNormalization", domain=MS)
def embed_layer_norm(op: ShapeContext) -> None:
    """[B, S] ids → [B, S, hidden], a mask index [B] and, optionally, the sum before the norm."""
    ids, words = op.shape(0), op.shape(2)
    dtype = op.dtype(2) if op.node.op_type[0] == "E" else 1
    hidden = words[1] if words is not None and len(words) == 2 else None
    out: Shape | None = (*ids, hidden) if ids is not None else None
    op.set(0, out, dtype)
    op.set(1, (ids[0],) if ids else None, INT32)
    op.set(2, out, dtype)


@rule("SparseAttention", domain=MS)
def sparse_attention(op: ShapeContext) -> None:
    """Like GroupQueryAttention, with past and present in one buffer."""
    q = op.shape(0)
    for i in range(3):
        op.set(i, None, op.dtype(0))
    heads, kv = _heads(op, "num_heads"), _heads(op, "kv_num_heads")
    if q is not None and len(q) == 3:
        head = dim_arithmetic.floordiv(q[2], heads + 2 * kv if is_packed(op) else heads)
        op.set(0, (q[0], q[1], dim_arithmetic.mul(head, heads)))
    op.set(1, op.shape(3))
    op.set(2, op.shape(4))


@rule("PackedAttention", domain=MS)
def padding_free_attention(op: ShapeContext) -> None:
    """Input [tokens, in], packed weight [in, q + k + v] → [tokens, v]."""
    x, w, sizes = op.shape(0), op.shape(1), op.ints_attr("qkv_hidden_sizes")
    hidden: Dim = (
        sizes[-1] if sizes else dim_arithmetic.floordiv(w[1], 3) if w is not None and len(w) == 2 else None
    )
    op.set(0, (x[0] if x else None, hidden), op.dtype(0))


@rule("PackedMultiHeadAttention", domain=MS)
def padding_free_multi_head(op: ShapeContext) -> None:
    """Query [tokens, D], or packed [tokens, heads, 3, d] → [tokens, value width]."""
    q, v = op.shape(0), op.shape(2)
    op.set(0, None, op.dtype(0))
    if q is not None and len(q) == 4:
        op.set(0, (q[0], dim_arithmetic.mul(q[1], q[3])))
    elif q is not None and len(q) == 2:
        op.set(0, (q[0], v[1] if v is not None and len(v) == 2 else None))


@rule("DecoderMaskedSelfAttention", domain=MS)
def decoder_self_attention(op: ShapeContext) -> None:
    """Input [B, 1, in], packed weight; the past buffer is shared with present."""
    x, w = op.shape(0), op.shape(1)
    hidden = dim_arithmetic.floordiv(w[1], 3) if w is not None and len(w) == 2 else None
    op.set(0, (x[0], x[1], hidden) if x is not None and len(x) == 3 else None, op.dtype(0))
    op.set(1, op.shape(4), op.dtype(4) or op.dtype(0))
