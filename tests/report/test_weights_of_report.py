"""``read_weights`` and ``Report.weights``: finding the constant, and what the JSON says of its numbers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import py_autodoc
from py_autodoc.errors import InputError, OptionError, PathError
from py_autodoc.report.document.report import Report

MODELS = Path(__file__).parents[1] / "data" / "models"
RESNET = MODELS / "resnet_tiny.onnx"
NAME = "m.resnet.embedder.embedder.convolution.weight"


def one(array, name="w"):
    """A model in memory with one initializer."""
    info = helper.make_tensor_value_info
    node = helper.make_node("Identity", ["x"], ["y"])
    held = array if isinstance(array, TensorProto) else numpy_helper.from_array(array, name)
    graph = helper.make_graph([node], "g", [info("x", 1, [1])], [info("y", 1, [1])], [held])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("form", [RESNET, str(RESNET), RESNET.read_bytes(), onnx.load(RESNET)], ids=type)
def test_any_form_of_a_model(form):
    (proto,) = [t for t in onnx.load(RESNET).graph.initializer if t.name == NAME]
    array = numpy_helper.to_array(proto)
    found = py_autodoc.read_weights(form, NAME)
    assert (found.shape, found.bytes, found.elem_type) == (list(array.shape), array.nbytes, "float32")
    assert np.float32(found.min) == array.min()
    assert np.isclose(found.mean, array.mean(dtype=np.float64))
    assert np.array_equal(np.array(found.values, np.float32), array.reshape(-1)[:200])
    assert py_autodoc.read_weights(form, found.tensor) == found
    assert json.loads(found.to_json(indent=2)) == found.to_dict()


def test_external_data_are_found_beside_the_model():
    path = MODELS / "resnet_tiny_ext.onnx"
    inside = py_autodoc.read_weights(RESNET, NAME)
    beside = py_autodoc.read_weights(path, NAME)
    assert (beside.storage, beside.location) == ("external", "resnet_tiny_ext.bin")
    assert (inside.storage, inside.location) == ("inline", "")
    assert beside.values == inside.values


def test_values_in_the_digits_of_their_type():
    single = py_autodoc.read_weights(one(np.array([0.1, np.nan, -np.inf, 1e-30], np.float32)), "w")
    assert single.values == [0.1, "NaN", "-Infinity", 1e-30]
    double = py_autodoc.read_weights(one(np.array([0.1, 0.10000000149011612])), "w")
    assert double.values == [0.1, 0.10000000149011612]
    assert py_autodoc.read_weights(one(np.array([True, False])), "w").values == [True, False]
    large = py_autodoc.read_weights(one(np.array([2**63 - 1, -(2**53), 7])), "w")
    assert large.values == ["9223372036854775807", -(2**53), 7]
    assert (large.min, large.max) == (-(2**53), "9223372036854775807")
    assert isinstance(large.histogram.edges[-1], str)
    imaginary = py_autodoc.read_weights(one(np.array([1 + 2j], np.complex64)), "w")
    assert imaginary.values == ["(1+2j)"]
    strings = py_autodoc.read_weights(
        one(helper.make_tensor("w", TensorProto.STRING, [1], [b"x" * 10_000])), "w"
    )
    assert (strings.values, strings.zeros, strings.stored) == ([], None, 1)


def test_faults():
    with pytest.raises(PathError) as wrong:
        py_autodoc.read_weights(RESNET, NAME + "s")
    assert NAME in wrong.value.hint
    with pytest.raises(PathError, match="no stored values"):
        py_autodoc.read_weights(RESNET, "getitem")
    with pytest.raises(PathError, match="no tensor with the id"):
        py_autodoc.read_weights(RESNET, 10**6)


def test_a_name_of_several_graphs():
    def body(value):
        inner = numpy_helper.from_array(np.full(5, value, np.float32), "w")
        out = helper.make_tensor_value_info(f"o{value}", 1, [5])
        return helper.make_graph(
            [helper.make_node("Identity", ["w"], [f"o{value}"])], "b", [], [out], [inner]
        )

    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(True))),
        helper.make_node("If", ["c"], ["y"], "which", then_branch=body(1), else_branch=body(2)),
    ]
    graph = helper.make_graph(nodes, "g", [], [helper.make_tensor_value_info("y", 1, [5])])
    model = helper.make_model(graph, ir_version=10)
    with pytest.raises(OptionError) as caught:
        py_autodoc.read_weights(model, "w")
    assert "'which.else_branch'" in caught.value.hint
    found = py_autodoc.read_weights(model, "w", graph="which.else_branch")
    assert (found.mean, found.graph) == (2, "which.else_branch")
    assert py_autodoc.read_weights(model, "c").kind == "constant"
    with pytest.raises(PathError):
        py_autodoc.read_weights(model, "w", graph="")


def test_a_report_reads_from_its_model(tmp_path):
    path = tmp_path / "m.onnx"
    shutil.copy(RESNET, path)
    report = py_autodoc.analyze(path)
    assert report.weights(NAME) == py_autodoc.read_weights(path, NAME)
    path.write_bytes(one(np.ones(3, np.float32)).SerializeToString())
    with pytest.raises(InputError) as changed:
        report.weights(NAME)
    assert changed.value.code == "file-changed"
    path.unlink()
    with pytest.raises(PathError):
        report.weights(NAME)
    for lost in (Report.from_json(report.to_json()), py_autodoc.analyze(RESNET.read_bytes())):
        with pytest.raises(InputError) as gone:
            lost.weights(NAME)
        assert gone.value.code == "model-not-at-hand"
        assert "read_weights" in gone.value.hint
