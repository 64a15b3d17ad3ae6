"""One table says what a diagnostic means for running the model, and nobody keeps another."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.graph.ir.diagnostic_causes import (
    CAUSES,
    FailureCause,
    contradicts_sizes,
    depends_on_sizes,
    prevents_execution,
)
from py_autodoc.graph.ir.model import Diagnostic
from py_autodoc.report.builders.runnable_section import runnable
from py_autodoc.report.pipeline.analysis import Options, run_analysis

ROOT = Path(__file__).parents[2]
F = TensorProto.FLOAT
INPUTS = [helper.make_tensor_value_info("x", F, ["n", 3])]


def model(*nodes: object) -> bytes:
    """A model with an input ``x`` of (n, 3) and constants to contradict it."""
    constants = [
        numpy_helper.from_array(np.ones((4, 5), np.float32), "w"),
        numpy_helper.from_array(np.array([-1, -1]), "two"),
    ]
    outputs = [helper.make_tensor_value_info("y", F, None)]
    graph = helper.make_graph(nodes, "g", INPUTS, outputs, initializer=constants)
    data: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    return data


MODELS = {
    "bad-attribute": model(helper.make_node("Concat", ["x", "x"], ["y"], axis=7)),
    "bad-shape": model(helper.make_node("Reshape", ["x", "two"], ["y"])),
    "cycle": model(helper.make_node("Add", ["x", "y"], ["z"]), helper.make_node("Relu", ["z"], ["y"])),
    "shape-mismatch": model(helper.make_node("MatMul", ["x", "w"], ["y"])),
    "undefined-input": model(helper.make_node("Relu", ["nowhere"], ["y"])),
}


@pytest.mark.parametrize("code", MODELS)
def test_a_code_that_stops_a_node_stops_the_model(code: str) -> None:
    found = run_analysis(MODELS[code], Options(bindings={"n": 2}))
    assert code in {d.code for d in found.diagnostics if prevents_execution(d)}
    assert found.contradiction is not None
    assert found.contradiction.code == code
    verdict = runnable(found)
    assert (verdict.verdict, verdict.sizes) == ("no", CAUSES[code] is FailureCause.SIZES)


def test_every_code_is_judged_and_told() -> None:
    told = set(re.findall(r"^\| `([a-z-]+)`", (ROOT / "docs/diagnostics.md").read_text(), re.MULTILINE))
    assert set(CAUSES) <= told
    assert {code for code, cause in CAUSES.items() if cause is not FailureCause.UNKNOWN} == set(MODELS)


@pytest.mark.parametrize("code", CAUSES)
def test_the_questions_agree(code: str) -> None:
    here, branch = Diagnostic(code, "warning", "m", node=1), Diagnostic(code, "info", "m", node=1)
    nowhere = Diagnostic(code, "warning", "m")
    assert not prevents_execution(branch)
    assert not prevents_execution(nowhere)
    assert not contradicts_sizes(nowhere)
    assert contradicts_sizes(here) == contradicts_sizes(branch) == (CAUSES[code] is not FailureCause.FILE)
    assert depends_on_sizes(code) == (prevents_execution(here) and contradicts_sizes(here))


def test_no_second_list_of_these_codes() -> None:
    for path in (ROOT / "py_autodoc").rglob("*.py"):
        text = path.read_text()
        listed = [line for line in text.splitlines() if sum(f'"{code}"' in line for code in CAUSES) > 1]
        assert not listed, f"{path.relative_to(ROOT)} judges for itself: {listed}"
