"""Which integer kernels this machine has: ONNX Runtime is asked."""

import platform

import numpy as np
import pytest
from onnx import TensorProto, helper

from py_autodoc import ort_kernels
from py_autodoc.errors import RequirementError
from py_autodoc.hardware import detect
from py_autodoc.quantize import kernels
from py_autodoc.quantize.kernels import current_runtime

runtime = pytest.importorskip("onnxruntime")


@pytest.mark.parametrize(
    ("machine", "clips", "target"),
    [
        ("x86_64", True, "cpu-avx2"),
        ("AMD64", True, "cpu-avx2"),
        ("x86_64", False, "cpu-vnni"),
        ("AMD64", False, "cpu-vnni"),
        ("aarch64", False, "cpu-arm"),
        ("arm64", False, "cpu-arm"),
        ("ARM64", False, "cpu-arm"),
        ("armv7l", False, "cpu-arm"),
    ],
)
@pytest.mark.parametrize("flags", ["", "flags: avx2 avx512_vnni", "flags: avx2"])
def test_the_runtime_is_asked_not_the_list_of_instructions(machine, clips, target, flags, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(kernels, "saturates", lambda: clips)
    monkeypatch.setattr(detect, "_cpuinfo", lambda: flags)
    assert current_runtime() == target


def test_without_onnx_runtime(monkeypatch):
    def missing(what):
        raise RequirementError("needs-onnxruntime", f"{what} needs ONNX Runtime.")

    monkeypatch.setattr(ort_kernels, "onnxruntime", missing)
    ort_kernels.saturates.cache_clear()
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(RequirementError):
        ort_kernels.saturates()
    assert current_runtime() == "cpu-avx2"
    monkeypatch.undo()
    assert ort_kernels.saturates() in (False, True)  # the failure was not kept


def test_the_answer_is_that_of_a_real_product():
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [3, 64])
    w = helper.make_tensor_value_info("w", TensorProto.INT8, [64, 5])
    y = helper.make_tensor_value_info("y", TensorProto.INT32, [3, 5])
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["x", "w"], ["y"])], "g", [x, w], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": np.full((3, 64), 255, np.uint8), "w": np.full((64, 5), -128, np.int8)})
    expected = -32768 * 32 if ort_kernels.saturates() else -255 * 128 * 64
    assert (found == expected).all()


def test_it_is_asked_once(monkeypatch):
    first = ort_kernels.saturates()
    monkeypatch.setattr(ort_kernels, "_two_products", None)
    assert ort_kernels.saturates() == first
