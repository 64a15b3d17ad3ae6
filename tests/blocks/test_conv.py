"""Convolution blocks, depthwise-separable ones, squeeze-excite, and activations in all their spellings."""

from __future__ import annotations

from collections import Counter

import pytest
from graph_maker import G, flows_of, types_in

from py_autodoc.blocks.layer_blocks.activations import activation_of
from py_autodoc.blocks.layer_blocks.conv import find_conv_blocks


def only(g: G, kind: str, *outputs: str):
    flow = g.flow(*outputs)
    found = [block for block in find_conv_blocks(flow) if block.kind == kind]
    assert len(found) == 1
    return flow, found[0]


def silu(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


def quick_gelu(g, x):
    return g.op("Mul", x, g.op("Sigmoid", g.op("Mul", x, g.value(1.702))))


def silu_by_exp(g, x):
    return g.op("Div", x, g.op("Add", g.op("Exp", g.op("Neg", x)), g.value(1.0)))


def gelu_erf(g, x):
    half = g.op("Add", g.op("Erf", g.op("Div", x, g.value(1.4142135))), g.value(1.0))
    return g.op("Mul", g.op("Mul", x, half), g.value(0.5))


def gelu_erf_half_first(g, x):
    half = g.op("Add", g.op("Erf", g.op("Mul", x, g.value(0.70710678))), g.value(1.0))
    return g.op("Mul", g.op("Mul", x, g.value(0.5)), half)


def gelu_tanh(g, x):
    cube = g.op("Mul", g.op("Pow", x, g.value(3.0)), g.value(0.044715))
    inner = g.op("Tanh", g.op("Mul", g.op("Add", x, cube), g.value(0.7978845)))
    return g.op("Mul", g.op("Mul", x, g.value(0.5)), g.op("Add", inner, g.value(1.0)))


def gelu_tanh_by_products(g, x):
    cube = g.op("Mul", x, g.op("Mul", x, g.op("Mul", x, g.value(0.044715))))
    inner = g.op("Tanh", g.op("Mul", g.op("Add", x, cube), g.value(0.7978845)))
    return g.op("Mul", x, g.op("Mul", g.op("Add", inner, g.value(1.0)), g.value(0.5)))


def hard_swish(g, x):
    gate = g.op("Clip", g.op("Add", x, g.value(3.0)), g.value(0.0), g.value(6.0))
    return g.op("Div", g.op("Mul", x, gate), g.value(6.0))


def hard_swish_by_gate(g, x):
    return g.op("Mul", x, g.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))


def mish(g, x):
    return g.op("Mul", x, g.op("Tanh", g.op("Softplus", x)))


def mish_by_exp(g, x):
    return g.op("Mul", x, g.op("Tanh", g.op("Log", g.op("Add", g.op("Exp", x), g.value(1.0)))))


def leaky(g, x):
    return g.op("Max", x, g.op("Mul", x, g.value(0.1)))


def prelu(g, x):
    return g.op("Sub", g.op("Relu", x), g.op("Mul", g.op("Relu", g.op("Neg", x)), g.weight(8, 1, 1)))


def relu6(g, x):
    return g.op("Clip", x, g.value(0.0), g.value(6.0))


def relu6_by_min(g, x):
    return g.op("Min", g.op("Max", x, g.value(0.0)), g.value(6.0))


FORMS = {
    silu: "SiLU", quick_gelu: "QuickGelu", silu_by_exp: "SiLU", gelu_erf: "Gelu", gelu_erf_half_first: "Gelu",
    gelu_tanh: "Gelu", gelu_tanh_by_products: "Gelu", hard_swish: "HardSwish",
    hard_swish_by_gate: "HardSwish", mish: "Mish", mish_by_exp: "Mish", leaky: "LeakyRelu", prelu: "PRelu",
    relu6: "ReLU6", relu6_by_min: "ReLU6",
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_activations_behind_a_convolution(form):
    g = G(x=(1, 3, 6, 6))
    y = form(g, g.conv("x", 3, 8))
    flow, block = only(g, "conv", g.op("MaxPool", y, kernel_shape=[2, 2]))
    assert block.facts["activation"] == FORMS[form]
    assert block.variant == f"Conv+{FORMS[form]}"
    assert len(block.nodes) == len(flow.order) - 1
    assert [flow.model.tensors[t].name for t in block.outputs] == [y]


@pytest.mark.parametrize("kind", ["Relu", "LeakyRelu", "HardSwish", "Elu", "Softplus", "Sigmoid", "Tanh"])
def test_activations_of_one_operator(kind):
    g = G(x=(1, 3, 6, 6))
    _, block = only(g, "conv", g.op(kind, g.conv("x", 3, 8)))
    assert block.variant == f"Conv+{kind}"


def test_a_product_with_another_path_is_no_activation():
    g = G(x=(1, 8, 6, 6))
    y = g.conv("x", 8, 8)
    flow = g.flow(g.op("Mul", y, g.op("Sigmoid", "x")))
    assert activation_of(flow, flow.node(flow.order[0]).outputs[0]) is None


def test_a_tensor_others_need_keeps_its_activation_apart():
    g = G(x=(1, 3, 6, 6))
    y = g.conv("x", 3, 8)
    flow = g.flow(g.op("Relu", y), y)
    (block,) = find_conv_blocks(flow)
    assert block.variant == "Conv"
    assert len(block.nodes) == 1


def test_batch_norm_and_facts():
    g = G(x=(1, 3, 8, 8))
    flow, block = only(g, "conv", g.op("Relu", g.norm(g.conv("x", 3, 8, bias=False, strides=[2, 2]), 8)))
    assert block.variant == "Conv+BN+Relu"
    assert types_in(flow, block) == ["Conv", "BatchNormalization", "Relu"]
    assert dict(block.facts) == {
        "in_channels": 3, "out_channels": 8, "kernel": "3x3", "strides": "2x2", "group": 1,
        "depthwise": False, "transposed": False, "activation": "Relu", "batch_norm": True, "bias": False,
    }  # fmt: skip


def test_frozen_batch_norm_and_added_bias():
    g = G(x=(1, 3, 6, 6))
    scaled = g.op("Mul", g.conv("x", 3, 8, bias=False), g.weight(1, 8, 1, 1))
    _, block = only(g, "conv", g.op("Relu", g.op("Add", scaled, g.weight(1, 8, 1, 1))))
    assert block.variant == "Conv+Scale+Relu"
    g = G(x=(1, 3, 6, 6))
    _, block = only(g, "conv", g.op("Relu", g.op("Add", g.conv("x", 3, 8, bias=False), g.weight(8, 1, 1))))
    assert block.variant == "Conv+Bias+Relu"
    assert block.facts["bias"] is True


def test_a_full_map_added_is_no_bias():
    g = G(x=(1, 3, 6, 6))
    _, block = only(g, "conv", g.op("Add", g.conv("x", 3, 8), g.weight(1, 8, 6, 6)))
    assert block.variant == "Conv"


def test_transposed_and_fused():
    g = G(x=(1, 4, 6, 6))
    y = g.op("ConvTranspose", "x", g.weight(4, 8, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
    _, block = only(g, "conv", g.op("Relu", y))
    assert (block.variant, block.facts["out_channels"]) == ("ConvTranspose+Relu", 8)
    g = G(x=(1, 4, 6, 6))
    y = g.op("FusedConv", "x", g.weight(8, 4, 1, 1), domain="com.microsoft", activation="LeakyRelu")
    _, block = only(g, "conv", y)
    assert block.variant == "Conv+LeakyRelu"


def test_quantization_around_a_convolution_belongs_to_it():
    g = G(x=(1, 3, 6, 6))
    scale, zero = g.value(0.1), g.value(0, "int8")
    data = g.op("DequantizeLinear", g.op("QuantizeLinear", "x", scale, zero), scale, zero)
    weights = g.op("DequantizeLinear", g.value([[[[1]]] * 3] * 8, "int8"), scale, zero)
    y = g.op("QuantizeLinear", g.op("Relu", g.op("Conv", data, weights)), scale, zero)
    flow, block = only(g, "conv", g.op("DequantizeLinear", y, scale, zero))
    kinds = Counter(types_in(flow, block))
    assert kinds == {"DequantizeLinear": 2, "Conv": 1, "Relu": 1, "QuantizeLinear": 1}


def test_depthwise_separable():
    g = G(x=(1, 8, 6, 6))
    deep = g.op("Relu", g.norm(g.conv("x", 8, 8, group=8), 8))
    flow, block = only(g, "depthwise-separable", g.op("Relu", g.norm(g.conv(deep, 8, 16, 1), 16)))
    assert len(block.nodes) == 6
    assert (block.facts["in_channels"], block.facts["out_channels"]) == (8, 16)
    assert flow.node(block.anchor).attributes["group"] == 8


@pytest.mark.parametrize(("group", "kernel"), [(1, 1), (2, 1), (8, 3)])
def test_not_depthwise_separable(group, kernel):
    """A grouped or full first convolution, or a second one that is not pointwise."""
    g = G(x=(1, 8, 6, 6))
    y = g.conv(g.conv("x", 8, 8, group=group), 8, 8, kernel)
    assert {block.kind for block in find_conv_blocks(g.flow(y))} == {"conv"}


def squeeze(g, x, mean, gate, dense=False):
    pooled = mean(g, x)
    if dense:
        flat = g.op("Flatten", pooled)
        h = g.dense(g.op("Relu", g.dense(flat, 8, 2)), 2, 8)
        factor = g.op("Reshape", gate(g, h), g.ints(1, 8, 1, 1))
    else:
        factor = gate(g, g.conv(silu(g, g.conv(pooled, 8, 2, 1)), 2, 8, 1))
    return g.op("Mul", x, factor)


MEANS = {
    "pool": lambda g, x: g.op("GlobalAveragePool", x),
    "mean": lambda g, x: g.op("ReduceMean", x, g.ints(2, 3), keepdims=1),
}
GATES = {
    "sigmoid": lambda g, x: g.op("Sigmoid", x),
    "hard": lambda g, x: g.op("HardSigmoid", x),
    "clip": lambda g, x: g.op(
        "Div", g.op("Clip", g.op("Add", x, g.value(3.0)), g.value(0.0), g.value(6.0)), g.value(6.0)
    ),
}


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("dense", [False, True])
def test_squeeze_excite(mean, gate, dense):
    g = G(x=(1, 8, 6, 6))
    flow, block = only(g, "squeeze-excite", squeeze(g, "x", MEANS[mean], GATES[gate], dense))
    assert len(block.nodes) == len(flow.order)
    assert block.facts["channels"] == 8
    assert block.facts["reduced"] == 2
    assert block.facts["gate"] == ("Sigmoid" if gate == "sigmoid" else "HardSigmoid")


def test_one_layer_is_eca():
    g = G(x=(1, 8, 6, 6))
    y = g.op("Mul", "x", g.op("Sigmoid", g.conv(g.op("GlobalAveragePool", "x"), 8, 8, 1)))
    assert only(g, "squeeze-excite", y)[1].variant == "eca"


def test_a_gate_of_another_tensor_is_no_squeeze_excite():
    g = G(x=(1, 8, 6, 6), y=(1, 8, 6, 6))
    pooled = g.conv(g.op("GlobalAveragePool", "y"), 8, 8, 1)
    flow = g.flow(g.op("Mul", "x", g.op("Sigmoid", pooled)))
    assert {block.kind for block in find_conv_blocks(flow)} == {"conv"}


COUNTS = {
    "mobilenet_v2": {"conv": 52, "depthwise-separable": 17},
    "resnet50": {"conv": 53},
    "light_resnet50": {"conv": 53},
    "detr_r50": {"conv": 54},
    "light_squeezenet": {"conv": 26},
    "ppocr_v4_det": {"conv": 64, "depthwise-separable": 14, "squeeze-excite": 10},
    "ppocr_cls_v2": {"conv": 53, "depthwise-separable": 11, "squeeze-excite": 9},
    "ddddocr_det": {"conv": 83},
    "bert_base": {},
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_known_architectures(name):
    found = Counter(block.kind for flow in flows_of(name) for block in find_conv_blocks(flow))
    assert found == COUNTS[name]


def test_a_yolo_is_all_conv_and_silu():
    found = find_conv_blocks(flows_of("ddddocr_det")[0])
    assert Counter(block.variant for block in found) == {"Conv+SiLU": 74, "Conv+Sigmoid": 6, "Conv": 3}
