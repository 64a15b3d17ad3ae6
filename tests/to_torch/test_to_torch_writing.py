"""Files: formats of weights, what is not covered, faults, memory."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import onnx
import pytest
import torch
from click.testing import CliRunner
from onnx import TensorProto, helper, parser
from torch_files import imported, run, save

import py_autodoc
from py_autodoc.cli.app import app
from py_autodoc.errors import ExternalDataError, OptionError, OutputError, PathError
from py_autodoc.to_torch import NotCoveredError, uncovered, write

MODEL = "tests/data/models/mnist_cntk.onnx"


def invoke(*args):
    done = CliRunner().invoke(app, [str(a) for a in args], env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def strange() -> onnx.ModelProto:
    return parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 18, "my.ops" : 1]>
        agraph (float[n] x) => (float[n] y) {
            a = my.ops.Twist(x)
            b = my.ops.Twist(a)
            y = RandomNormalLike(b)
        }"""
    )


def test_both_formats_give_the_same(tmp_path):
    x = {"Input3": np.random.default_rng(0).standard_normal((1, 1, 28, 28)).astype(np.float32)}
    results = []
    for kind in ("safetensors", "npz"):
        done = write(MODEL, tmp_path / f"{kind}_model.py", weights=kind)
        assert [path.suffix for path in done.paths] == [".py", f".{kind}"]
        module = imported(done.paths[0])
        results.append(run(module, x)[0])
        assert module.load(weights=done.paths[1]).training is False
    assert torch.equal(*results)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "npz_model.npz", "npz_model.py", "safetensors_model.py", "safetensors_model.safetensors",
    ]  # fmt: skip


def test_bfloat16_in_npz(tmp_path):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    weight = onnx.numpy_helper.from_array(
        values.astype(onnx.helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16)), "w"
    )
    info = [
        helper.make_tensor_value_info(name, TensorProto.BFLOAT16, shape)
        for name, shape in (("x", [2, 3]), ("y", [2, 4]))
    ]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", info[:1], info[1:], [weight]
    )
    path = save(tmp_path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    for kind in ("npz", "safetensors"):
        write(path, tmp_path / "model.py", weights=kind)
        with torch.no_grad():
            result = imported(tmp_path / "model.py").load()(torch.ones(2, 3, dtype=torch.bfloat16))
        assert torch.equal(result.to(torch.float32), torch.from_numpy(values.sum(0)).expand(2, 4))


def test_what_is_not_covered_is_listed(tmp_path):
    path = save(tmp_path, strange())
    found = uncovered(path)
    assert [(one.op_type, one.domain, one.count) for one in found] == [
        ("Twist", "my.ops", 2), ("RandomNormalLike", "", 1),
    ]  # fmt: skip
    assert found[0].nodes == ("a", "b")
    with pytest.raises(NotCoveredError, match=r"Twist ×2, RandomNormalLike ×1") as caught:
        write(path, tmp_path / "model.py")
    assert caught.value.uncovered == found
    assert [one.name for one in tmp_path.iterdir()] == ["model.onnx"]


def test_command(tmp_path):
    code, out, err = invoke("to-torch", MODEL, tmp_path / "m.py")
    assert (code, out) == (0, "")
    assert "m.py and m.safetensors: 8 nodes" in err
    code, out, _ = invoke("to-torch", MODEL, tmp_path / "m.py", "--json", "--weights", "npz")
    assert code == 0
    assert json.loads(out)["paths"] == ["m.py", "m.npz"]
    assert invoke("to-torch", MODEL, "--list") == (0, "Every operator is covered.\n", "")


def test_command_with_operators_that_are_not_covered(tmp_path):
    path = save(tmp_path, strange())
    code, out, err = invoke("to-torch", path, tmp_path / "m.py")
    assert (code, out) == (1, "")
    assert "Twist (my.ops) ×2: no rule for this operator\n    a, b\n" in err
    assert err.splitlines()[-1].startswith(
        "error: model.onnx: cannot be converted to PyTorch code because of Twist ×2"
    )
    code, out, err = invoke("to-torch", path, "--list", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)[0]["op_type"] == "Twist"
    assert not (tmp_path / "m.py").exists()


def test_faults(tmp_path):
    with pytest.raises(PathError):
        write(tmp_path / "missing.onnx", tmp_path / "m.py")
    with pytest.raises(OptionError, match="pickle"):
        write(MODEL, tmp_path / "m.py", weights="pickle")
    with pytest.raises(OptionError, match=r"does not end in \.py"):
        write(MODEL, tmp_path / "m.onnx")
    with pytest.raises(OutputError):
        write(MODEL, tmp_path / "no" / "m.py")
    with pytest.raises(ExternalDataError):
        write("tests/data/stripped/resnet_tiny.stripped.onnx", tmp_path / "m.py")
    assert invoke("to-torch", MODEL)[0] == 1
    assert list(tmp_path.iterdir()) == []


def test_weights_that_are_damaged_leave_the_old_files(tmp_path):
    (tmp_path / "m.py").write_text("old")
    proto = onnx.load(MODEL)
    proto.graph.initializer[0].raw_data = b"1234"
    proto.graph.initializer[0].ClearField("float_data")
    with pytest.raises(ExternalDataError):
        write(save(tmp_path, proto), tmp_path / "m.py", force=True)
    assert (tmp_path / "m.py").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["safetensors", "npz"])
def test_large_weights_are_copied_in_pieces(kind, tmp_path):
    rows = 1 << 14
    tensor = TensorProto(name="table.weight", dims=[rows, 2048], data_type=TensorProto.FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="big.bin")
    with open(tmp_path / "big.bin", "wb") as file:
        file.truncate(rows * 2048 * 4)
        file.seek(4)
        file.write(np.float32(7).tobytes())
    info = [helper.make_tensor_value_info("i", TensorProto.INT64, ["n"])]
    info.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2048]))
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table.weight", "i"], ["y"])], "g", info[:1], info[1:], [tensor]
    )
    path = save(tmp_path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    write(MODEL, tmp_path / "warm.py", weights=kind)
    tracemalloc.start()
    try:
        done = write(path, tmp_path / "model.py", weights=kind)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert done.weight_bytes == rows * 2048 * 4
    assert peak < done.weight_bytes / 8
    if kind == "safetensors":
        (result,) = run(imported(tmp_path / "model.py"), {"i": np.array([0, -1])})
        assert result[0, 1] == 7
        assert result[1].abs().max() == 0


def test_public_names():
    assert py_autodoc.to_torch.write is write
    with pytest.raises(AttributeError):
        _ = py_autodoc.to_torch.nothing
