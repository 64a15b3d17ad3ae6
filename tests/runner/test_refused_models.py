"""A model that ONNX Runtime does not open is an invalid input to every command, in one line about it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.jobs.problems import problem_of
from py_autodoc.ort import open_session

pytest.importorskip("onnxruntime")
WEIGHT = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
COMMANDS = {
    "run": ["run"],
    "verify": ["verify", "--against", "tests/data/models/resnet_tiny.onnx"],
    "quantize": ["quantize", "out.onnx", "--random-data", "--samples", "1"],
    "quantize fp16": ["quantize", "out.onnx", "--method", "fp16", "--random-data", "--samples", "1"],
    "sensitivity": ["sensitivity", "--samples", "1"],
    "compare": ["compare", "tests/data/models/resnet_tiny.onnx", "--run"],
}


def _strides_of_another_kind(conv):
    conv.attribute.append(helper.make_attribute("strides", 1.5))


def _strides_of_another_length(conv):
    conv.attribute.append(helper.make_attribute("strides", [1, 1, 1]))


def _unknown_padding(conv):
    conv.attribute.append(helper.make_attribute("auto_pad", "NONSENSE"))


FAULTS = [_strides_of_another_kind, _strides_of_another_length, _unknown_padding]


def faulty(path, change=None, *more):
    conv = helper.make_node("Conv", ["x", "w"], ["c"], "conv")
    if change is not None:
        change(conv)
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 3, 8, 8]), ("y", None))
    ]
    nodes = [conv, *(more or (helper.make_node("Relu", ["c"], ["y"], "relu"),))]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], [WEIGHT])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("their.domain", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def refusal(path):
    with pytest.raises(Exception) as caught:
        open_session(path, "A test")
    return caught.value


@pytest.mark.parametrize("change", FAULTS)
def test_one_kind_of_error(tmp_path, change):
    faulty(tmp_path / "theirs.onnx", change)
    found = refusal(tmp_path / "theirs.onnx")
    assert (found.code, found.exit_status, found.http_status) == ("session-failed", 1, 422)
    assert problem_of(found).status == 422
    assert found.message.startswith("theirs.onnx: ONNX Runtime refuses the model: ")
    assert "ONNXRuntimeError" not in found.message
    assert "\n" not in str(found)
    assert "validate" in found.hint


@pytest.mark.parametrize(
    ("last", "hint"),
    [
        (helper.make_node("Special", ["c"], ["y"], domain="their.domain"), "Replace the operator"),
        (helper.make_node("Nonsense", ["c"], ["y"]), "Replace the operator"),
    ],
)
def test_operators_of_others_have_another_way_out(tmp_path, last, hint):
    faulty(tmp_path / "theirs.onnx", None, last)
    assert hint in refusal(tmp_path / "theirs.onnx").hint


def test_types_without_kernels_have_another_way_out(tmp_path):
    values = [helper.make_tensor_value_info(name, TensorProto.INT16, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "whole.onnx")
    assert "float32" in refusal(tmp_path / "whole.onnx").hint


def test_the_sizes_that_the_runtime_lists_are_kept(tmp_path):
    faulty(tmp_path / "theirs.onnx")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "theirs.onnx"), "--input-shape", "x=1x3x9x7"])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "index: 2 Got: 9 Expected: 8; index: 3 Got: 7 Expected: 8" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_names_the_file(tmp_path, name):
    path = tmp_path / "theirs.onnx"
    faulty(path, FAULTS[len(name) % len(FAULTS)])
    command, *rest = (str(tmp_path / word) if word == "out.onnx" else word for word in COMMANDS[name])
    done = CliRunner().invoke(app, [command, str(path), *rest])
    # To `compare`, 1 means that the models differ.
    assert done.exit_code == (2 if command == "compare" else 1), done.stderr
    last = done.stderr.rstrip("\n").splitlines()[-1]
    assert last.startswith("error: theirs.onnx: ONNX Runtime refuses the model: ")
    assert str(tmp_path) not in last
    assert "validate" in last
    if command == "run":
        assert "warning" not in done.stderr  # of inputs that no model got
    assert not (tmp_path / "out.onnx").exists()
