"""Normalizations: operators and every decomposition exporters write."""

from __future__ import annotations

from collections import Counter

import pytest
from graph_maker import G, flows_of

from py_autodoc.blocks.layer_blocks.normalization import find_normalizations

D = 8


def mean(g, x, axis=-1):
    return g.op("ReduceMean", x, g.ints(axis), keepdims=1)


def torch_layer(g, x):
    d = g.op("Sub", x, mean(g, x))
    variance = mean(g, g.op("Pow", d, g.value(2.0)))
    y = g.op("Div", d, g.op("Sqrt", g.op("Add", variance, g.value(1e-5))))
    return g.op("Add", g.op("Mul", y, g.weight(D)), g.weight(D))


def torch_layer_with_casts(g, x):
    wide = g.op("Cast", x, to=1)
    d = g.op("Sub", wide, mean(g, wide))
    variance = mean(g, g.op("Pow", g.op("Cast", d, to=1), g.value(2.0)))
    y = g.op("Cast", g.op("Div", d, g.op("Sqrt", g.op("Add", variance, g.value(1e-5)))), to=1)
    return g.op("Add", g.op("Mul", y, g.weight(D)), g.weight(D))


def layer_by_reciprocal(g, x):
    d = g.op("Sub", x, mean(g, x))
    variance = mean(g, g.op("Mul", d, d))
    rate = g.op("Reciprocal", g.op("Sqrt", g.op("Add", variance, g.value(1e-5))))
    return g.op("Add", g.op("Mul", g.op("Mul", d, rate), g.weight(D)), g.weight(D))


def tensorflow_layer(g, x):
    m = mean(g, x)
    d = g.op("Sub", x, m)
    variance = mean(g, g.op("Mul", d, d))
    rate = g.op("Reciprocal", g.op("Sqrt", g.op("Add", variance, g.value(1e-5))))
    scale = g.op("Mul", rate, g.weight(D))
    shift = g.op("Sub", g.weight(D), g.op("Mul", m, scale))
    return g.op("Add", g.op("Mul", x, scale), shift)


def keras_layer(g, x):
    """The mean of squares less the square of the mean, by sums."""
    one = g.value(1 / D)
    m = g.op("Mul", g.op("ReduceSum", x, g.ints(-1), keepdims=1), one)
    squares = g.op("Mul", g.op("ReduceSum", g.op("Mul", x, x), g.ints(-1), keepdims=1), one)
    variance = g.op("Max", g.op("Sub", squares, g.op("Mul", m, m)), g.value(0.0))
    rate = g.op("Reciprocal", g.op("Sqrt", g.op("Add", variance, g.value(1e-5))))
    return g.op("Add", g.op("Mul", g.op("Sub", x, m), g.op("Mul", rate, g.weight(D))), g.weight(D))


def llama_rms(g, x):
    square = mean(g, g.op("Pow", x, g.value(2.0)))
    root = g.op("Sqrt", g.op("Add", square, g.value(1e-5)))
    return g.op("Mul", g.weight(D), g.op("Mul", x, g.op("Reciprocal", root)))


def rms_one_over(g, x):
    root = g.op("Sqrt", g.op("Add", mean(g, g.op("Mul", x, x)), g.value(1e-5)))
    return g.op("Mul", g.op("Mul", x, g.op("Div", g.value(1.0), root)), g.weight(D))


def rms_by_power(g, x):
    square = g.op("Add", mean(g, g.op("Pow", x, g.value(2.0))), g.value(1e-5))
    return g.op("Mul", g.op("Mul", x, g.op("Pow", square, g.value(-0.5))), g.weight(D))


def unit_length(g, x):
    length = g.op("Sqrt", g.op("ReduceSum", g.op("Pow", x, g.value(2.0)), g.ints(-1), keepdims=1))
    return g.op("Div", x, g.op("Max", length, g.value(1e-12)))


def unit_length_expanded(g, x):
    length = g.op("ReduceL2", x, g.ints(-1), keepdims=1)
    floor = g.op("Clip", length, g.value(1e-12))
    return g.op("Div", x, g.op("Expand", floor, g.ints(2, 5, D)))


FORMS = {
    torch_layer: ("LayerNormalization", True, True),
    torch_layer_with_casts: ("LayerNormalization", True, True),
    layer_by_reciprocal: ("LayerNormalization", True, True),
    tensorflow_layer: ("LayerNormalization", True, True),
    keras_layer: ("LayerNormalization", True, True),
    llama_rms: ("RMSNormalization", True, False),
    rms_one_over: ("RMSNormalization", True, False),
    rms_by_power: ("RMSNormalization", True, False),
    unit_length: ("LpNormalization", False, False),
    unit_length_expanded: ("LpNormalization", False, False),
}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_decompositions(form):
    g = G(x=(2, 5, D))
    y = form(g, "x")
    flow = g.flow(g.op("Relu", y))
    (block,) = find_normalizations(flow)
    variant, scale, bias = FORMS[form]
    assert block.variant == variant
    assert (block.facts["scale"], block.facts["bias"], block.facts["fused"]) == (scale, bias, False)
    assert block.facts["size"] == D
    if variant != "LpNormalization":
        assert block.facts["epsilon"] == pytest.approx(1e-5)
    # A cast of the input may serve others; everything else belongs to the block.
    outside = [flow.op(n) for n in flow.order if n not in block.nodes]
    assert set(outside) <= {"Relu", "Cast"}
    assert [flow.model.tensors[t].name for t in block.outputs] == [y]


def test_kind_by_axes():
    for axes, variant in (
        ((1,), "Layer"),
        ((2, 3), "Instance"),
        ((0, 2, 3), "Batch"),
    ):
        g = G(x=(2, D, 4, 4))
        over = g.ints(*axes)
        d = g.op("Sub", "x", g.op("ReduceMean", "x", over, keepdims=1))
        variance = g.op("ReduceMean", g.op("Mul", d, d), over, keepdims=1)
        (block,) = find_normalizations(g.flow(g.op("Div", d, g.op("Sqrt", variance))))
        assert block.variant == f"{variant}Normalization"


def test_group_norm_by_instance_norm():
    g = G(x=(2, D, 4, 4))
    grouped = g.op("Reshape", "x", g.ints(2, 4, -1))
    h = g.op("InstanceNormalization", grouped, g.weight(4), g.weight(4))
    h = g.op("Reshape", h, g.ints(2, D, 4, 4))
    y = g.op("Add", g.op("Mul", h, g.weight(D, 1, 1)), g.weight(D, 1, 1))
    flow = g.flow(y)
    (block,) = find_normalizations(flow)
    assert (block.variant, block.facts["groups"], len(block.nodes)) == ("GroupNormalization", 4, 5)


def test_operators():
    g = G(x=(2, D, 4, 4))
    y = g.op("LayerNormalization", g.op("LRN", g.norm("x", D), size=3), g.weight(4), axis=-1)
    found = find_normalizations(g.flow(y))
    assert [block.variant for block in found] == ["BatchNormalization", "LRN", "LayerNormalization"]
    assert [block.facts["bias"] for block in found] == [True, False, False]


@pytest.mark.parametrize(
    "near",
    [
        lambda g: g.op("Sqrt", g.op("Add", mean(g, g.op("Pow", "x", g.value(2.0))), g.value(1e-5))),
        lambda g: g.op("Div", "y", g.op("Sqrt", mean(g, g.op("Pow", "x", g.value(2.0))))),
        lambda g: g.op("Div", "x", g.op("Sqrt", mean(g, "x"))),
        lambda g: g.op("Div", "x", g.op("Sqrt", mean(g, g.op("Pow", "x", g.value(3.0))))),
        lambda g: g.op("Div", "x", mean(g, g.op("Pow", "x", g.value(2.0)))),
        lambda g: g.op("Mul", "x", g.op("Sqrt", mean(g, g.op("Pow", "x", g.value(2.0))))),
        lambda g: g.op("Softmax", "x"),
    ],
)
def test_near_misses(near):
    g = G(x=(2, 5, D), y=(2, 5, D))
    assert find_normalizations(g.flow(near(g))) == []


COUNTS = {
    "bert_base": {"LayerNormalization": 25}, "llama_gqa_small": {"RMSNormalization": 17},
    "llama32_narrow": {"RMSNormalization": 65}, "t5_small_encoder": {"RMSNormalization": 13},
    "mamba_tiny": {"RMSNormalization": 3}, "light_resnet50": {"BatchNormalization": 53},
    "clip_b32": {"LayerNormalization": 51, "LpNormalization": 2}, "detr_r50": {"LayerNormalization": 31},
    "magika_standard_v3_3": {"LayerNormalization": 2}, "resnet50": {}, "swift_f0": {}, "silero_vad_half": {},
    "light_bvlc_alexnet": {"LRN": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_known_architectures(name):
    found = Counter(block.variant for flow in flows_of(name) for block in find_normalizations(flow))
    assert found == COUNTS[name]
