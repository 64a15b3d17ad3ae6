"""Layers of com.microsoft: states, paged caches, fused products of packed weights, blocked channels."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.graph.shapes import conv
from py_autodoc.graph.shapes.shape_context import FLOAT, INT32, MS, ShapeContext, rule
from py_autodoc.graph.symbolic_dims import dim_arithmetic

NCHWC = "com.microsoft.nchwc"
"""Blocked layout of ONNX Runtime on CPUs: channels are padded to the width of a register."""


def _dim(shape: Shape | None, axis: int) -> Dim:
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def _windowed(op: ShapeContext, state: Sequence[Dim]) -> Shape:
    """Return the shape of a state; ``state_window`` puts the states of the last positions in front."""
    slots = op.int_attr("state_window", 0)
    return (slots, *state) if slots > 0 else tuple(state)


@rule("LinearAttention", domain=MS)
def linear_attention(op: ShapeContext) -> None:
    """Packed (B, T, heads · d) → (B, T, max(query, key heads) · d_v) and the state (B, H_kv, d_k, d_v)."""
    q, v, past = op.shape(0), op.shape(2), op.shape(3)
    heads, kv = op.int_attr("q_num_heads", 0), op.int_attr("kv_num_heads", 0)
    op.set(0, None, op.dtype(0))
    op.set(1, past, op.dtype(3) or op.dtype(0))
    if q is None or len(q) != 3 or heads <= 0 or kv <= 0:
        return
    d_k, last = dim_arithmetic.floordiv(q[2], heads), _dim(v, 2)
    d_v = None if last is None else dim_arithmetic.floordiv(last, kv)
    op.set(0, (q[0], q[1], None if d_v is None else dim_arithmetic.mul(d_v, max(heads, kv))))
    if past is None:
        op.set(1, _windowed(op, (q[0], kv, d_k, d_v)))


@rule("CausalConvWithState", domain=MS)
def causal_conv(op: ShapeContext) -> None:
    """The output has the shape of the input; the state holds the positions before it."""
    x, w = op.shape(0), op.shape(1)
    op.same()
    op.set(1, op.shape(3), op.dtype(3) or op.dtype(0))
    if op.shape(3) is not None or x is None or len(x) < 3:
        return
    taps = _dim(w, -1)
    length = dim_arithmetic.mul(dim_arithmetic.sub(taps, 1), max(op.int_attr("dilation", 1), 1))
    state = (x[0], length, *x[2:]) if op.int_attr("channels_last", 0) else (*x[:-1], length)
    op.set(1, _windowed(op, state))


@rule("GatedDeltaNet", domain=MS)
def gated_delta_net(op: ShapeContext) -> None:
    """Query (…, heads, d_k) or packed QKV (tokens, width); state (B, H_v, d_v, d_k), always float."""
    q, value, state = op.shape(0), op.shape(2), op.shape(6)
    op.set(0, None, op.dtype(0))
    op.set(1, state, FLOAT)
    op.set(2, None, FLOAT)
    if q is None:
        return
    if op.has(2):
        if value is not None and len(value) == len(q) and len(q) > 2:
            op.set(0, (*q[:-2], dim_arithmetic.extreme(True, q[-2], value[-2]), value[-1]))
            if state is None and len(q) == 4:
                op.set(1, (q[0], value[-2], value[-1], q[-1]))
    elif state is not None and len(state) == 4:
        op.set(0, (*q[:-1], state[1], state[2]))
    capacity, keys = op.int_attr("state_update_capacity", 0), op.shape(1)
    if capacity > 0 and state is not None and len(state) == 4 and keys is not None and len(keys) > 2:
        key, delta = dim_arithmetic.mul(keys[-2], keys[-1]), dim_arithmetic.mul(state[1], state[2])
        row = dim_arithmetic.add(key, delta)
        op.set(2, (state[0], dim_arithmetic.mul(capacity, dim_arithmetic.add(row, state[1]))))


@rule("MRotaryEmbedding", domain=MS)
def rotary_of_sections(op: ShapeContext) -> None:
    """Output has the shape of the input."""
    op.same()


@rule("GatedRMSNorm", "BranchwiseRMSNorm", "GatedAdd", "ScaledSiLU", domain=MS)
def as_first(op: ShapeContext) -> None:
    """Type and shape of the first input."""
    op.same()


@rule("PagedAttention", domain=MS)
def paged_attention(op: ShapeContext) -> None:
    """Query (tokens, heads · d), or packed with key and value; the caches are updated in place."""
    q, heads = op.shape(0), op.int_attr("num_heads", 0)
    kv, value_head = op.int_attr("kv_num_heads", 0), op.int_attr("v_head_size", 0)
    op.set(0, None, op.dtype(0))
    for cache in (3, 4):
        op.set(cache - 2, op.shape(cache), op.dtype(cache))
    if q is None or len(q) != 2 or heads <= 0 or kv <= 0:
        return
    latent = op.text_attr("kv_cache_layout", "SEPARATE") == "LATENT"
    packed = not op.has(1) and not latent
    head = dim_arithmetic.floordiv(q[1], heads + 2 * kv if packed else heads)
    op.set(0, (q[0], dim_arithmetic.mul(value_head if value_head > 0 else head, heads)))


@rule("MatMulBlockQuantizedFp4Weight", "MatMulBlockQuantizedFp8Weight", domain=MS)
def block_quantized_product(op: ShapeContext) -> None:
    """A (…, K) and packed B (N, …) → (…, N)."""
    a = op.shape(0)
    op.set(0, (*a[:-1], _dim(op.shape(1), 0)) if a else None, op.dtype(0))


@rule("MatMulNBitsMlp", domain=MS)
def gated_products(op: ShapeContext) -> None:
    """Gate and up projection of one input: (…, K) → (…, N), and the sum with the skip input."""
    a, n = op.shape(0), op.int_attr("N", 0)
    op.set(0, (*a[:-1], n if n > 0 else None) if a else None, op.dtype(0))
    op.set(1, a, op.dtype(0))


@rule("MatMulNBitsQkv", domain=MS)
def packed_projections(op: ShapeContext) -> None:
    """Query, key and value: (…, K) → (…, Nq), (…, Nkv), (…, Nkv), and the sum with the skip input."""
    a = op.shape(0)
    for i, name in enumerate(("Nq", "Nkv", "Nkv")):
        n = op.int_attr(name, 0)
        op.set(i, (*a[:-1], n if n > 0 else None) if a else None, op.dtype(0))
    op.set(3, a, op.dtype(0))


@rule("BeamSearch", "WhisperBeamSearch", domain=MS)
def beam_search(op: ShapeContext) -> None:
    """Sequences (batch, returned, longest); they are shorter if all of them end before."""
    ids, longest, returned = op.shape(0), op.dims_in(1), op.dims_in(4)
    one = returned[0] if returned is not None and len(returned) == 1 else None
    limit = longest[0] if longest is not None and len(longest) == 1 else None
    op.set(0, (_dim(ids, 0), one, limit), INT32)
    op.set(1, (_dim(ids, 0), one), FLOAT)


@rule("GreedySearch", "Sampling", domain=MS)
def greedy_search(op: ShapeContext) -> None:
    """Sequences (batch, longest)."""
    longest = op.dims_in(1)
    limit = longest[0] if longest is not None and len(longest) == 1 else None
    op.set(0, (_dim(op.shape(0), 0), limit), INT32)


@rule("Conv", domain=NCHWC)
def blocked_conv(op: ShapeContext) -> None:
    """Like FusedConv: channels of the weight are padded already."""
    conv.conv(op)


@rule("MaxPool", "AveragePool", domain=NCHWC)
def blocked_pool(op: ShapeContext) -> None:
    """Like the operators of ai.onnx, on padded channels."""
    conv.pool(op)


@rule("GlobalMaxPool", "GlobalAveragePool", domain=NCHWC)
def blocked_global_pool(op: ShapeContext) -> None:
    """One position per channel."""
    x = op.shape(0)
    op.set(0, (*x[:2], *(1 for _ in x[2:])) if x is not None and len(x) > 2 else None, op.dtype(0))


@rule("ReorderInput", domain=NCHWC)
def reorder_input(op: ShapeContext) -> None:
    """Channels go first (from the end with ``channels_last``); their padding depends on the processor."""
    x = op.shape(0)
    if x is not None and len(x) > 2 and op.int_attr("channels_last", 0):
        x = (x[0], x[-1], *x[1:-1])
    op.set(0, x, op.dtype(0))


@rule("ReorderOutput", domain=NCHWC)
def reorder_output(op: ShapeContext) -> None:
    """``channels`` without the padding, at the end with ``channels_last``."""
    x, channels = op.shape(0), op.int_attr("channels", 0)
    op.set(0, None, op.dtype(0))
    if x is not None and len(x) > 2:
        c: Dim = channels if channels > 0 else x[1]
        op.set(0, (x[0], *x[2:], c) if op.int_attr("channels_last", 0) else (x[0], c, *x[2:]))


@rule("Upsample", domain=NCHWC)
def blocked_upsample(op: ShapeContext) -> None:
    """``scales`` are whole numbers, one per axis."""
    x, scales = op.shape(0), op.ints_attr("scales")
    op.set(0, None, op.dtype(0))
    if x is not None and scales is not None and len(scales) == len(x):
        op.set(0, tuple(dim_arithmetic.mul(d, s) for d, s in zip(x, scales, strict=True)))
