"""The scalars and short settings that a card shows."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.report.analysis import Options, run
from py_autodoc.report.node_settings import MAX_TEXT
from py_autodoc.report.payload import build_payload

F = np.float32


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
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("vendor", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    return build_payload(run(model, Options())).nodes.settings.get("0")


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
        ("Gather", ("x", np.int64(0)), {"axis": 1}, "[0]"),
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
    ],
)
def test_odd_attributes_are_left_out(op, attributes):
    text = setting(op, "x", **attributes)
    assert text is None or len(text) <= MAX_TEXT
