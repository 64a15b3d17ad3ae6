"""An offset or length of external data that is no position: every command says the same and the way out."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from py_autodoc.cli.app import app

pytest.importorskip("onnxruntime")
COMMANDS = {
    "validate": [],
    "run": [],
    "verify": ["--against", "tests/data/models/resnet_tiny.onnx"],
    "quantize": ["out.onnx", "--random-data"],
    "sensitivity": [],
    "opdocs": ["--out", "out"],
    "extract": ["out.onnx", "--node", "0"],
    "tags": [],
    "compare": ["tests/data/models/resnet_tiny.onnx", "--run"],
    "to-torch": ["out.py"],
}
FAULTS = {
    "offset is negative (-8)": {"offset": "-8", "length": "256"},
    "length is negative (-5)": {"offset": "0", "length": "-5"},
    "offset is not a number": {"offset": "x"},
    "length is not a number": {"length": "9" * 30},
}


def saved(folder, entries):
    (folder / "w.bin").write_bytes(np.ones(64, np.float32).tobytes())
    external = onnx.TensorProto.EXTERNAL
    weight = onnx.TensorProto(name="w", data_type=1, dims=[16, 4], data_location=external)
    for key, value in {"location": "w.bin", **entries}.items():
        weight.external_data.add(key=key, value=value)
    ends = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [2, 16]), ("y", [2, 4]))
    ]
    product = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
    graph = helper.make_graph([product], "g", ends[:1], ends[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "theirs.onnx").write_bytes(model.SerializeToString())
    return folder / "theirs.onnx"


@pytest.mark.parametrize("command", COMMANDS)
def test_one_wording(tmp_path, command):
    said = list(FAULTS)[len(command) % len(FAULTS)]
    path = saved(tmp_path, FAULTS[said])
    rest = [str(tmp_path / word) if word.startswith("out") else word for word in COMMANDS[command]]
    done = CliRunner().invoke(app, [command, str(path), *rest])
    assert done.exit_code == (2 if command == "compare" else 1)
    key, _, fault = said.partition(" ")
    last = done.stderr.rstrip().splitlines()[-1]
    assert last.startswith("error: theirs.onnx: w: ")
    assert last.lower().endswith(
        f"the {key} of its external data {fault}. save the model with its data again."
    )
    assert not list(tmp_path.glob("out*"))
