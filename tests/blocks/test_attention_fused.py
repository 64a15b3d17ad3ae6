"""Attention as one operator."""

from __future__ import annotations

import numpy as np
import pytest
from graph_maker import G
from test_attention_forms import HD, B, D, H, S, T, check, only, split

MS = "com.microsoft"


def projected(g, heads=H, source="x"):
    return g.dense(source, D, heads * HD)


def onnx_attention(g, *extra, **more):
    """ai.onnx Attention on (B, S, H·d)."""
    q, k, v = (projected(g) for _ in range(3))
    made = g.op("Attention", q, k, v, *extra, q_num_heads=H, kv_num_heads=H, **more)
    return g.op("Add", "x", g.dense(made, D, D))


def fused(made, **facts):
    check(made, variant="fused", **facts)


@pytest.mark.parametrize("causal", [0, 1])
def test_onnx_3d(causal):
    g = G(23, x=(B, S, D))
    fused(only(g, onnx_attention(g, is_causal=causal)), causal=bool(causal))


def test_onnx_4d_grouped():
    g = G(23, x=(B, S, D))
    q = split(g, projected(g))
    k, v = (split(g, projected(g, 2), heads=2) for _ in range(2))
    made = g.op("Attention", q, k, v)
    flat = g.op("Reshape", g.op("Transpose", made, perm=[0, 2, 1, 3]), g.ints(-1, S, D))
    fused(only(g, g.op("Add", "x", g.dense(flat, D, D))), kv_heads=2)


def test_onnx_with_masks():
    g = G(23, x=(B, S, D))
    fused(only(g, onnx_attention(g, g.value(np.tri(S), bool))), causal=True, mask=True)
    g = G(23, x=(B, S, D), mask=(B, 1, S, S))
    fused(only(g, onnx_attention(g, "mask")), causal=None, mask=True)
    g = G(23, x=(B, S, D), mask=(B, 1, 1, S))
    fused(only(g, onnx_attention(g, "mask")), mask=True)


def test_onnx_with_past():
    g = G(23, x=(B, S, D), pk=(B, H, T, HD), pv=(B, H, T, HD))
    q, k, v = (projected(g) for _ in range(3))
    made, *_ = g.op(
        "Attention", q, k, v, "", "pk", "pv", outputs=3, q_num_heads=H, kv_num_heads=H, is_causal=1
    )
    layer = only(g, g.op("Add", "x", g.dense(made, D, D)))
    fused(layer, causal=True, keys=S + T, past=layer.past)
    assert len(layer.past) == 2


def test_onnx_cross():
    g = G(23, x=(B, S, D), memory=(B, T, D))
    q, k, v = projected(g), projected(g, source="memory"), projected(g, source="memory")
    made = g.op("Attention", q, k, v, q_num_heads=H, kv_num_heads=H)
    fused(only(g, g.op("Add", "x", g.dense(made, D, D))), kind="cross", keys=T)


def test_onnx_with_rotary_before():
    g = G(23, x=(B, S, D))
    q, k, v = (projected(g) for _ in range(3))
    tables = g.weight(B, S, HD // 2), g.weight(B, S, HD // 2)
    q, k = (g.op("RotaryEmbedding", t, *tables, num_heads=H) for t in (q, k))
    made = g.op("Attention", q, k, v, q_num_heads=H, kv_num_heads=H)
    fused(only(g, g.op("Add", "x", g.dense(made, D, D))), rotary=True)


@pytest.mark.parametrize(("op", "extra"), [("Attention", ()), ("Attention", ("mask",))])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_contrib_attention(op, extra, unidirectional):
    """X · W inside the operator; a mask of one row a sequence pads."""
    g = G(x=(B, S, D), mask=(B, S))
    made = g.op(op, "x", g.weight(D, 3 * D), g.weight(3 * D), *extra, domain=MS, num_heads=H,
                unidirectional=unidirectional)  # fmt: skip
    fused(only(g, made), causal=bool(unidirectional), mask=bool(extra))


def test_contrib_attention_with_sizes():
    g = G(x=(B, S, D))
    made = g.op(
        "Attention", "x", g.weight(D, 96), g.weight(96), domain=MS, num_heads=H, qkv_hidden_sizes=[24, 24, 48]
    )
    fused(only(g, made), head_dim=6, value_dim=12)


def test_quantized_attention():
    g = G(x=(B, S, D))
    x = g.op("QuantizeLinear", "x", g.value(0.1), g.value(0, np.uint8))
    weight, one, zero = g.value(np.ones((D, 3 * D)), np.int8), g.value(0.1), g.value(0, np.uint8)
    made = g.op("QAttention", x, weight, g.weight(3 * D), one, one, "", zero, g.value(0, np.int8), domain=MS,
                num_heads=H)  # fmt: skip
    fused(only(g, made))


def test_multi_head_attention():
    g = G(x=(B, S, D), memory=(B, T, D))
    q, k, v = (g.op("MatMul", t, g.weight(D, D)) for t in ("x", "memory", "memory"))
    made = g.op("MultiHeadAttention", q, k, v, g.weight(3 * D), domain=MS, num_heads=H)
    fused(only(g, g.op("Add", "x", g.dense(made, D, D))), kind="cross", keys=T)


def test_multi_head_attention_packed():
    g = G(x=(B, S, D))
    packed = g.op("Reshape", g.dense("x", D, 3 * D), g.ints(B, S, H, 3, HD))
    made = g.op("MultiHeadAttention", packed, domain=MS, num_heads=H, unidirectional=1)
    fused(only(g, g.op("Add", "x", g.dense(made, D, D))), causal=True)


def grouped(g, q, k, v, **more):
    lengths = g.value([S - 1] * B, np.int32), g.value(S, np.int32)
    return g.op("GroupQueryAttention", q, k, v, "pk", "pv", *lengths, outputs=3, domain=MS, num_heads=H,
                kv_num_heads=2, **more)[0]  # fmt: skip


def test_grouped_query_attention():
    g = G(x=(B, S, D), pk=(B, 2, "past", HD), pv=(B, 2, "past", HD))
    made = grouped(g, projected(g), projected(g, 2), projected(g, 2), do_rotary=1)
    layer = only(g, g.op("Add", "x", g.dense(made, D, D)))
    fused(layer, kv_heads=2, causal=True, rotary=True, keys=layer.keys, past=layer.past)
    assert len(layer.past) == 2
    assert layer.queries == S


def test_grouped_query_attention_packed():
    g = G(x=(B, S, D), pk=(B, 2, "past", HD), pv=(B, 2, "past", HD))
    made = grouped(g, g.dense("x", D, (H + 4) * HD), "", "")
    layer = only(g, g.op("Add", "x", g.dense(made, D, D)))
    fused(layer, kv_heads=2, causal=True, keys=layer.keys, past=layer.past)


def test_longformer():
    g = G(x=(B, S, D), mask=(B, S))
    made = g.op("LongformerAttention", "x", g.weight(D, 3 * D), g.weight(3 * D), "mask", g.weight(D, 3 * D),
                g.weight(3 * D), "mask", domain=MS, num_heads=H, window=2)  # fmt: skip
    layer = only(g, made)
    assert (layer.heads, layer.head_dim, layer.kind, layer.mask) == (H, HD, "self", True)


def test_relative_bias_of_an_operator():
    g = G(x=(B, S, D))
    bias = g.op("RelativePositionBias", g.weight(8, H), g.ints(S), g.ints(S), domain=MS, max_distance=8)
    q, k, v = (g.op("MatMul", "x", g.weight(D, D)) for _ in range(3))
    made = g.op("MultiHeadAttention", q, k, v, g.weight(3 * D), "", bias, domain=MS, num_heads=H)
    fused(only(g, g.op("Add", "x", g.dense(made, D, D))), relative_bias=True)


@pytest.mark.parametrize(
    "attributes", [{}, {"num_heads": 0}, {"num_heads": -2}, {"num_heads": 5}, {"num_heads": "a"}]
)
def test_odd_attributes_leave_facts_unknown(attributes):
    g = G(x=(B, S, D))
    made = only(g, g.op("Attention", "x", g.weight(D, 3 * D), domain=MS, **attributes))
    assert made.head_dim is None
