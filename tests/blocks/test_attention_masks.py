"""Causal or not, by the mask; and what looks like attention but is not."""

from __future__ import annotations

import numpy as np
import pytest
from graph_maker import G, flows
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from test_attention_forms import HD, B, D, H, S, between, check, finish, only, qkv, scores, split

from py_autodoc.blocks.attention_layers.attention import find_attention
from py_autodoc.blocks.attention_layers.attention_mask import mask_table_kinds

LOW = -3.4e38


def yes(g, table):
    """A constant of booleans."""
    return g.value(table, bool)


def shape_of(g, t):
    return g.op("Gather", g.op("Shape", t), g.ints(1))


def arange(g):
    """0 … S-1, the length taken from the input at run time."""
    length = g.op("Squeeze", shape_of(g, "x"))
    return g.op("Range", g.value(0, np.int64), length, g.value(1, np.int64))


def keys_and_queries(g):
    steps = arange(g)
    return g.op("Unsqueeze", steps, g.ints(0, 1, 2)), g.op("Unsqueeze", steps, g.ints(0, 1, 3))


def shown(g, scores_, test):
    return g.op("Add", scores_, g.op("Where", test, g.value(0.0), g.value(LOW)))


def hidden(g, scores_, test):
    return g.op("Where", test, g.value(LOW), scores_)


def trilu(g, s, upper, k, base):
    full = g.op("Expand", g.value(base), g.op("Concat", shape_of(g, "x"), shape_of(g, "x"), axis=0))
    return g.op("Trilu", full, g.value(k, np.int64), upper=upper)


def order(op, flip=False, offset=0, show=True):
    def build(g, s):
        keys, queries = keys_and_queries(g)
        if offset:
            queries = g.op("Add", queries, g.value(offset, np.int64))
        test = g.op(op, *((queries, keys) if flip else (keys, queries)))
        return shown(g, s, test) if show else hidden(g, s, test)

    return build


def old_torch(g, s):
    """mask_cond < (mask_cond + 1).view(-1, 1) fills the lower triangle with 0."""
    steps = arange(g)
    column = g.op("Reshape", g.op("Add", steps, g.value(1, np.int64)), g.ints(-1, 1))
    return g.op("Add", s, g.op("Where", g.op("Less", steps, column), g.value(0.0), g.value(LOW)))


def window(g, s):
    """The last three keys: two comparisons joined."""
    keys, queries = keys_and_queries(g)
    near = g.op("Greater", keys, g.op("Sub", queries, g.value(3, np.int64)))
    return shown(g, s, g.op("And", near, g.op("LessOrEqual", keys, queries)))


def both_ways(g, s):
    """Three keys on both sides."""
    keys, queries = keys_and_queries(g)
    after = g.op("LessOrEqual", g.op("Sub", queries, g.value(3, np.int64)), keys)
    return shown(
        g, s, g.op("And", after, g.op("LessOrEqual", keys, g.op("Add", queries, g.value(3, np.int64))))
    )


def difference(g, s):
    keys, queries = keys_and_queries(g)
    return hidden(g, s, g.op("Greater", g.op("Sub", keys, queries), g.value(0, np.int64)))


def gpt2_of_old(g, s):
    """w·b − 1e4·(1 − b) with the lower triangle b."""
    lower = np.tril(np.ones((1, 1, S, S), np.float32))
    kept = g.op("Mul", s, g.value(lower))
    return g.op("Sub", kept, g.op("Mul", g.op("Sub", g.value(1.0), g.value(lower)), g.value(1e4)))


CAUSAL = {
    "added triangle": lambda g, s: g.op("Add", s, g.value(np.triu(np.full((1, 1, S, S), LOW), 1))),
    "chosen triangle": lambda g, s: g.op("Where", yes(g, np.tri(S)), s, g.value(LOW)),
    "hidden triangle": lambda g, s: hidden(g, s, yes(g, np.triu(np.ones((S, S)), 1))),
    "triangle as numbers": lambda g, s: hidden(
        g, s, g.op("Equal", g.value(np.tri(S)[None, None]), g.value(0.0))
    ),
    "multiplied": gpt2_of_old,
    "Trilu of infinity": lambda g, s: g.op("Add", s, trilu(g, s, 1, 1, LOW)),
    "Trilu of ones": lambda g, s: shown(g, s, g.op("Cast", trilu(g, s, 0, 0, 1.0), to=TensorProto.BOOL)),
    "keys ≤ queries": order("LessOrEqual"),
    "queries ≥ keys": order("GreaterOrEqual", flip=True),
    "keys > queries hidden": order("Greater", show=False),
    "queries < keys hidden": order("Less", flip=True, show=False),
    "keys < queries + 1": order("Less", offset=1),
    "as torch wrote it": old_torch,
    "window": window,
    "difference": difference,
    "with padding": lambda g, s: shown(g, order("LessOrEqual")(g, s), yes(g, np.ones((B, 1, 1, S)))),
}  # fmt: skip


@pytest.mark.parametrize("name", CAUSAL)
def test_causal(name):
    g, out = between(None, CAUSAL[name])
    check(only(g, out), causal=True, mask=True)


NOT_CAUSAL = {
    "one row for all queries": lambda g, s: g.op("Add", s, g.value(np.full((B, 1, 1, S), LOW))),
    "rows and columns": lambda g, s: shown(
        g, s, g.op("And", yes(g, np.ones((1, 1, S, 1))), yes(g, np.arange(S).reshape(1, 1, 1, S) < 4))
    ),
    "both ways": both_ways,
    "a block": lambda g, s: shown(g, s, yes(g, np.kron(np.eye(2), np.ones((S // 2, S // 2))))),
    "the other way round": lambda g, s: shown(g, s, yes(g, np.triu(np.ones((S, S))))),
}


@pytest.mark.parametrize("name", NOT_CAUSAL)
def test_not_causal(name):
    g, out = between(None, NOT_CAUSAL[name])
    check(only(g, out), causal=False, mask=True)


def test_a_mask_that_hides_nothing_is_none():
    g, out = between(None, lambda g, s: shown(g, s, yes(g, np.ones((1, 1, S, S)))))
    check(only(g, out))


def test_mask_that_is_fed_cannot_be_told():
    g, out = between(G(x=(B, S, D), mask=(B, 1, S, S)), lambda g, s: g.op("Add", s, "mask"))
    check(only(g, out), causal=None, mask=True)


def test_padding_that_is_fed_is_not_causal():
    g, out = between(G(x=(B, S, D), mask=(B, 1, 1, S)), lambda g, s: g.op("Add", s, "mask"))
    check(only(g, out), causal=False, mask=True)


def test_constant_whose_values_are_not_in_reach_cannot_be_told():
    """A table in a file that is not there: one for all heads is a mask of unknown form."""
    g, out = between(None, lambda g, s: shown(g, s, yes(g, np.ones((1, 1, S, S)))))
    model = g.model(out)
    table = next(t for t in model.graph.initializer if t.data_type == TensorProto.BOOL)
    table.ClearField("raw_data")
    table.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "gone.bin"), ("offset", "0"), ("length", str(S * S))):
        table.external_data.add(key=key, value=value)
    (made,) = find_attention(flows(model)[0])
    check(made, causal=None, mask=True)


def test_bias_looked_up_by_distance():
    """T5: a table of 8 distances by heads, looked up and turned to the front."""

    def bias(g, s):
        far = g.value(np.abs(np.subtract.outer(range(S), range(S))), np.int64)
        near = g.op("Min", far, g.value(7, np.int64))
        table = g.op("Gather", g.weight(8, H), near, axis=0)
        return g.op("Add", s, g.op("Unsqueeze", g.op("Transpose", table, perm=[2, 0, 1]), g.ints(0)))

    g, out = between(None, bias)
    check(only(g, out), relative_bias=True)


def test_bias_and_mask_added_up_first():
    def both(g, s):
        mask = g.op("Where", yes(g, np.tri(S)), g.value(0.0), g.value(LOW))
        return g.op("Add", s, g.op("Add", g.weight(1, H, S, S), mask))

    g, out = between(None, both)
    check(only(g, out), causal=True, mask=True, relative_bias=True)


def test_positions_by_a_second_product():
    """Q·Rᵀ of stored positions is a bias; Q·Kᵀ is the product that counts."""

    def positions(g, s):
        return g.op("Add", g.op("MatMul", split(g, "x"), g.weight(HD, S)), s)

    g, out = between(None, positions)
    check(only(g, out), relative_bias=True)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_triangle_of_any_type(dtype):
    lower = np.tri(5).astype(dtype)
    assert (
        mask_table_kinds(lower)
        == mask_table_kinds(lower[None, None])
        == mask_table_kinds(1 - np.tri(5).astype(np.float32))
        == {"causal"}
    )
    assert mask_table_kinds(np.ones((5, 5), dtype)) == (set() if dtype is np.float32 else {"open"})


def test_blocks_that_see_their_neighbours_are_not_causal():
    """LongT5: eight queries see less than eight positions to both sides, in three blocks of keys."""
    query, key = np.ogrid[:8, :24]
    distance = key - 8 - query
    assert mask_table_kinds(abs(distance) < 8) == {"open"}
    assert mask_table_kinds(np.where(abs(distance) < 8, 0, -1e10).astype(np.float32)) == {"open"}
    assert mask_table_kinds((key - 16 - query <= 0) & (key - 16 - query > -8)) == {
        "causal"
    }  # a sliding window


def test_triangle_with_cached_keys():
    assert mask_table_kinds(np.tri(3, 7, 4, dtype=bool)) == {"causal"}
    assert mask_table_kinds(np.tri(3, 7, 0, dtype=bool)) == {"causal"}  # from the first key on
    assert mask_table_kinds(np.tri(5, 5, 1, dtype=bool)) == {"open"}  # one ahead
    assert mask_table_kinds(np.linspace(-1, 1, 25, dtype=np.float32).reshape(5, 5)) == {"bias"}


# ------------------------------------------------------------------ what is no attention


def classifier(g):
    return g.op("Softmax", g.dense("x", D, 5), axis=-1)


def soft_argmax(g):
    """Weights times stored positions."""
    return g.op("MatMul", g.op("Softmax", g.dense("x", D, 5), axis=-1), g.weight(5, 2))


def router(g):
    """A router's weights mix the outputs of experts."""
    weights = g.op("Softmax", g.op("MatMul", "x", g.weight(D, 4)), axis=-1)
    experts = [g.op("Unsqueeze", g.dense("x", D, D), g.ints(2)) for _ in range(4)]
    mixed = g.op("MatMul", g.op("Unsqueeze", weights, g.ints(2)), g.op("Concat", *experts, axis=2))
    return g.op("Squeeze", mixed, g.ints(2))


def router_by_transposed_weight(g):
    weights = g.op("Softmax", g.op("MatMul", "x", g.op("Transpose", g.weight(4, D), perm=[1, 0])), axis=-1)
    return g.op("MatMul", weights, g.dense("x", D, D))


def channel_gate(g):
    """Selective kernels: a Softmax over two branches."""
    branches = g.op("Unsqueeze", g.dense(g.op("ReduceMean", "x", g.ints(1)), D, D), g.ints(0))
    weights = g.op("Softmax", g.op("Concat", branches, branches, axis=0), axis=0)
    return g.op("ReduceSum", g.op("Mul", weights, "x"), g.ints(0), keepdims=0)


def context_pooling(g):
    """One score a position by a dense layer, then a weighted sum of positions."""
    weights = g.op("Softmax", g.op("Transpose", g.dense("x", D, 1), perm=[0, 2, 1]), axis=-1)
    return g.op("MatMul", weights, "x")


def similarity(g):
    """Scores of two streams and no values."""
    other = g.op("Transpose", g.dense("x", D, D), perm=[0, 2, 1])
    return g.op("Softmax", g.op("MatMul", g.dense("x", D, D), other), axis=-1)


def linear_attention(g):
    """softmax(Q)·(softmax(K)ᵀ·V): no scores."""
    q, k, v = qkv(g, "x")
    k = g.op("Transpose", g.op("Softmax", k, axis=2), perm=[0, 1, 3, 2])
    return g.op("MatMul", g.op("Softmax", q, axis=-1), g.op("MatMul", k, v))


def over_queries(g):
    """The Softmax runs over queries, the product sums over keys."""
    q, k, v = qkv(g, "x")
    return g.op("MatMul", g.op("Softmax", scores(g, q, k), axis=-2), v)


def memory(g):
    """Stored keys and values: an external memory."""
    weights = g.op("Softmax", g.op("MatMul", "x", g.weight(D, 7)), axis=-1)
    return g.op("MatMul", weights, g.weight(7, D))


def masked_scores_to_dense(g):
    """Scores into a dense layer."""
    q, k, _ = qkv(g, "x")
    return g.op("MatMul", g.op("Softmax", scores(g, q, k), axis=-1), g.weight(S, S))


NOT_ATTENTION = (
    classifier, soft_argmax, router, router_by_transposed_weight, channel_gate, context_pooling, similarity,
    linear_attention, over_queries, memory, masked_scores_to_dense,
)  # fmt: skip


@pytest.mark.parametrize("build", NOT_ATTENTION)
def test_no_attention(build):
    g = G(x=(B, S, D))
    assert find_attention(g.flow(build(g))) == []


def test_tied_product_of_one_tensor():
    """x·xᵀ, softmax, ·x: attention without weights, over the stream itself."""
    g = G(x=(B, S, D))
    made = g.op("Softmax", g.op("MatMul", "x", g.op("Transpose", "x", perm=[0, 2, 1])), axis=-1)
    found = find_attention(g.flow(g.op("MatMul", made, "x")))
    assert [layer.kind for layer in found] == ["self"]


def test_long_chains_and_wide_fans_are_bounded():
    """A thousand readers of the weights and a thousand steps before the Softmax: no attention, no delay."""
    g = G(x=(B, S, D))
    q, k, v = qkv(g, "x")
    made = scores(g, q, k)
    for _ in range(1000):
        made = g.op("Identity", made)
    weights = g.op("Softmax", made, axis=-1)
    outs = [g.op("Identity", weights) for _ in range(1000)]
    found = find_attention(g.flow(*outs, finish(g, "x", g.op("MatMul", weights, v))))
    assert found == []


OPS = ("MatMul", "Softmax", "Add", "Transpose", "Mul", "Reshape", "Where", "Concat", "Expand", "Gather",
       "Einsum", "Attention", "Tanh", "Split", "Gemm", "Less", "Trilu")  # fmt: skip


@pytest.mark.slow
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_random_graphs_never_raise(data):
    """Any wiring of these operators, right or wrong, gives a list."""
    names = ["x", "y", "w"]
    nodes = []
    for number in range(data.draw(st.integers(1, 25))):
        inputs = data.draw(st.lists(st.sampled_from([*names, ""]), min_size=0, max_size=4))
        kind = data.draw(st.sampled_from(OPS))
        outputs = [f"o{number}"] + (["p" + str(number)] if kind == "Split" else [])
        extra = {"equation": "ab,bc->ac"} if kind == "Einsum" else {}
        if data.draw(st.booleans()):
            extra["axis"] = data.draw(st.integers(-3, 5))
        if data.draw(st.booleans()):
            extra["perm"] = data.draw(st.lists(st.integers(-1, 4), min_size=1, max_size=4))
        domain = data.draw(st.sampled_from(["", "", "com.microsoft"]))
        nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **extra))
        names += outputs
    shape = data.draw(st.sampled_from([[2, 3, 4], [2, 2, 3, 4], ["b", "s", 8], []]))
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x", "y")]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [0.5] * 16)
    graph = helper.make_graph(
        nodes, "g", values, [helper.make_empty_tensor_value_info(names[-1])], initializer=[weight]
    )
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    for flow in flows(helper.make_model(graph, opset_imports=opsets)):
        for layer in find_attention(flow):
            assert layer.anchor in layer.nodes
            assert list(layer.nodes) == sorted(set(layer.nodes))
            assert layer.kind in ("self", "cross", "unknown")
