"""softmax(Q·Kᵀ)·V in the forms that exporters write it, each by hand."""

from __future__ import annotations

import numpy as np
import pytest
from graph_maker import G

from py_autodoc.blocks.attention_layers.attention import find_attention

B, S, T, D, H, HD = 2, 6, 10, 32, 4, 8


def split(g, x, heads=H, size=HD, length=S, perm=(0, 2, 1, 3)):
    """(B, S, D) → (B, H, S, d)."""
    return g.op("Transpose", g.op("Reshape", x, g.ints(-1, length, heads, size)), perm=list(perm))


def merge(g, context, length=S, width=D):
    return g.op("Reshape", g.op("Transpose", context, perm=[0, 2, 1, 3]), g.ints(-1, length, width))


def scores(g, q, k, scale=True):
    made = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    return g.op("Mul", made, g.value(0.35)) if scale else made


def qkv(g, x, memory=None, length=T):
    """Q, K, V of four heads of eight."""
    source = x if memory is None else memory
    length = S if memory is None else length
    return (
        split(g, g.dense(x, D, D)),
        split(g, g.dense(source, D, D), length=length),
        split(g, g.dense(source, D, D), length=length),
    )


def finish(g, x, context):
    """Output projection and residual."""
    return g.op("Add", x, g.dense(merge(g, context), D, D))


def layer(g, weights, v, x):
    return finish(g, x, g.op("MatMul", weights, v))


def only(g, *outputs):
    """The one attention of a graph."""
    found = find_attention(g.flow(*outputs))
    assert len(found) == 1
    return found[0]


def check(made, **facts):
    expected = {
        "variant": "unfused", "kind": "self", "heads": H, "kv_heads": H, "head_dim": HD, "value_dim": HD,
        "hidden_size": D, "queries": S, "keys": S, "causal": False, "mask": False, "rotary": False,
        "relative_bias": False, "past": (), **facts,
    }  # fmt: skip
    assert {name: getattr(made, name) for name in expected} == expected


def between(g, how, opset=20):
    """A layer with ``how(g, scores)`` between Q·Kᵀ and the Softmax."""
    g = g if g is not None else G(opset, x=(B, S, D))
    q, k, v = qkv(g, "x")
    return g, layer(g, g.op("Softmax", how(g, scores(g, q, k, scale=False)), axis=-1), v, "x")


PRE = {
    "nothing": lambda g, s: s,
    "mul": lambda g, s: g.op("Mul", s, g.value(0.35)),
    "scale first": lambda g, s: g.op("Mul", g.value([0.35]), s),
    "div": lambda g, s: g.op("Div", s, g.value(2.8)),
    "div by a computed root": lambda g, s: g.op(
        "Div", s, g.op("Sqrt", g.op("Cast", g.value(8, np.int64), to=1))
    ),
    "cast": lambda g, s: g.op("Cast", g.op("Cast", s, to=10), to=1),
    "dropout": lambda g, s: g.op("Dropout", s),
    "soft cap": lambda g, s: g.op("Mul", g.op("Tanh", g.op("Div", s, g.value(50.0))), g.value(50.0)),
    "clip": lambda g, s: g.op("Clip", s, g.value(-1e4), g.value(1e4)),
    "identity": lambda g, s: g.op("Identity", s),
}


@pytest.mark.parametrize("name", PRE)
def test_between_scores_and_softmax(name):
    g, out = between(None, PRE[name])
    check(only(g, out))


POST = {
    "dropout": lambda g, p: g.op("Dropout", p),
    "cast": lambda g, p: g.op("Cast", p, to=1),
    "nan guard": lambda g, p: g.op("Where", g.op("IsNaN", p), g.value(0.0), p),
    "head mask": lambda g, p: g.op("Mul", p, g.value(np.ones((1, H, 1, 1)))),
    "quantized": lambda g, p: g.op(
        "DequantizeLinear",
        g.op("QuantizeLinear", p, g.value(0.01), g.value(0, np.uint8)),
        g.value(0.01), g.value(0, np.uint8),
    ),
    "renormalized": lambda g, p: g.op("Div", p, g.op("ReduceSum", p, g.ints(-1))),
}  # fmt: skip


@pytest.mark.parametrize("name", POST)
def test_between_softmax_and_values(name):
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    out = layer(g, POST[name](g, g.op("Softmax", scores(g, q, k), axis=-1)), v, "x")
    made = only(g, out)
    check(made)
    ops = {g.nodes[number].op_type for number in made.nodes}
    assert ("IsNaN" in ops) == (name == "nan guard")


def test_root_of_the_scale_on_both_sides():
    """As dynamo decomposes scaled_dot_product_attention: K through 3-D, √scale on Q and on K."""
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    k = g.op("Transpose", g.op("Reshape", k, g.ints(-1, S, HD)), perm=[0, 2, 1])
    k = g.op("Reshape", k, g.ints(B, H, HD, S))
    root = g.value(0.6)
    weights = g.op("Softmax", g.op("MatMul", g.op("Mul", q, root), g.op("Mul", k, root)), axis=-1)
    check(only(g, layer(g, weights, v, "x")))


def test_keys_already_transposed():
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    k = split(g, g.dense("x", D, D), perm=(0, 2, 3, 1))
    check(only(g, layer(g, g.op("Softmax", g.op("MatMul", q, k), axis=-1), v, "x")))


def test_nodes_reach_from_the_split_to_the_context():
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    out = layer(g, g.op("Softmax", scores(g, q, k), axis=-1), v, "x")
    made = only(g, out)
    ops = [g.nodes[number].op_type for number in made.nodes]
    assert sorted(ops) == sorted(
        ["Reshape", "Transpose"] * 3 + ["Transpose", "MatMul", "Mul", "Softmax", "MatMul"]
    )
    assert g.nodes[made.anchor].op_type == "Softmax"


@pytest.mark.parametrize("batch", [1, 3])
def test_sequence_first_and_heads_in_the_batch(batch):
    """torch.nn.MultiheadAttention through TorchScript: (S, B, E), packed projection, bmm on (B·H, S, d)."""
    g = G(x=(S, batch, D))
    packed = g.dense("x", D, 3 * D)
    packed = g.op("Reshape", packed, g.ints(S, batch, 3, D))
    packed = g.op(
        "Squeeze", g.op("Transpose", g.op("Unsqueeze", packed, g.ints(0)), perm=[3, 1, 2, 0, 4]), g.ints(3)
    )
    parts = [g.op("Gather", packed, g.value(i, np.int64), axis=0) for i in range(3)]
    q, k, v = (
        g.op("Transpose", g.op("Reshape", part, g.ints(S, batch * H, HD)), perm=[1, 0, 2]) for part in parts
    )
    made = g.op("MatMul", g.op("Mul", q, g.value(0.35)), g.op("Transpose", k, perm=[0, 2, 1]))
    context = g.op("MatMul", g.op("Softmax", made, axis=-1), v)
    flat = g.op("Reshape", g.op("Transpose", context, perm=[1, 0, 2]), g.ints(S * batch, D))
    out = g.op("Reshape", g.op("Gemm", flat, g.weight(D, D), g.weight(D)), g.ints(S, batch, D))
    check(only(g, g.op("Add", "x", out)))


def test_packed_product_with_heads_in_the_batch():
    """One product for Q, K and V, split as (3, heads, size), heads folded into the batch."""
    g = G(x=(B, S, D))
    packed = g.op("Reshape", g.dense("x", D, 3 * D), g.ints(B, S, 3, H, HD))
    packed = g.op("Reshape", g.op("Transpose", packed, perm=[2, 0, 3, 1, 4]), g.ints(3, B * H, S, HD))
    q, k, v = (g.op("Squeeze", p, g.ints(0)) for p in g.op("Split", packed, outputs=3, axis=0, num_outputs=3))
    weights = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1])), axis=-1)
    context = g.op("Reshape", g.op("MatMul", weights, v), g.ints(B, H, S, HD))
    check(only(g, finish(g, "x", context)))


@pytest.mark.parametrize(
    ("first", "second"),
    [("bhqd,bhkd->bhqk", "bhqk,bhkd->bhqd"), ("...qd,...kd->...qk", "...qk,...kd->...qd")],
)
def test_einsum(first, second):
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    weights = g.op("Softmax", g.op("Einsum", q, k, equation=first), axis=-1)
    check(only(g, finish(g, "x", g.op("Einsum", weights, v, equation=second))))


def test_einsum_with_heads_before_the_size():
    """Flax's layout: (B, S, H, d) all through, projections with a head axis of their own."""
    g = G(x=(B, S, D))
    q, k, v = (g.op("Einsum", "x", g.weight(D, H, HD), equation="bsd,dhk->bshk") for _ in range(3))
    weights = g.op("Softmax", g.op("Einsum", q, k, equation="bqhd,bkhd->bhqk"), axis=-1)
    context = g.op("Einsum", weights, v, equation="bhqk,bkhd->bqhd")
    out = g.op("Einsum", context, g.weight(H, HD, D), equation="bqhd,hde->bqe")
    made = only(g, g.op("Add", "x", out))
    assert (made.heads, made.head_dim, made.value_dim, made.kind) == (H, HD, HD, "self")


def test_repeated_key_heads():
    """repeat_kv of Llama: Unsqueeze, Expand, Reshape."""
    g = G(x=(B, S, D))
    q = split(g, g.dense("x", D, D))
    k, v = (split(g, g.dense("x", D, 16), heads=2) for _ in range(2))
    k, v = (
        g.op(
            "Reshape",
            g.op("Expand", g.op("Unsqueeze", t, g.ints(2)), g.ints(B, 2, 2, S, HD)),
            g.ints(B, H, S, HD),
        )
        for t in (k, v)
    )
    check(only(g, layer(g, g.op("Softmax", scores(g, q, k), axis=-1), v, "x")), kv_heads=2)


def test_grouped_product():
    """Grouped queries as a 5-D product against keys that broadcast."""
    g = G(x=(B, S, D))
    q = g.op("Transpose", g.op("Reshape", g.dense("x", D, D), g.ints(B, S, 2, 2, HD)), perm=[0, 2, 3, 1, 4])
    k, v = (g.op("Unsqueeze", split(g, g.dense("x", D, 16), heads=2), g.ints(2)) for _ in range(2))
    weights = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 2, 4, 3])), axis=-1)
    context = g.op("Reshape", g.op("MatMul", weights, v), g.ints(B, H, S, HD))
    check(only(g, finish(g, "x", context)), kv_heads=2)


def test_one_key_head():
    g = G(x=(B, S, D))
    q = split(g, g.dense("x", D, D))
    k, v = (g.op("Unsqueeze", g.dense("x", D, HD), g.ints(1)) for _ in range(2))
    check(only(g, layer(g, g.op("Softmax", scores(g, q, k), axis=-1), v, "x")), kv_heads=1)


def rotate_half(g, t, slices=True):
    half = HD // 2
    if slices:
        low = g.op("Slice", t, g.ints(0), g.ints(half), g.ints(3))
        high = g.op("Slice", t, g.ints(half), g.ints(HD), g.ints(3))
    else:
        low, high = g.op("Split", t, g.ints(half, half), outputs=2, axis=-1)
    turned = g.op("Concat", g.op("Neg", high), low, axis=-1)
    return g.op("Add", g.op("Mul", t, g.weight(1, 1, S, HD)), g.op("Mul", turned, g.weight(1, 1, S, HD)))


def interleaved(g, t):
    """x·cos − y·sin, x·sin + y·cos on pairs."""
    pairs = g.op("Reshape", t, g.ints(B, H, S, HD // 2, 2))
    x, y = (g.op("Squeeze", p, g.ints(-1)) for p in g.op("Split", pairs, outputs=2, axis=-1, num_outputs=2))
    cos, sin = g.weight(S, HD // 2), g.weight(S, HD // 2)
    a = g.op("Sub", g.op("Mul", x, cos), g.op("Mul", y, sin))
    b = g.op("Add", g.op("Mul", x, sin), g.op("Mul", y, cos))
    both = g.op("Concat", g.op("Unsqueeze", a, g.ints(-1)), g.op("Unsqueeze", b, g.ints(-1)), axis=-1)
    return g.op("Reshape", both, g.ints(B, H, S, HD))


ROTATIONS = {
    "slices": rotate_half,
    "split": lambda g, t: rotate_half(g, t, slices=False),
    "pairs": interleaved,
    "operator": lambda g, t: g.op(
        "RotaryEmbedding", t, g.value(np.zeros((1, S)), np.int64), *(g.weight(32, HD // 2) for _ in "cs"),
        domain="com.microsoft",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROTATIONS)
def test_rotary(name):
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    turn = ROTATIONS[name]
    weights = g.op("Softmax", scores(g, turn(g, q), turn(g, k)), axis=-1)
    check(only(g, layer(g, weights, v, "x")), rotary=True)


def test_rotary_from_positions():
    """Angles computed from the positions: a product of a table with them, then Cos and Sin."""
    g = G(x=(B, S, D), positions=(1, 1, S))
    q, k, v = qkv(g, "x")
    angle = g.op("Transpose", g.op("MatMul", g.weight(1, HD, 1), "positions"), perm=[0, 2, 1])
    cos, sin = (g.op("Unsqueeze", g.op(f, angle), g.ints(1)) for f in ("Cos", "Sin"))

    def turn(t):
        low, high = g.op("Split", t, g.ints(4, 4), outputs=2, axis=-1)
        turned = g.op("Concat", g.op("Neg", high), low, axis=-1)
        return g.op("Add", g.op("Mul", t, cos), g.op("Mul", turned, sin))

    check(only(g, layer(g, g.op("Softmax", scores(g, turn(q), turn(k)), axis=-1), v, "x")), rotary=True)


def test_normalized_heads_are_not_rotary():
    """Q and K normalized a head (Qwen3): the split is still seen behind the norm."""
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    weights = g.op("Softmax", scores(g, g.layer_norm(q, HD), g.layer_norm(k, HD)), axis=-1)
    check(only(g, layer(g, weights, v, "x")))


def test_cache():
    """Past keys and values joined to the new ones."""
    g = G(x=(B, 1, D), pk=(B, H, "past", HD), pv=(B, H, "past", HD))
    q, k, v = (split(g, g.dense("x", D, D), length=1) for _ in range(3))
    k, v = g.op("Concat", "pk", k, axis=2), g.op("Concat", "pv", v, axis=2)
    weights = g.op("Softmax", scores(g, q, k), axis=-1)
    out = g.op("Add", "x", g.dense(merge(g, g.op("MatMul", weights, v), length=1), D, D))
    flow = g.flow(out, k, v)
    (made,) = find_attention(flow)
    names = [flow.model.tensors[t].name for t in made.past]
    check(made, queries=1, keys="past + 1", causal=None, past=made.past)
    assert names == ["pk", "pv"]


def test_cross():
    g = G(x=(B, S, D), memory=(B, T, D))
    q, k, v = qkv(g, "x", "memory")
    check(only(g, layer(g, g.op("Softmax", scores(g, q, k), axis=-1), v, "x")), kind="cross", keys=T)


def test_cross_with_keys_from_outside():
    """Keys of the encoder computed once and fed to every step."""
    g = G(x=(B, S, D), keys=(B, H, T, HD), values=(B, H, T, HD))
    q = split(g, g.dense("x", D, D))
    made = only(g, layer(g, g.op("Softmax", scores(g, q, "keys"), axis=-1), "values", "x"))
    check(made, kind="cross", keys=T, past=made.past)
    assert len(made.past) == 2


def test_all_from_outside_is_unknown():
    g = G(q=(B, H, S, HD), k=(B, H, T, HD), v=(B, H, T, HD))
    weights = g.op("Softmax", scores(g, "q", "k"), axis=-1)
    made = only(g, g.op("MatMul", weights, "v"))
    check(made, kind="unknown", hidden_size=None, keys=T)
    assert made.confidence < 1


def test_self_with_positions_on_queries_and_keys():
    """DETR: positions are added to the input of Q and K, not of V."""
    g = G(x=(B, S, D), positions=(B, S, D))
    both = g.op("Add", "x", "positions")
    q, k = (split(g, g.dense(both, D, D)) for _ in range(2))
    v = split(g, g.dense("x", D, D))
    check(only(g, layer(g, g.op("Softmax", scores(g, q, k), axis=-1), v, "x")))


def test_self_with_keys_reduced_by_a_convolution():
    g = G(x=(B, 16, D))
    normed = g.layer_norm("x", D)
    grid = g.op("Reshape", g.op("Transpose", normed, perm=[0, 2, 1]), g.ints(B, D, 4, 4))
    grid = g.op("Conv", grid, g.weight(D, D, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
    few = g.layer_norm(g.op("Transpose", g.op("Reshape", grid, g.ints(B, D, 4)), perm=[0, 2, 1]), D)
    q = split(g, g.dense(normed, D, D), length=16)
    k, v = (split(g, g.dense(few, D, D), length=4) for _ in range(2))
    context = g.op("MatMul", g.op("Softmax", scores(g, q, k), axis=-1), v)
    out = g.op("Add", "x", g.dense(merge(g, context, length=16), D, D))
    check(only(g, out), queries=16, keys=4)


@pytest.mark.parametrize(("keys", "kind"), [("x", "self"), ("y", "cross")])
def test_pooled_queries(keys, kind):
    """Funnel: Q reads the mean of two positions each, K and V read all."""
    g = G(x=(B, 16, D), y=(B, 16, D))
    pooled = g.op("AveragePool", g.op("Unsqueeze", "x", g.ints(1)), kernel_shape=[2, 1], strides=[2, 1])
    pooled = g.op("Squeeze", pooled, g.ints(1))
    q = split(g, g.dense(pooled, D, D), length=8)
    k, v = (split(g, g.dense(keys, D, D), length=16) for _ in range(2))
    context = g.op("MatMul", g.op("Softmax", scores(g, q, k), axis=-1), v)
    out = g.op("Add", pooled, g.dense(merge(g, context, length=8), D, D))
    check(only(g, out), kind=kind, queries=8, keys=16)


@pytest.mark.parametrize(("keys", "kind"), [("x", "self"), ("y", "cross")])
def test_queries_and_keys_of_a_depthwise_convolution_each(keys, kind):
    """CvT: Q and the fewer K and V are convolved on the grid, the class token goes past it."""
    g = G(x=(B, 17, D), y=(B, 17, D))

    def grid(name):
        token, cells = g.op("Split", g.layer_norm(name, D), g.ints(1, 16), outputs=2, axis=1)
        return token, g.op("Reshape", g.op("Transpose", cells, perm=[0, 2, 1]), g.ints(B, D, 4, 4))

    def convolved(token, cells, stride, length):
        y = g.conv(cells, D, D, group=D, strides=[stride, stride])
        rows = g.op("Transpose", g.op("Reshape", y, g.ints(B, D, length)), perm=[0, 2, 1])
        return split(g, g.dense(g.op("Concat", token, rows, axis=1), D, D), length=length + 1)

    asked = grid("x")
    answering = asked if keys == "x" else grid(keys)
    q, k, v = convolved(*asked, 1, 16), convolved(*answering, 2, 4), convolved(*answering, 2, 4)
    context = g.op("MatMul", g.op("Softmax", scores(g, q, k), axis=-1), v)
    out = g.op("Add", "x", g.dense(merge(g, context, length=17), D, D))
    check(only(g, out), kind=kind, queries=17, keys=5)


def test_values_on_the_left():
    """Attention of convolutional detectors: Q, K, V (B, H, d, N) from one convolution, V · Pᵀ."""
    g = G(x=(B, D, 4, 4))
    packed = g.op("Conv", "x", g.weight(H * 16, D, 1, 1), kernel_shape=[1, 1])
    packed = g.op("Reshape", packed, g.ints(B, H, 16, 16))
    q, k, v = g.op("Split", packed, g.ints(4, 4, 8), outputs=3, axis=2)
    made = g.op("Mul", g.op("MatMul", g.op("Transpose", q, perm=[0, 1, 3, 2]), k), g.value(0.5))
    weights = g.op("Softmax", made, axis=-1)
    out = g.op("MatMul", v, g.op("Transpose", weights, perm=[0, 1, 3, 2]))
    check(only(g, out), head_dim=4, value_dim=8, queries=16, keys=16)


def test_non_local_block_has_one_head():
    g = G(x=(B, D, 4, 4))
    q, k, v = (
        g.op("Reshape", g.op("Conv", "x", g.weight(16, D, 1, 1), kernel_shape=[1, 1]), g.ints(B, 16, 16))
        for _ in range(3)
    )
    weights = g.op("Softmax", g.op("MatMul", g.op("Transpose", q, perm=[0, 2, 1]), k), axis=-1)
    out = g.op("MatMul", weights, g.op("Transpose", v, perm=[0, 2, 1]))
    check(only(g, out), heads=1, kv_heads=1, head_dim=16, value_dim=16, queries=16, keys=16)


def test_rows_of_a_grid_are_not_heads():
    """Axial attention without heads: the second axis of (B, rows, S, D) is no head axis."""
    g = G(x=(B, 5, S, D))
    q, k, v = (g.dense("x", D, D) for _ in range(3))
    weights = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), axis=-1)
    check(only(g, g.op("MatMul", weights, v)), heads=1, kv_heads=1, head_dim=D, value_dim=D)


def test_low_rank_queries():
    """Multi-head latent attention: Q's last projection reads a bottleneck, the stream is wider."""
    g = G(x=(B, S, D))
    q = split(g, g.dense(g.layer_norm(g.dense("x", D, 12), 12), 12, D))
    k, v = (split(g, g.dense("x", D, D)) for _ in range(2))
    check(only(g, layer(g, g.op("Softmax", scores(g, q, k), axis=-1), v, "x")), hidden_size=D)


def test_learned_query():
    """Attention pooling: a stored query asks the sequence."""
    g = G(x=(B, S, D))
    q = g.op("Reshape", g.weight(1, 1, D), g.ints(1, 1, H, HD))
    q = g.op("Transpose", q, perm=[0, 2, 1, 3])
    k, v = (split(g, g.dense("x", D, D)) for _ in range(2))
    made = only(g, g.op("MatMul", g.op("Softmax", scores(g, q, k), axis=-1), v))
    assert (made.kind, made.queries, made.keys, made.head_dim) == ("cross", 1, S, HD)


def test_unknown_lengths_stay_symbols():
    g = G(x=("batch", "seq", D))
    q, k, v = (split(g, g.dense("x", D, D), length=0) for _ in range(3))
    q, k, v = (
        g.op("Transpose", g.op("Reshape", g.dense("x", D, D), g.ints(0, 0, H, HD)), perm=[0, 2, 1, 3])
        for _ in range(3)
    )
    context = g.op("MatMul", g.op("Softmax", scores(g, q, k), axis=-1), v)
    flat = g.op("Reshape", g.op("Transpose", context, perm=[0, 2, 1, 3]), g.ints(0, 0, D))
    check(only(g, g.op("Add", "x", g.dense(flat, D, D))), queries="seq", keys="seq")


@pytest.mark.parametrize(("opset", "axis", "found"), [(11, 3, 1), (11, -1, 1), (11, 1, 0), (13, 3, 1)])
def test_softmax_axis_before_opset_13(opset, axis, found):
    """Before 13 a Softmax runs over all axes from ``axis`` on."""
    g = G(opset, x=(B, S, D))
    q, k, v = qkv(g, "x")
    out = layer(g, g.op("Softmax", scores(g, q, k), axis=axis), v, "x")
    assert len(find_attention(g.flow(out))) == found


def quantize(g, t, scale=0.02):
    return g.op(
        "DequantizeLinear",
        g.op("QuantizeLinear", t, g.value(scale), g.value(0, np.int8)),
        g.value(scale), g.value(0, np.int8),
    )  # fmt: skip


def test_quantized_around_every_product():
    g = G(x=(B, S, D))

    def dense(t):
        stored = g.op(
            "DequantizeLinear", g.value(np.ones((D, D)), np.int8), g.value(0.1), g.value(0, np.int8)
        )
        return quantize(g, g.op("Add", quantize(g, g.op("MatMul", quantize(g, t), stored)), g.weight(D)))

    q, k, v = (quantize(g, split(g, dense("x"))) for _ in range(3))
    made = quantize(g, g.op("MatMul", q, quantize(g, g.op("Transpose", k, perm=[0, 1, 3, 2]))))
    weights = quantize(g, g.op("Softmax", quantize(g, g.op("Mul", made, g.value(0.35))), axis=-1))
    context = quantize(g, g.op("MatMul", weights, v))
    check(only(g, g.op("Add", "x", dense(merge(g, context)))))


def test_dynamically_quantized():
    """MatMulInteger on operands quantized at run time."""
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")

    def multiply(a, b):
        (qa, sa, za), (qb, sb, zb) = (g.op("DynamicQuantizeLinear", t, outputs=3) for t in (a, b))
        return g.op("Mul", g.op("Cast", g.op("MatMulInteger", qa, qb, za, zb), to=1), g.op("Mul", sa, sb))

    made = multiply(q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    weights = g.op("Softmax", g.op("Mul", made, g.value(0.35)), axis=-1)
    check(only(g, finish(g, "x", multiply(weights, v))))


def test_integer_operators():
    """The QOperator format: QLinearMatMul and QLinearSoftmax."""
    g = G(x=(B, S, D))
    scale, zero = g.value(0.02), g.value(0, np.uint8)
    q, k, v = (g.op("QuantizeLinear", t, scale, zero) for t in qkv(g, "x"))
    k = g.op("Transpose", k, perm=[0, 1, 3, 2])
    made = g.op("QLinearMatMul", q, scale, zero, k, scale, zero, scale, zero)
    weights = g.op(
        "QLinearSoftmax", made, scale, zero, scale, zero, axis=-1, opset=13, domain="com.microsoft"
    )
    context = g.op("QLinearMatMul", weights, scale, zero, v, scale, zero, scale, zero)
    check(only(g, finish(g, "x", g.op("DequantizeLinear", context, scale, zero))))


def test_windows_in_the_batch_with_regions():
    """Shifted windows: a bias a head, then a mask a window through a 5-D view."""
    windows = 4
    g = G(x=(windows, S, D))
    q, k, v = qkv(g, "x")
    made = g.op("Add", scores(g, q, k), g.weight(1, H, S, S))
    made = g.op("Reshape", made, g.ints(1, windows, H, S, S))
    regions = np.where(np.arange(windows * S * S).reshape(1, windows, 1, S, S) % 3, 0, -100)
    made = g.op("Reshape", g.op("Add", made, g.value(regions)), g.ints(windows, H, S, S))
    made = only(g, layer(g, g.op("Softmax", made, axis=-1), v, "x"))
    check(made, mask=True, relative_bias=True)


def test_sinks_beside_the_keys():
    """A learned score a head that takes weight from the keys and is cut off after the Softmax."""
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    wide = g.op("Concat", scores(g, q, k), g.weight(B, H, S, 1), axis=-1)
    weights = g.op("Slice", g.op("Softmax", wide, axis=-1), g.ints(0), g.ints(S), g.ints(-1))
    check(only(g, layer(g, weights, v, "x")))
