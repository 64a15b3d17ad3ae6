"""MLPs, gated MLPs, mixtures of experts."""

from __future__ import annotations

from collections import Counter

import pytest
from graph_maker import G, flows_of

from py_autodoc.blocks.layer_blocks.mlp import find_mlps
from py_autodoc.blocks.layer_blocks.normalization import find_normalizations


def found_in(flow):
    return find_mlps(flow, [], find_normalizations(flow))


def only(g: G, y: str):
    flow = g.flow(y)
    (block,) = found_in(flow)
    return flow, block


def silu(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


def test_plain():
    g = G(x=(1, 5, 8))
    flow, block = only(g, g.dense(g.op("Gelu", g.dense("x", 8, 32)), 32, 8))
    assert (block.kind, block.variant, len(block.nodes)) == ("mlp", "", len(flow.order))
    assert dict(block.facts) == {
        "input": 8, "hidden": 32, "output": 8, "expansion": 4.0, "layers": 2,
        "activation": "Gelu", "bias": True,
    }  # fmt: skip


def test_gemms_between_reshapes():
    g = G(x=(2, 5, 8))
    flat = g.op("Reshape", "x", g.ints(10, 8))
    h = g.op("Reshape", g.op("Gemm", flat, g.weight(8, 16), g.weight(16)), g.ints(2, 5, 16))
    h = g.op("Reshape", g.op("Relu", h), g.ints(10, 16))
    _, block = only(g, g.op("Gemm", h, g.weight(16, 8)))
    assert (block.facts["hidden"], block.facts["activation"]) == (16, "Relu")


def test_three_layers_are_one_block():
    g = G(x=(2, 8))
    h = g.op("Relu", g.dense(g.op("Relu", g.dense("x", 8, 16)), 16, 32))
    _, block = only(g, g.dense(h, 32, 4))
    assert (block.facts["layers"], block.facts["hidden"], block.facts["output"]) == (3, 32, 4)


@pytest.mark.parametrize("swap", [False, True])
def test_gated(swap):
    g = G(x=(1, 5, 8))
    gate, value = silu(g, g.dense("x", 8, 16, bias=False)), g.dense("x", 8, 16, bias=False)
    flow, block = only(g, g.dense(g.op("Mul", *((value, gate) if swap else (gate, value))), 16, 8))
    assert (block.kind, block.facts["activation"], block.facts["hidden"]) == ("gated-mlp", "SiLU", 16)
    assert len(block.nodes) == len(flow.order)


@pytest.mark.parametrize("slices", [False, True])
def test_gate_and_values_in_one_layer(slices):
    g = G(x=(1, 5, 8))
    both = g.dense("x", 8, 32, bias=False)
    if slices:
        a = g.op("Slice", both, g.ints(0), g.ints(16), g.ints(2))
        b = g.op("Slice", both, g.ints(16), g.ints(32), g.ints(2))
    else:
        a, b = g.op("Split", both, outputs=2, axis=-1, num_outputs=2)
    _, block = only(g, g.dense(g.op("Mul", silu(g, a), b), 16, 8))
    assert (block.kind, block.variant, block.facts["hidden"]) == ("gated-mlp", "packed", 16)


def test_normalization_and_depthwise_convolution_inside():
    g = G(x=(1, 5, 8))
    h = g.layer_norm(g.op("Gelu", g.dense("x", 8, 16)), 16)
    assert only(g, g.dense(h, 16, 8))[1].facts["layers"] == 2
    g = G(x=(1, 16, 8))
    h = g.op("Transpose", g.dense("x", 8, 16), perm=[0, 2, 1])
    h = g.conv(g.op("Reshape", h, g.ints(1, 16, 4, 4)), 16, 16, group=16)
    h = g.op("Transpose", g.op("Reshape", h, g.ints(1, 16, 16)), perm=[0, 2, 1])
    assert only(g, g.dense(g.op("Gelu", h), 16, 8))[1].variant == "depthwise"


@pytest.mark.parametrize(
    "near",
    [
        lambda g: g.dense(g.dense("x", 8, 16), 16, 8),
        lambda g: g.op("Relu", g.dense("x", 8, 16)),
        lambda g: g.op("MatMul", g.op("Relu", g.dense("x", 8, 5)), "y"),
        lambda g: g.dense(g.op("Mul", silu(g, g.dense("x", 8, 8)), "y"), 8, 8),
        lambda g: g.dense(g.op("Mul", silu(g, g.dense("x", 8, 8)), g.dense("y", 8, 8)), 8, 8),
    ],
)
def test_near_misses(near):
    """No activation, no second layer, a computed factor, a gate from elsewhere."""
    g = G(x=(5, 8), y=(5, 8))
    assert found_in(g.flow(near(g))) == []


def test_the_layers_of_a_squeeze_excite_are_no_mlp():
    g = G(x=(1, 8, 6, 6))
    pooled = g.op("Flatten", g.op("GlobalAveragePool", "x"))
    gate = g.op("Sigmoid", g.dense(g.op("Relu", g.dense(pooled, 8, 2)), 2, 8))
    assert found_in(g.flow(g.op("Mul", "x", g.op("Reshape", gate, g.ints(1, 8, 1, 1))))) == []


def expert(g, x):
    return g.dense(silu(g, g.dense(x, 8, 16)), 16, 8)


def test_experts_weighed_one_by_one():
    g = G(x=(5, 8))
    shares = g.op("Softmax", g.dense("x", 8, 3, bias=False))
    parts = g.op("Split", shares, outputs=3, axis=-1, num_outputs=3)
    total = g.op("Sum", *(g.op("Mul", expert(g, "x"), part) for part in parts))
    kinds = Counter(block.kind for block in found_in(g.flow(total)))
    assert kinds == {"mlp": 3, "moe": 1}


def test_experts_in_one_weight():
    g = G(x=(5, 8))
    best = g.op("TopK", g.dense("x", 8, 4, bias=False), g.ints(2), outputs=2)
    spread = g.op("ScatterElements", g.weight(5, 4), best[1], g.op("Softmax", best[0]), axis=1)
    each = g.op("Expand", g.op("Unsqueeze", "x", g.ints(0)), g.ints(4, 5, 8))
    h = g.op("MatMul", silu(g, g.op("MatMul", each, g.weight(4, 8, 16))), g.weight(4, 16, 8))
    share = g.op("Unsqueeze", g.op("Transpose", spread, perm=[1, 0]), g.ints(2))
    flow = g.flow(g.op("ReduceSum", g.op("Mul", h, share), g.ints(0)))
    (moe,) = [block for block in found_in(flow) if block.kind == "moe"]
    assert (moe.variant, moe.facts["experts"], moe.facts["top_k"]) == ("batched", 4, 2)


def test_the_fused_operator():
    g = G(x=(5, 8))
    y = g.op("MoE", "x", g.dense("x", 8, 4, bias=False), g.weight(4, 8, 16), "", g.weight(4, 16, 8),
             domain="com.microsoft", k=2, activation_type="silu")  # fmt: skip
    (moe,) = found_in(g.flow(y))
    assert dict(moe.facts) == {"experts": 4, "top_k": 2, "activation": "silu"}


def test_a_classifier_and_an_mlp_are_no_mixture():
    g = G(x=(5, 8))
    flow = g.flow(g.op("Softmax", g.dense("x", 8, 4)), expert(g, "x"))
    assert [block.kind for block in found_in(flow)] == ["mlp"]


COUNTS = {
    "bert_base": {"mlp": 12}, "gpt2": {"mlp": 12}, "vit_b16": {"mlp": 12}, "convnext_tiny": {"mlp": 18},
    "swin_t": {"mlp": 12}, "segformer_b0": {"mlp": 8}, "clip_b32": {"mlp": 24},
    "llama_gqa_small": {"gated-mlp": 8}, "llama32_narrow": {"gated-mlp": 32}, "t5_small_encoder": {"mlp": 6},
    "detr_r50": {"mlp": 13}, "whisper_tiny_encoder": {"mlp": 4}, "light_vgg19": {"mlp": 1}, "resnet50": {},
    "mobilenet_v2": {}, "mamba_tiny": {}, "ppocr_v4_det": {}, "swift_f0": {},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_known_architectures(name):
    found = Counter(block.kind for flow in flows_of(name) for block in found_in(flow))
    assert found == COUNTS[name]
