"""The widget's model at sizes that it does not show, analysed by the kernel."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import TensorProto, helper

from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.widget.sized import TYPE
from py_autodoc.widget.sources import ModelSource

pytestmark = pytest.mark.slow


def model() -> Any:
    """x · w of a free batch."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [value("x", TensorProto.FLOAT, ["batch", 8])],
        [value("y", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor("w", TensorProto.FLOAT, [8, 4], [0.0] * 32)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def ask(dims: Any) -> dict[str, Any]:
    from test_widget_weights import Line

    from py_autodoc.widget.sized import answer_sized

    line, source = Line(), ModelSource(model(), {})
    answer_sized(line, lambda: (source.model, None), source.subject)
    line.hear(line, {"type": TYPE, "id": "a", "dims": dims}, [])
    (answer,) = line.sent
    assert (answer["type"], answer["id"]) == (TYPE, "a")
    return answer


def test_numbers_are_those_of_an_analysis() -> None:
    found = ask({"batch": 6})["value"]
    wanted = run_analysis(model(), Options(bindings={"batch": 6})).totals
    assert found["metrics"]["total_macs"] == wanted.macs == 6 * 8 * 4
    assert [(dim["name"], dim["value"]) for dim in found["dims"]] == [("batch", 6)]


@pytest.mark.parametrize("dims", [{"batch": 0}, {"batch": "6"}, {"nobody": 3}, None, [1], {"batch": 2**70}])
def test_what_is_no_size_is_a_problem(dims: Any) -> None:
    problem = ask(dims)["problem"]
    assert problem["code"]
    assert problem["detail"]
