"""Totals in symbolic dimensions as the summary shows them."""

from pathlib import Path

import onnx
import pytest
from onnx import helper

from py_autodoc import analyze
from py_autodoc.cli.expression_lines import expression_lines

DATA = Path(__file__).parents[1] / "data"


def lines(source, **options) -> dict[str, str]:
    return dict(expression_lines(analyze(source, **options)))


def test_a_transformer():
    shown = lines(DATA / "stripped/bert_base_dyn.stripped.onnx")
    assert shown["MACs"] == "18.4 K·batch·seq² + 84.9 M·batch·seq"
    assert shown["Peak activations"].startswith("max(4 B·batch·seq² + 18.4 kB·batch·seq")
    assert shown["where"] == "513 - seq >= 1"
    assert lines(DATA / "stripped/bert_base_dyn.stripped.onnx", bindings={"*": 2}) == shown


def test_a_static_model_has_none():
    assert lines(DATA / "models/resnet_tiny.onnx") == {}


@pytest.mark.slow
def test_what_has_no_formula_says_why():
    shown = lines(DATA / "models/silero_vad_half.onnx")
    assert all(shown[label].startswith("—  (") for label in ("MACs", "FLOPs", "Peak activations"))
    assert "where" not in shown


def model(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", 1, ["batch\x1b size", 100])],
        [onnx.ValueInfoProto(name=nodes[-1].output[0])],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("custom", 1)]
    return helper.make_model(graph, opset_imports=opsets)


def test_names_are_those_of_the_file_and_inert():
    shown = lines(model(helper.make_node("Relu", ["x"], ["y"])))
    assert "\x1b" not in shown["FLOPs"]
    assert shown["FLOPs"].startswith("100·batch")


def test_an_unknown_operator_makes_a_lower_bound():
    nodes = (
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Mystery", ["y"], ["z"], domain="custom"),
    )
    assert lines(model(*nodes))["FLOPs"].startswith("≥ 100·batch")
