"""Types with maps are shown as a whole, and kept by what reads and writes models."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

import py_autodoc
from py_autodoc.cli.app import app
from py_autodoc.compare.topology import same_topology
from py_autodoc.extract.write_sub_model import extract
from py_autodoc.graph.protobuf.tensor_protos import declared_type

FLOAT = helper.make_tensor_type_proto(TensorProto.FLOAT, [])


def map_of(key, value=FLOAT):
    return helper.make_map_type_proto(key, value)


TYPES = {
    "map(int64, float)": map_of(TensorProto.INT64),
    "sequence(map(string, float))": helper.make_sequence_type_proto(map_of(TensorProto.STRING)),
    "optional(sequence(map(int64, double)))": helper.make_optional_type_proto(
        helper.make_sequence_type_proto(
            map_of(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.DOUBLE, None))
        )
    ),
    "map(int64, map(int64, float))": map_of(TensorProto.INT64, map_of(TensorProto.INT64)),
    "map(int64, unknown)": map_of(TensorProto.INT64, onnx.TypeProto()),
    "map(unknown, float)": map_of(TensorProto.UNDEFINED),
}


@pytest.mark.parametrize("text", TYPES)
def test_the_whole_type(text):
    assert declared_type(TYPES[text]) == (text, 0, None)


def classifier(path, key=TensorProto.INT64):
    labels = {"classlabels_int64s": range(2)} if key == TensorProto.INT64 else {"classlabels_strings": "ab"}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], "product"),
        helper.make_node("ZipMap", ["p"], ["z"], "zip", domain="ai.onnx.ml", **labels),
    ]
    declared = helper.make_value_info("z", helper.make_sequence_type_proto(map_of(key)))
    weight = numpy_helper.from_array(np.ones((4, 2), np.float32), "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    graph = helper.make_graph(nodes, "g", [x], [declared], [weight])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def test_it_is_shown(tmp_path):
    path = classifier(tmp_path / "m.onnx")
    output = py_autodoc.analyze(path).graph.outputs[0]
    assert (output.container, output.elem_type) == ("map", "sequence(map(int64, float))")
    done = CliRunner().invoke(app, ["analyze", str(path)])
    assert "sequence(map(int64, float))" in done.output
    assert "map of" not in done.output


def test_it_is_kept_and_compared(tmp_path):
    path = classifier(tmp_path / "m.onnx")
    other = classifier(tmp_path / "n.onnx", TensorProto.STRING)
    assert not same_topology(path, path)
    assert any("string" in str(one) for one in same_topology(path, other))
    extract(path, tmp_path / "part.onnx", outputs=["z"])
    declared = onnx.load(path).graph.output[0].type
    assert onnx.load(tmp_path / "part.onnx").graph.output[0].type == declared
    assert onnx.load(path) == onnx.load(classifier(tmp_path / "again.onnx"))
