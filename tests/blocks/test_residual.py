"""Residual connections: every variant, near misses, and the counts of known architectures."""

from __future__ import annotations

import pytest
from graph_maker import G, flows, flows_of, types_in
from onnx import helper

from py_autodoc.blocks.analyse import recognise_structure
from py_autodoc.blocks.dataflow.bounded_reachability import FLOOR, PER_NODE
from py_autodoc.blocks.residual_blocks.residual import find_residuals

COUNTS = {
    "bert_base": 24, "bert_base_dyn": 24, "bert_tiny": 4, "distilbert": 12, "vit_b16": 24, "gpt2": 24,
    "swin_t": 24, "whisper_tiny_encoder": 8, "t5_small_encoder": 12, "llama_gqa_small": 16,
    "llama32_narrow": 64, "clip_b32": 48, "segformer_b0": 16, "mamba_tiny": 2, "convnext_tiny": 18,
    "mobilenet_v2": 10, "resnet50": 16, "resnet50_dyn": 16, "light_resnet50": 16, "resnet_tiny": 4,
    "resnet_tiny_qdq_int8": 4, "detr_r50": 46, "light_vgg19": 0, "light_bvlc_alexnet": 0,
    "light_squeezenet": 0, "mnist_cntk": 0, "dnsmos_sig_bak_ovr": 0, "magika_standard_v3_3": 0,
    "silero_vad_half": 0, "basic_pitch_nmp": 0, "ddddocr_det": 7, "ppocr_v4_det": 8, "ppocr_cls_v2": 7,
    "swift_f0": 6, "trt_residual_block": 1,
}  # fmt: skip
PROJECTED = {
    "resnet50": 4,
    "resnet50_dyn": 4,
    "trt_residual_block": 1,
    "light_resnet50": 4,
    "detr_r50": 4,
    "resnet_tiny": 4,
    "resnet_tiny_qdq_int8": 4,
}
PRE = {"gpt2", "vit_b16", "clip_b32", "swin_t", "llama_gqa_small", "t5_small_encoder", "mamba_tiny",
       "whisper_tiny_encoder", "segformer_b0", "llama32_narrow"}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_known_architectures(name):
    found = [block for flow in flows_of(name) for block in find_residuals(flow)]
    assert len(found) == COUNTS[name]
    assert sum(block.facts["skip"] == "projection" for block in found) == PROJECTED.get(name, 0)
    assert {block.variant for block in found} <= {"pre-activation" if name in PRE else "plain"}


def one(g: G, *outputs: str):
    """The only residual."""
    flow = g.flow(*outputs)
    found = find_residuals(flow)
    assert len(found) == 1
    return flow, found[0]


def none(g: G, *outputs: str) -> None:
    assert find_residuals(g.flow(*outputs)) == []


def body(g: G, x: str, channels: int = 8) -> str:
    return g.conv(g.op("Relu", g.conv(x, channels, channels)), channels, channels)


def test_plain():
    g = G(x=(1, 8, 6, 6))
    y = g.op("Add", body(g, "x"), "x")
    flow, block = one(g, y)
    assert (block.variant, block.confidence, block.facts["skip"], block.facts["weighted"]) == (
        "plain", 1.0, "identity", 2,
    )  # fmt: skip
    assert types_in(flow, block) == ["Conv", "Relu", "Conv", "Add"]
    assert flow.op(block.anchor) == "Add"
    names = [flow.model.tensors[t].name for t in (*block.inputs, *block.outputs)]
    assert names == ["x", y]


def test_plain_with_sum_and_an_unknown_batch():
    g = G(x=("n", 8, 6, 6))
    _, block = one(g, g.op("Sum", "x", body(g, "x")))
    assert block.confidence == 1.0


def test_projection_on_the_short_side():
    g = G(x=(1, 8, 6, 6))
    short = g.norm(g.conv("x", 8, 16, 1, strides=[2, 2]), 16)
    h = g.op("Relu", g.norm(g.conv("x", 8, 16, strides=[2, 2]), 16))
    _, block = one(g, g.op("Add", g.norm(g.conv(h, 16, 16), 16), short))
    assert (block.variant, block.facts["skip"], block.confidence) == ("plain", "projection", 0.9)


def test_pooled_and_padded_shortcut():
    g = G(x=(1, 8, 6, 6))
    short = g.op("AveragePool", "x", kernel_shape=[2, 2], strides=[2, 2])
    h = g.conv(g.op("Relu", g.conv("x", 8, 8, strides=[2, 2])), 8, 8)
    _, block = one(g, g.op("Add", h, short))
    assert block.facts["skip"] == "pooled"


def test_pre_activation_with_batch_and_layer_norm():
    g = G(x=(1, 8, 6, 6))
    h = g.conv(g.op("Relu", g.norm("x", 8)), 8, 8)
    _, block = one(g, g.op("Add", "x", h))
    assert block.variant == "pre-activation"
    g = G(x=(1, 5, 8))
    h = g.dense(g.op("Relu", g.dense(g.layer_norm("x", 8), 8, 32)), 32, 8)
    _, block = one(g, g.op("Add", "x", h))
    assert block.variant == "pre-activation"


def test_post_norm_is_plain():
    g = G(x=(1, 5, 8))
    h = g.dense(g.op("Relu", g.dense("x", 8, 32)), 32, 8)
    _, block = one(g, g.layer_norm(g.op("Add", "x", h), 8))
    assert block.variant == "plain"


def test_subtractive():
    g = G(x=(1, 8, 6, 6))
    _, block = one(g, g.op("Sub", "x", body(g, "x")))
    assert block.variant == "subtractive"


def test_concat_of_a_dense_block():
    g = G(x=(1, 8, 6, 6))
    first = g.conv("x", 8, 4)
    one_more = g.op("Concat", "x", first, axis=1)
    second = g.conv(g.op("Relu", g.norm(one_more, 12)), 12, 4)
    flow = g.flow(g.op("Concat", "x", first, second, axis=1))
    assert [block.variant for block in find_residuals(flow)] == ["concat", "concat"]


def test_highway_gate():
    g = G(x=(2, 8))
    gate = g.op("Sigmoid", g.dense("x", 8, 8))
    carry = g.op("Mul", "x", g.op("Sub", g.value(1.0), gate))
    h = g.op("Mul", gate, g.op("Relu", g.dense("x", 8, 8)))
    flow, block = one(g, g.op("Add", h, carry))
    assert (block.variant, block.facts["gate"]) == ("gated", "complement")
    assert types_in(flow, block).count("Mul") == 2
    assert "Sub" in types_in(flow, block)


def test_interpolation_is_one_gated_residual():
    g = G(x=(2, 8))
    gate = g.op("Sigmoid", g.dense("x", 8, 8))
    step = g.op("Mul", gate, g.op("Sub", g.op("Tanh", g.dense("x", 8, 8)), "x"))
    _, block = one(g, g.op("Add", "x", step))
    assert block.variant == "gated"


def test_learned_number_gates_and_plain_number_does_not():
    g = G(x=(1, 8, 6, 6))
    _, block = one(g, g.op("Add", "x", g.op("Mul", body(g, "x"), g.weight(1))))
    assert (block.variant, block.facts["gate"]) == ("gated", "branch")
    g = G(x=(1, 8, 6, 6))
    _, block = one(g, g.op("Add", "x", g.op("Mul", body(g, "x"), g.value(0.5))))
    assert block.variant == "plain"


def test_scale_on_the_skip():
    g = G(x=(1, 8, 6, 6))
    _, block = one(g, g.op("Add", g.op("Mul", "x", g.weight(8, 1, 1)), body(g, "x")))
    assert (block.variant, block.facts["gate"]) == ("gated", "skip")


def test_fused_skip_and_norm():
    g = G(x=(1, 5, 8))
    h = g.dense("x", 8, 8)
    scales = [g.weight(8), g.weight(8)]
    summed = g.op("SkipLayerNormalization", h, "x", *scales, domain="com.microsoft", outputs=4)
    again = g.dense(g.op("Relu", g.dense(summed[0], 8, 16)), 16, 8)
    last = g.op("SkipLayerNormalization", again, summed[3], *scales, domain="com.microsoft")
    found = find_residuals(g.flow(last))
    assert [block.variant for block in found] == ["plain", "pre-activation"]


def test_fused_convolution_that_adds():
    g = G(x=(1, 8, 6, 6))
    h = g.op("Relu", g.conv("x", 8, 8))
    y = g.op("FusedConv", h, g.weight(8, 8, 3, 3), g.weight(8), "x", domain="com.microsoft",
             kernel_shape=[3, 3], pads=[1, 1, 1, 1], activation="Relu")  # fmt: skip
    _, block = one(g, y)
    assert block.facts["weighted"] == 2


def test_gemm_that_adds_its_own_input():
    g = G(x=(4, 8))
    h = g.op("Relu", g.op("Gemm", "x", g.weight(8, 8)))
    _, block = one(g, g.op("Gemm", h, g.weight(8, 8), "x"))
    assert block.facts["weighted"] == 2


def test_quantized_around():
    g = G(x=(1, 8, 6, 6))

    def qdq(t):
        scale, zero = g.value(0.1), g.value(0, "int8")
        return g.op("DequantizeLinear", g.op("QuantizeLinear", t, scale, zero), scale, zero)

    x = qdq("x")
    one(g, g.op("Add", qdq(body(g, x)), qdq(x)))


def test_residuals_in_the_body_of_a_branch():
    """The source of a skip in a body may be a tensor of the graph around it."""
    g, inner = G(x=(1, 8, 6, 6), ids=(1,)), G()
    inner.count = 1000
    y = inner.op("Add", body(inner, "x"), "x")

    def branch(nodes, out, constants):
        outputs = [helper.make_empty_tensor_value_info(out)]
        return helper.make_graph(nodes, out, [], outputs, initializer=constants)

    made = g.op(
        "If",
        g.op("Cast", "ids", to=9),
        then_branch=branch(inner.nodes, y, inner.constants),
        else_branch=branch([helper.make_node("Identity", ["x"], ["z"])], "z", []),
    )
    assert sorted(len(find_residuals(flow)) for flow in flows(g.model(made))) == [0, 0, 1]


# ---------------------------------------------------------------- near misses


def test_a_bias_is_no_residual():
    g = G(x=(1, 8, 6, 6))
    none(g, g.op("Add", g.conv("x", 8, 8, bias=False), g.weight(1, 8, 6, 6)))


def test_siblings_are_no_residual():
    g = G(x=(1, 8, 6, 6))
    none(g, g.op("Add", g.conv("x", 8, 8, 1), g.conv("x", 8, 8, 3)))
    g = G(x=(1, 8, 6, 6))
    squeeze = g.op("Relu", g.conv("x", 8, 4, 1))
    none(g, g.op("Concat", g.conv(squeeze, 4, 8, 1), g.conv(squeeze, 4, 8, 3), axis=1))


def test_arithmetic_without_weights_is_no_residual():
    g = G(x=(1, 8))
    none(g, g.op("Add", "x", g.op("Mul", g.op("Tanh", "x"), g.value(0.5))))


def test_two_inputs_are_no_residual():
    g = G(x=(1, 8), y=(1, 8))
    none(g, g.op("Add", g.dense("x", 8, 8), "y"))


def test_broadcast_is_no_residual():
    g = G(x=(1, 8, 6, 6))
    none(g, g.op("Add", "x", g.conv(g.op("GlobalAveragePool", "x"), 8, 8, 1)))


def test_one_position_added_in_every_layer_is_no_residual():
    g = G(x=(1, 5, 8), p=(1, 5, 8))
    h = "x"
    for _ in range(3):
        with_position = g.op("Add", h, "p")
        h = g.op("Add", h, g.dense(g.op("Relu", g.dense(with_position, 8, 8)), 8, 8))
    found = find_residuals(g.flow(h))
    assert len(found) == 3


def test_a_condition_projected_in_every_layer_is_no_residual():
    g = G(x=(1, 8, 9, 9), c=(1, 4, 9, 9))
    h = "x"
    for _ in range(3):
        inner = g.op("Tanh", g.op("Add", g.conv(h, 8, 8), g.conv("c", 4, 8, 1)))
        h = g.op("Add", h, g.conv(inner, 8, 8, 1))
    assert len(find_residuals(g.flow(h))) == 3


def test_a_mask_added_to_scores_is_no_residual():
    g = G(x=(1, 6, 6), m=(1, 6, 6))
    h = "x"
    for _ in range(2):
        q, k, v = (g.dense(h, 6, 6) for _ in range(3))
        scores = g.op("Add", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1])), "m")
        h = g.dense(g.op("MatMul", g.op("Softmax", scores), v), 6, 6)
    none(g, h)


def test_levels_of_a_pyramid_are_no_residual():
    g = G(x=(1, 8, 8, 8))
    deep = g.op("Relu", g.conv("x", 8, 8, strides=[2, 2]))
    up = g.op("Resize", g.conv(deep, 8, 8, 1), "", g.value([1.0, 1.0, 2.0, 2.0]))
    none(g, g.op("Add", g.conv("x", 8, 8, 1), up))


def test_an_unrolled_recurrence_is_no_residual():
    g = G(x=(1, 4, 8))
    state, w, u = None, g.weight(8, 8), g.weight(8, 8)
    for step in range(4):
        frame = g.op("Slice", "x", g.ints(step), g.ints(step + 1), g.ints(1))
        h = g.op("MatMul", frame, w)
        if state is not None:
            h = g.op("Add", h, g.op("MatMul", state, u))
        state = g.op("Tanh", h)
    none(g, state)


def test_rotary_embedding_is_no_residual():
    g = G(x=(1, 5, 8))
    q = g.dense("x", 8, 8)
    a = g.op("Slice", q, g.ints(0), g.ints(4), g.ints(2))
    b = g.op("Slice", q, g.ints(4), g.ints(8), g.ints(2))
    turned = g.op("Concat", g.op("Neg", b), a, axis=-1)
    none(g, g.op("Add", g.op("Mul", q, g.weight(1, 5, 8)), g.op("Mul", turned, g.weight(1, 5, 8))))


@pytest.mark.slow
def test_a_long_chain_stays_cheap():
    """Two thousand skips over one another: bounded, and the limit is told."""
    g = G(x=(1, 4))
    h, w = "x", g.weight(4, 4)
    for _ in range(2000):
        h = g.op("Add", g.op("MatMul", h, w), "x")
    flow = g.flow(h)
    found = find_residuals(flow)
    assert 100 < len(found) < 2000
    assert sum(len(block.nodes) for block in found) < PER_NODE * 4000 + FLOOR + 4000
    assert flow.incomplete == {"residual"}
    told = recognise_structure(flow.model, flow.types).gave_up
    assert [line for line in told if "search limit" in line]
