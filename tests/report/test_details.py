"""One node's details, and how values become bounded JSON."""

from __future__ import annotations

import math

import onnx
import pytest
from builders import F, branches, linear, model, weight
from onnx import helper

from py_autodoc.graph.building.operator_docs import op_doc
from py_autodoc.report.builders.node_details import node_details
from py_autodoc.report.encode.json_values import json_float, json_value
from py_autodoc.report.pipeline.analysis import run_analysis


def details(source, node):
    found = run_analysis(source.SerializeToString())
    return node_details(found.loaded, found.model, found.types, node)


def conv():
    return model(
        [helper.make_node("Conv", ["x", "w"], ["y"], name="c", strides=[2, 2], doc_string="first")],
        [("x", [1, 1, 8, 8])],
        [("y", None)],
        [weight("w", 2, 1, 3, 3)],
    )


def test_attributes_with_defaults():
    found = details(conv(), 0)
    by_name = {a.name: a for a in found.attributes}
    assert (by_name["strides"].value, by_name["strides"].default, by_name["strides"].type) == (
        [2, 2],
        False,
        "ints",
    )
    assert (by_name["group"].value, by_name["group"].default) == (1, True)
    assert by_name["auto_pad"].value == "NOTSET"
    assert "pad" in by_name["auto_pad"].description
    assert "dilations" not in by_name  # no default of its own
    assert found.doc_string == "first"


def test_constants():
    (found,) = details(conv(), 0).constants
    assert (found.name, found.elem_type, found.shape, found.bytes) == ("w", "float32", [2, 1, 3, 3], 72)
    assert found.values == [0.0] * 18


def test_operator_documentation():
    found = details(conv(), 0).operator
    assert found.since_version == 11
    assert "convolution" in found.doc
    assert [item["name"] for item in found.inputs] == ["X", "W", "B"]
    assert found.inputs[2]["option"] == "optional"
    assert found.url == "https://onnx.ai/onnx/operators/onnx__Conv.html"


@pytest.mark.parametrize(
    ("domain", "op", "opset"),
    [("com.microsoft", "Attention", 1), ("", "NoSuchOp", 20), ("", "Conv\0", 20), ("", "é" * 9, 1)],
)
def test_operators_without_documentation(domain, op, opset):
    assert op_doc(domain, op, opset) is None


@pytest.mark.parametrize("opset", [0, 9999, 2**40])
def test_odd_opsets_get_the_newest(opset):
    assert op_doc("", "Relu", opset) == op_doc("", "Relu", onnx.defs.onnx_opset_version())


def test_a_node_in_a_body_is_found():
    source = branches()
    found = run_analysis(source.SerializeToString())
    for node in found.model.nodes:
        about = node_details(found.loaded, found.model, found.types, node.id)
        assert about.type == node.op_type
        declared = {a.name for a in about.attributes if not a.default}
        assert declared == set(node.attributes)
    gate = next(node for node in found.model.nodes if node.op_type == "If")
    values = {
        a.name: a.value for a in node_details(found.loaded, found.model, found.types, gate.id).attributes
    }
    assert values["then_branch"] == {"graph": "/gate/If.then_branch", "nodes": 2}


def test_nodes_out_of_order_keep_their_text():
    nodes = [
        helper.make_node("Neg", [f"t{i}"], [f"t{i + 1}"], name=f"n{i}", doc_string=f"the {i}th")
        for i in range(4)
    ]
    found = run_analysis(model(nodes[::-1], [("t0", [2])], [("t4", [2])]).SerializeToString())
    assert found.model.graphs[0].nodes == (3, 2, 1, 0)
    assert found.model.graphs[0].first == 0
    for node in found.model.nodes:
        about = node_details(found.loaded, found.model, found.types, node.id)
        assert about.doc_string == f"the {about.name[1:]}th"


def test_stack_trace_and_metadata():
    source = linear()
    entries = {"pkg.torch.onnx.stack_trace": 'File "m.py", line 1', "mine": "<script>"}
    for key, value in entries.items():
        source.graph.node[0].metadata_props.add(key=key, value=value)
    found = details(source, 0)
    assert found.stack_trace == 'File "m.py", line 1'
    assert found.metadata == {"mine": "<script>"}


def test_long_things_are_cut():
    source = linear()
    source.graph.node[0].doc_string = "d" * 100_000
    source.graph.node[0].attribute.append(helper.make_attribute("many", list(range(5000))))
    source.graph.node[0].attribute.append(helper.make_attribute("text", "t" * 100_000))
    found = details(source, 0)
    values = {a.name: a.value for a in found.attributes}
    assert len(found.doc_string) <= 4096
    assert len(values["text"]) <= 4096
    assert values["many"] == {"first": list(range(64)), "count": 5000}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (9.999999747378752e-06, 1e-05),
        (0.10000000149011612, 0.1),
        (1.0, 1.0),
        (3.4028234663852886e38, 3.4028235e38),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (1 / 3, 1 / 3),
    ],
)
def test_floats(value, expected):
    assert json_float(value) == expected


def test_values():
    assert json_value(True) is True
    assert json_value(b"a\xff") == "a\\xff"
    assert json_value([1.0, math.inf]) == [1.0, "Infinity"]
    tensor = helper.make_tensor("t", F, [2], [1.0, math.nan])
    source = model([helper.make_node("Constant", [], ["y"], value=tensor)], [], [("y", [2])])
    (value,) = details(source, 0).attributes
    assert value.value == {"dtype": "float32", "shape": [2], "values": [1.0, "NaN"]}
