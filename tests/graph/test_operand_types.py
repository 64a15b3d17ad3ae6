"""Element types of operands against the definitions of operators: faults found, none where there is none."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper
from onnx_node_tests import node_cases

from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.graph.shapes import infer

F, H, D, I64, I32, B = (
    TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.INT32,
    TensorProto.BOOL,
)  # fmt: skip
node = helper.make_node


def value(name, kind, *dims):
    return helper.make_tensor_value_info(name, kind, list(dims))


def model(nodes, inputs, opset=17, outputs=("y",), functions=(), declared=0) -> bytes:
    ends = [value(name, kind, 4, 4) for name, kind in inputs.items()]
    results = [
        helper.make_tensor_value_info(name, declared, None)
        if declared
        else helper.make_empty_tensor_value_info(name)
        for name in outputs
    ]
    graph = helper.make_graph(nodes, "g", ends, results)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("f", 1)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions))
    return made.SerializeToString()


def found(data: bytes) -> list[tuple[str, str]]:
    loaded = load_bytes(data, "m")
    return [(one.code, one.message) for one in infer(loaded, build(loaded), {}, {}).diagnostics]


def faults(data: bytes) -> list[str]:
    return [said for code, said in found(data) if code == "operand-type"]


WRONG = {
    "a type that is not accepted": (
        model([node("Sigmoid", ["a"], ["y"])], {"a": I64}),
        "Sigmoid does not accept int64 for its input 0 (X).",
    ),
    "a type that a later opset accepts": (
        model([node("Relu", ["a"], ["y"])], {"a": I64}, 13),
        "Relu does not accept int64 for its input 0 (X).",
    ),
    "a shared variable": (
        model([node("MatMul", ["a", "b"], ["y"])], {"a": F, "b": H}),
        "MatMul has inputs 0 (float) and 1 (float16), which must be of one type.",
    ),
    "a shared variable behind another": (
        model([node("Where", ["c", "a", "b"], ["y"])], {"a": F, "b": D, "c": B}),
        "Where has inputs 1 (float) and 2 (double), which must be of one type.",
    ),
    "an optional input after one that is left out": (
        model([node("Clip", ["a", "", "b"], ["y"])], {"a": F, "b": I64}),
        "Clip has inputs 0 (float) and 2 (int64), which must be of one type.",
    ),
    "a variadic input": (
        model([node("Concat", ["a", "a", "b"], ["y"], axis=0)], {"a": F, "b": D}),
        "Concat has inputs 0 (float) and 2 (double), which must be of one type.",
    ),
    "an input of a fixed type": (
        model([node("Reshape", ["a", "b"], ["y"])], {"a": F, "b": I32}),
        "Reshape does not accept int32 for its input 1 (shape).",
    ),
    "a type that is computed": (
        model([node("Shape", ["a"], ["s"]), node("Exp", ["s"], ["y"])], {"a": F}),
        "Exp does not accept int64 for its input 0 (input).",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name):
    data, said = WRONG[name]
    assert faults(data) == [said]


RIGHT = {
    "a newer opset": model([node("Relu", ["a"], ["y"])], {"a": I64}, 14),
    "variables of their own": model([node("Gather", ["a", "b"], ["y"])], {"a": F, "b": I32}),
    "two variables": model([node("Pow", ["a", "b"], ["y"])], {"a": F, "b": I64}),
    "an operator of another domain": model([node("Sigmoid", ["a"], ["y"], domain="f")], {"a": I64}),
    "an operator that nobody defines": model([node("Nonsense", ["a"], ["y"])], {"a": I64}),
    "an unknown type": model([node("Nonsense", ["a"], ["h"]), node("Sigmoid", ["h"], ["y"])], {"a": I64}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_or_unknown_is_not(name):
    assert faults(RIGHT[name]) == []


def test_only_the_first_of_a_chain_is_told():
    """What follows from a wrong type is not known, nor is a declaration that differs from it wrong."""
    chain = [node("Sigmoid", ["a"], ["h"]), node("Exp", ["h"], ["y"])]
    assert found(model(chain, {"a": I64}, declared=F)) == [
        ("operand-type", "Sigmoid does not accept int64 for its input 0 (X).")
    ]


def test_bodies_and_functions():
    def body(name, op, made):
        return helper.make_graph(
            [node(op, ["a"], [made])], name, [], [helper.make_empty_tensor_value_info(made)]
        )

    choose = node("If", ["c"], ["y"], then_branch=body("t", "Erf", "p"), else_branch=body("e", "Not", "q"))
    assert faults(model([choose], {"a": F, "c": B})) == ["Not does not accept float for its input 0 (X)."]
    function = helper.make_function(
        "f", "F", ["u"], ["v"], [node("Not", ["u"], ["v"])], [helper.make_opsetid("", 17)]
    )
    call = node("F", ["a"], ["y"], domain="f")
    assert faults(model([call], {"a": F}, functions=[function])) == [
        "Not does not accept float for its input 0 (X)."
    ]
    older = helper.make_function(
        "f", "F", ["u"], ["v"], [node("Relu", ["u"], ["v"])], [helper.make_opsetid("", 17)]
    )
    assert faults(model([call], {"a": I64}, 13, functions=[older])) == []


@pytest.mark.slow
def test_no_node_test_is_wrong():
    wrong = {case.name: faults(case.model.SerializeToString()) for case in node_cases()}
    assert {name for name, said in wrong.items() if said} == set()
