"""Doc strings and metadata of parts of a model are in the report, as data and of limited size."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import py_autodoc
from py_autodoc.graph.loading.descriptions import MAX_CHARACTERS, MAX_DESCRIPTIONS

BAD = "<script>alert(1)</script>\u202e|](x)"


def documented(text="what it is"):
    """A model with a text on each part."""
    inner = helper.make_graph(
        [helper.make_node("Identity", ["h"], ["i"])],
        "branch",
        [],
        [helper.make_tensor_value_info("i", TensorProto.FLOAT, [2])],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Twice", ["x"], ["t"], domain="own"),
            helper.make_node("Mul", ["t", "w"], ["h"]),
            helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
        ],
        "main",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        [numpy_helper.from_array(np.ones(2, np.float32), "w")],
        value_info=[helper.make_tensor_value_info("h", TensorProto.FLOAT, [2])],
    )
    opsets = [helper.make_opsetid("", 17)]
    twice = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], opsets
    )
    opsets.append(helper.make_opsetid("own", 1))
    model = helper.make_model(graph, functions=[twice], opset_imports=opsets, ir_version=10)
    parts = {
        "graph": model.graph,
        "subgraph": model.graph.node[2].attribute[0].g,
        "input": model.graph.input[0],
        "output": model.graph.output[0],
        "initializer": model.graph.initializer[0],
        "value": model.graph.value_info[0],
        "function": model.functions[0],
    }
    for kind, part in parts.items():
        part.doc_string = f"{kind} {text}"
        part.metadata_props.add(key="unit", value=f"{kind} {text}")
        part.metadata_props.add(key="pkg.torch.record", value="for tools")
    return model


def test_every_part_is_described():
    model = py_autodoc.analyze(documented()).model
    assert {one.kind: one.name for one in model.descriptions} == {
        "graph": "main", "subgraph": "branch", "input": "x", "output": "y", "initializer": "w", "value": "h",
        "function": "Twice",
    }  # fmt: skip
    for one in model.descriptions:
        assert (one.doc_string, one.metadata) == (
            f"{one.kind} what it is",
            {"unit": f"{one.kind} what it is"},
        )
    assert model.num_descriptions == 7


def test_a_model_without_texts_has_none():
    found = py_autodoc.analyze("tests/data/models/mnist_cntk.onnx").model
    assert (found.descriptions, found.num_descriptions) == ([], 0)


def test_records_of_exporters_alone_are_no_description():
    model = documented()
    model.graph.input[0].doc_string = ""
    del model.graph.input[0].metadata_props[:]
    model.graph.input[0].metadata_props.add(key="pkg.torch.onnx.x", value="record")
    assert "input" not in {one.kind for one in py_autodoc.analyze(model).model.descriptions}


def test_texts_are_limited():
    model = documented("x" * 5000)
    for number in range(200):
        value = model.graph.value_info.add(name=f"v{number}")
        value.doc_string = "text"
    found = py_autodoc.analyze(model).model
    assert len(found.descriptions) == MAX_DESCRIPTIONS < found.num_descriptions == 207
    texts = [text for one in found.descriptions for text in (one.doc_string, *one.metadata.values())]
    assert max(map(len, texts)) <= MAX_CHARACTERS


def test_documents_show_them_as_text():
    report = py_autodoc.analyze(documented(BAD))
    card = py_autodoc.to_markdown(documented(BAD))
    assert "Documentation of parts" in card
    assert "<script>alert" not in re.sub("`[^`]*`", "", card)  # only as code
    assert "\u202e" not in card
    assert json.loads(report.to_json())["model"]["descriptions"][0]["doc_string"].startswith("graph <script>")


@pytest.mark.parametrize("kind", ["input", "output", "initializer", "value"])
def test_paths_in_them_are_found(kind):
    model = documented()
    parts = {
        "input": model.graph.input, "output": model.graph.output, "initializer": model.graph.initializer,
        "value": model.graph.value_info,
    }  # fmt: skip
    parts[kind][0].doc_string = "made in /home/mallory/models/net.py"
    signals = py_autodoc.analyze(model).risk_signals
    assert any("path" in one.id for one in signals), [one.id for one in signals]
