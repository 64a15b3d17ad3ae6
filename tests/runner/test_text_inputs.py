"""Models that take text as strings, such as converted scikit-learn pipelines, run."""

import json

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from py_autodoc.cli.app import app

pytest.importorskip("onnxruntime")


@pytest.fixture
def model(tmp_path):
    """Numbers of words, and the words themselves."""
    encoder = helper.make_node(
        "LabelEncoder", ["s"], ["y"], domain="ai.onnx.ml", keys_strings=["a", "b"], values_floats=[1.0, 2.0],
        default_float=0.0,
    )  # fmt: skip
    graph = helper.make_graph(
        [encoder, helper.make_node("Identity", ["s"], ["t"])], "g",
        [helper.make_tensor_value_info("s", TensorProto.STRING, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2]),
         helper.make_tensor_value_info("t", TensorProto.STRING, [2])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 2)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def run(model, *args):
    return CliRunner().invoke(app, ["run", str(model), "--runs", "2", *map(str, args)])


def test_made_up_text(model):
    done = run(model, "--out-json", "-")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["variants"]


@pytest.mark.parametrize("dtype", ["U", "S"])
def test_text_of_a_file(dtype, model, tmp_path):
    np.savez(tmp_path / "d.npz", s=np.array([["a", "b"], ["b", "c"]], dtype))
    done = run(model, "--data", tmp_path / "d.npz", "--out-json", "-")
    assert done.exit_code == 0, done.stderr


def test_numbers_are_no_text(model, tmp_path):
    np.savez(tmp_path / "d.npz", s=np.ones((2, 2)))
    done = run(model, "--data", tmp_path / "d.npz")
    assert done.exit_code == 1
    assert "s contains float64 instead of text" in done.stderr
