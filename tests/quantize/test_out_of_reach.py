"""A model of which nothing is quantized: the message says where its products are."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.int8_kernels.text import remedy
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.lines import quantization_lines
from py_autodoc.quantize.out_of_reach import nothing_quantized

WEIGHT = numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")
PRODUCT = helper.make_node("MatMul", ["x", "w"], ["p"])
RESULT = helper.make_tensor_value_info("p", TensorProto.FLOAT, None)


def model(*nodes, weight=WEIGHT, functions=()):
    graph = helper.make_graph(nodes, "g", [], [], [weight])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions))


def inside(op_type, *names, node=PRODUCT):
    body = helper.make_graph([node], "body", [], [RESULT])
    return helper.make_node(op_type, ["c"], ["p"], **dict.fromkeys(names, body))


CALLED = helper.make_function("f", "Layer", ["x", "w"], ["p"], [PRODUCT], [helper.make_opsetid("", 17)])
DOUBLE = numpy_helper.from_array(np.eye(4), "w")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (model(functions=[CALLED]), "its MatMul is inside the function Layer"),
        (model(inside("If", "then_branch", "else_branch")), "its MatMul is inside a branch"),
        (model(inside("Loop", "body")), "its MatMul is inside a loop"),
        (model(inside("Loop", "body", node=inside("If", "then_branch"))), "its MatMul is inside a branch"),
        (model(PRODUCT, weight=DOUBLE), "its products are in float64"),
        (model(helper.make_node("Relu", ["x"], ["p"])), "no operators that static quantizes"),
    ],
)
def test_the_message_says_where_products_are(made: onnx.ModelProto, expected: str) -> None:
    why, hint = nothing_quantized(made, "static")
    assert expected in why
    assert "Use static" not in hint


def test_the_remedy_is_not_the_target_in_use() -> None:
    assert "--target" not in remedy("cpu-avx2")
    assert "--target cpu-avx2" in remedy("")


@pytest.mark.parametrize("method", ["static", "dynamic", "int8-weights"])
def test_a_result_names_the_products_that_stay_float_outside_the_main_graph(method, tmp_path):
    pytest.importorskip("onnxruntime")
    weight = numpy_helper.from_array(np.eye(32, dtype=np.float32), "w")
    branch = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["i"], "inner")],
        "branch",
        [],
        [helper.make_tensor_value_info("i", TensorProto.FLOAT, [2, 32])],
    )
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], "outer"),
        helper.make_node("If", ["c"], ["q"], "choice", then_branch=branch, else_branch=branch),
        helper.make_node("Add", ["p", "q"], ["y"], "sum"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 32]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 32])],
        [weight],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, tmp_path / "m.onnx")
    found = quantize(tmp_path / "m.onnx", tmp_path / "q.onnx", None, Recipe(method=method), random_data=True)
    assert found.form.quantized == {"MatMul": 1}
    if method == "int8-weights":  # this tool also reads branches
        assert (found.form.outside, found.form.float_names) == ({}, [])
        return
    assert found.form.outside == {"MatMul in a branch": 2}
    assert found.form.float_names == ["inner", "inner"]
    text = "\n".join(quantization_lines(found))
    assert "Outside the main graph, products stay float: 2 MatMul in a branch." in text
    assert ("--method dynamic is often more accurate" in text) == (method == "static")
