"""A model of which nothing is quantized: the message says where its products are."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.int8_kernels.text import remedy
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
