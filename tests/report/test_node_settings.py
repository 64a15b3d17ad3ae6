"""The scalars and short settings that a card shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.report.viewer_payload.node_settings import _RULES, MAX_TEXT

F = np.float32
OTHERS = (("vendor", 1), ("com.microsoft", 1))


def setting(op: str, *inputs: object, domain: str = "", opset: int = 17, **attributes: object) -> str | None:
    """What the card of one node says; arrays are its constant inputs, texts those of the graph."""
    names, held = [], []
    for at, one in enumerate(inputs):
        if isinstance(one, str):
            names.append(one)
        else:
            names.append(f"c{at}")
            held.append(numpy_helper.from_array(np.asarray(one), f"c{at}"))
    node = helper.make_node(op, names, ["y"], "n", domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        held,
    )
    opsets = [helper.make_opsetid(name, version) for name, version in (("", opset), *OTHERS)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    return build_payload(run_analysis(model, Options())).nodes.settings.get("0")


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "text"),
    [
        ("Add", ("x", F(1)), {}, "+ 1"),
        ("Sub", (F(1), "x"), {}, "1 −"),
        ("Mul", ("x", F([0.125])), {}, "× 0.125"),
        ("Div", ("x", F(-8)), {}, "÷ −8"),
        ("Pow", ("x", F(2)), {}, "^ 2"),
        ("Pow", (F(10), "x"), {}, "10 ^"),
        ("Equal", ("x", np.int64(16000)), {}, "= 16000"),
        ("Mul", ("x", F(1 / 3)), {}, "× 0.3333"),
        ("Add", ("x", F(1e-5)), {}, "+ 1e−5"),
        ("Add", ("x", F("inf")), {}, "+ inf"),
        ("Add", ("x", np.ones(4, F)), {}, None),
        ("Add", ("x", "x"), {}, None),
        ("Clip", ("x", F(0), F(6)), {}, "0 … 6"),
        ("Clip", ("x", "", F(6)), {}, "≤ 6"),
        ("Clip", ("x", F(0)), {}, "≥ 0"),
        ("Clip", ("x",), {}, None),
        ("Clip", ("x", "x", F(6)), {}, None),
        ("Cast", ("x",), {"to": TensorProto.FLOAT16}, "to float16"),
        ("Gather", ("x", np.int64(0)), {}, "[0]"),
        ("Gather", ("x", np.int64(0)), {"axis": 1}, "[0], axis 1"),
        ("GatherElements", ("x", "x"), {"axis": 2}, "axis 2"),
        ("Reshape", ("x", np.array([1, -1, 768])), {}, "→ 1×−1×768"),
        ("Reshape", ("x", "x"), {}, None),
        ("Expand", ("x", np.array([2, 4])), {}, "→ 2×4"),
        ("Concat", ("x", "x"), {"axis": -1}, "axis −1"),
        ("Concat", ("x", np.array([7, 9])), {"axis": 0}, "axis 0"),
        ("Unsqueeze", ("x", np.array([0, 2])), {}, "axes 0 2"),
        ("Squeeze", ("x",), {}, None),
        ("CumSum", ("x", np.int64(1)), {}, "axis 1"),
        ("ReduceMean", ("x",), {"axes": [2, 3]}, "axes 2 3"),
        ("ReduceSum", ("x", np.array([-1])), {}, "axis −1"),
        ("ReduceSum", ("x",), {}, None),
        ("Softmax", ("x",), {"axis": -1}, None),
        ("Softmax", ("x",), {"axis": 1}, "axis 1"),
        ("Slice", ("x", np.array([0]), np.array([64]), np.array([1])), {}, "axis 1, :64"),
        ("Slice", ("x", np.array([1]), np.array([2**63 - 1]), np.array([-1])), {}, "axis −1, 1:"),
        (
            "Slice",
            ("x", np.array([-1]), np.array([-(2**63)]), np.array([2]), np.array([-1])),
            {},
            "axis 2, −1::−1",
        ),
        ("Slice", ("x", np.array([0, 1]), np.array([4, 9])), {}, "axes 0 1, :4 1:9"),
        ("Slice", ("x", np.array([0]), np.array([4]), "x"), {}, None),
        ("Slice", ("x", np.array([0]), "x", np.array([1])), {}, None),
        ("Slice", ("x", np.array([0, 1]), np.array([4])), {}, None),
        ("Pad", ("x", np.array([0, 0, 1, 1, 0, 0, 1, 1])), {}, "by 1"),
        ("Pad", ("x", np.array([0, 0, 1, 2, 0, 0, 1, 2])), {"mode": "reflect"}, "reflect"),
        ("Pad", ("x", np.array([0, 0, 3, 3, 0, 0, 3, 3])), {"mode": "edge"}, "edge by 3"),
        ("Pad", ("x", np.zeros(8, np.int64)), {}, None),
        ("Resize", ("x", "", F([1, 1, 2, 2])), {"mode": "nearest"}, "×2, nearest"),
        ("Resize", ("x", "", F([1, 1, 2, 1.5])), {}, "×2×1.5"),
        ("Resize", ("x", "", "", np.array([1, 4, 16, 16])), {"mode": "linear"}, "→ 1×4×16×16, linear"),
        ("Split", ("x",), {"axis": 1}, "axis 1, into 1"),
        ("Tile", ("x", np.array([1, 1, 2, 2])), {}, "1×1×2×2"),
        ("Range", (np.int64(0), np.int64(16), np.int64(2)), {}, "0:16:2"),
        ("Range", (np.int64(0), "x", np.int64(1)), {}, "from 0"),
        ("Einsum", ("x", "x"), {"equation": "bij,bjk->bik"}, "bij,bjk->bik"),
        ("Einsum", ("x", "x"), {"equation": "é" * 40}, None),
        ("Gelu", ("x",), {"approximate": "tanh"}, "tanh"),
        ("Gelu", ("x",), {"approximate": "none"}, None),
        (
            "LSTM",
            ("x", "x", "x"),
            {"hidden_size": 128, "direction": "bidirectional"},
            "hidden 128, bidirectional",
        ),
        ("GRU", ("x", "x", "x"), {"hidden_size": 64}, "hidden 64"),
        ("DepthToSpace", ("x",), {"blocksize": 2}, "by 2"),
        ("QuantizeLinear", ("x", F(0.5), np.uint8(128)), {}, "÷ 0.5 + 128"),
        ("QuantizeLinear", ("x", F(0.5), np.int8(-3)), {}, "÷ 0.5 − 3"),
        ("QuantizeLinear", ("x", F(0.5), "x"), {}, None),
        ("QuantizeLinear", ("x", F([0.5, 0.25])), {}, None),
        ("DequantizeLinear", ("x", F(0.5)), {}, "× 0.5"),
        ("DequantizeLinear", ("x", F(0.5), np.int8(-3)), {}, "(x + 3) × 0.5"),
        (
            "Conv",
            ("x", np.ones((4, 1, 3, 3), F)),
            {"group": 4, "strides": [2, 2]},
            "3×3, stride 2, depthwise",
        ),
        (
            "Conv",
            ("x", np.ones((4, 2, 3, 1), F)),
            {"group": 2, "dilations": [2, 1]},
            "3×1, dilation 2×1, 2 groups",
        ),
        ("Conv", ("x", "x"), {"kernel_shape": [1, 1], "strides": [1, 1]}, "1×1"),
        (
            "ConvTranspose",
            ("x", np.ones((4, 1, 2, 2), F)),
            {"group": 2, "strides": [2, 2]},
            "2×2, stride 2, 2 groups",
        ),
        ("Gather", ("x", np.arange(4)), {"axis": 1}, None),
        ("MaxPool", ("x",), {"kernel_shape": [3, 3], "strides": [2, 2]}, "3×3, stride 2"),
        ("AveragePool", ("x",), {"kernel_shape": [3, 1]}, "3×1"),
        ("LeakyRelu", ("x",), {"alpha": 0.1}, "0.1"),
        ("Transpose", ("x",), {"perm": [0, 2, 3, 1]}, "perm 0 2 3 1"),
        ("Transpose", ("x",), {}, None),
        ("TopK", ("x", np.array([100])), {}, "k = 100"),
        ("Where", (np.bool_(True), "x", F(-3.4e38)), {}, "else −3.4e38"),
        ("Relu", ("x",), {}, None),
    ],
)
def test_settings(op, inputs, attributes, text):
    assert setting(op, *inputs, **attributes) == text


def test_bounds_of_clip_as_attributes():
    assert setting("Clip", "x", opset=10, min=0.0, max=6.0) == "0 … 6"


def test_filling_of_a_shape():
    one = helper.make_tensor("value", TensorProto.FLOAT, [1], [1.0])
    assert setting("ConstantOfShape", "x", value=one) == "1"
    assert setting("ConstantOfShape", "x") == "0"


def test_scales_of_resize_where_they_were_the_second_input():
    assert setting("Resize", "x", F([1, 1, 4, 4]), opset=10) == "×4"


@pytest.mark.parametrize(
    ("op", "attributes", "text"),
    [
        ("GroupQueryAttention", {"num_heads": 32, "kv_num_heads": 8}, "32 heads, 8 KV heads"),
        ("MultiHeadAttention", {"num_heads": 12}, "12 heads"),
        ("MatMulNBits", {"bits": 4, "block_size": 32}, "4 bits, blocks of 32"),
        ("FusedMatMul", {"alpha": 0.125}, "× 0.125"),
        ("FusedMatMul", {"alpha": 1.0}, None),
        ("FusedConv", {"activation": "Relu"}, "+ Relu"),
    ],
)
def test_operators_of_onnx_runtime(op, attributes, text):
    assert setting(op, "x", "x", domain="com.microsoft", **attributes) == text


def test_an_operator_of_another_domain_has_none():
    assert setting("Add", "x", F(1), domain="vendor") is None


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("MaxPool", {"kernel_shape": [3] * 40, "strides": [2]}),
        ("MaxPool", {"kernel_shape": "3"}),
        ("Transpose", {"perm": list(range(100))}),
        ("Cast", {"to": "float"}),
        ("LeakyRelu", {"alpha": [1.5, 2.5]}),
        ("Clip", {"min": [0.0]}),
        ("Conv", {"group": "4", "strides": [2.5], "kernel_shape": [10**12] * 5}),
        ("Concat", {"axis": [1] * 20}),
        ("ReduceMean", {"axes": [0.5]}),
        ("Split", {"axis": "x"}),
        ("Slice", {"starts": [0], "ends": "x"}),
        ("Resize", {"mode": "x" * 100, "scales": ["a"]}),
        ("LSTM", {"hidden_size": [4], "direction": 3}),
        ("Reshape", {"shape": [2**62] * 6}),
        ("ConstantOfShape", {"value": 3}),
        ("Softmax", {"axis": 1.5}),
    ],
)
def test_odd_attributes_are_left_out(op, attributes):
    text = setting(op, "x", **attributes)
    assert text is None or len(text) <= MAX_TEXT


values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(width=32),
    st.text(max_size=40),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=10),
    st.lists(st.floats(width=32), max_size=10),
)
arrays = st.one_of(
    st.just("x"),
    st.just(""),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=10).map(lambda held: np.array(held, np.int64)),
    st.lists(st.floats(width=32), max_size=10).map(lambda held: np.array(held, F)),
    st.booleans().map(np.bool_),
)
NAMES = sorted(
    {
        *(
            "alpha",
            "axes",
            "axis",
            "bits",
            "block_size",
            "blocksize",
            "dilations",
            "direction",
            "equation",
            "ends",
        ),
        *(
            "group",
            "hidden_size",
            "kernel_shape",
            "kv_num_heads",
            "max",
            "min",
            "mode",
            "num_heads",
            "pads",
            "perm",
        ),
        *("scales", "shape", "starts", "strides", "to", "value"),
    }
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(sorted(_RULES)),
    st.lists(arrays, max_size=5),
    st.dictionaries(st.sampled_from(NAMES), values),
)
def test_whatever_a_node_holds_gives_a_short_text_or_none(key, inputs, attributes):
    domain, op = key
    held = {name: value for name, value in attributes.items() if value not in (None, [])}
    text = setting(op, *inputs, domain=domain, **held)
    assert text is None or 0 < len(text) <= MAX_TEXT
    assert text is None or text == text.strip()
