"""``read_array`` and the file that a viewer saves: finding the constant, the bound, the way out."""

from __future__ import annotations

import ast
import io

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import py_autodoc
from py_autodoc.errors import InputError, LimitError, OptionError, PathError
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load_bytes
from py_autodoc.report.document import weight_arrays
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.weight_arrays import MAX_NPY_BYTES, report_weight_file, weight_file

VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)
HOSTILE = '../"); import os; ("\n\u202eyn.exe'


def one(array, name="w"):
    """A model in memory with one initializer."""
    info = helper.make_tensor_value_info
    held = array if isinstance(array, TensorProto) else numpy_helper.from_array(array, name)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "g", [info("x", 1, [1])], [info("y", 1, [1])], [held]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def two():
    """Two bodies with a constant of one name."""

    def body(value):
        inner = numpy_helper.from_array(np.full(5, value, np.float32), "w")
        out = helper.make_tensor_value_info(f"o{value}", 1, [5])
        node = helper.make_node("Identity", ["w"], [f"o{value}"])
        return helper.make_graph([node], "b", [], [out], [inner])

    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(True))),
        helper.make_node("If", ["c"], ["y"], "which", then_branch=body(1), else_branch=body(2)),
    ]
    graph = helper.make_graph(nodes, "g", [], [helper.make_tensor_value_info("y", 1, [5])])
    return helper.make_model(graph, ir_version=10)


def file_of(model, number=None):
    data = model.SerializeToString()
    loaded = load_bytes(data)
    built = build(loaded)
    if number is None:
        (number,) = [t.id for t in built.tensors if t.kind.name == "INITIALIZER"]
    return weight_file(loaded, built, data, number)


def test_any_form_of_a_model(tmp_path):
    model = one(VALUES)
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    for form in (path, str(path), path.read_bytes(), model):
        found = py_autodoc.read_array(form, "w")
        assert found.dtype == np.float32
        assert np.array_equal(found, VALUES)
    number = py_autodoc.read_weights(path, "w").tensor
    assert np.array_equal(py_autodoc.read_array(path, number), VALUES)


def test_faults():
    model = one(VALUES)
    for wrong in ("x", "v", 10**6, -1):
        with pytest.raises(PathError):
            py_autodoc.read_array(model, wrong)
    with pytest.raises(OptionError):
        py_autodoc.read_array(two(), "w")
    assert py_autodoc.read_array(two(), "w", graph="which.else_branch").tolist() == [2] * 5


def test_a_file():
    found = file_of(one(VALUES))
    assert (found.name, found.elem_type, found.dtype, found.converted) == ("w", "float32", "float32", False)
    assert (found.shape, found.bytes) == ([3, 4], len(found.data))
    assert np.array_equal(np.load(io.BytesIO(found.data), allow_pickle=False), VALUES)
    half = TensorProto(name="w", data_type=TensorProto.BFLOAT16, dims=[2], raw_data=b"\x80\x3f\x00\x40")
    found = file_of(one(half))
    assert (found.elem_type, found.dtype, found.converted) == ("bfloat16", "float32", True)
    assert np.load(io.BytesIO(found.data)).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["w", HOSTILE, "it's", "n" * 5000])
def test_what_is_too_large_names_the_call_that_reads_it(name, monkeypatch):
    assert MAX_NPY_BYTES == 128 << 20
    monkeypatch.setattr(weight_arrays, "MAX_NPY_BYTES", 47)
    with pytest.raises(LimitError) as caught:
        file_of(one(VALUES, name))
    call = ast.parse(caught.value.hint.removeprefix("In Python: ").removesuffix(".")).body
    assert len(call) == 1
    inner = call[0].value.args[1]
    assert ast.unparse(inner.func) == "py_autodoc.read_array"
    given = ast.literal_eval(inner.args[1])
    assert np.array_equal(py_autodoc.read_array(one(VALUES, name), given), VALUES)
    assert len(caught.value.message) < 1000


def test_of_a_body_the_call_names_it(monkeypatch):
    monkeypatch.setattr(weight_arrays, "MAX_NPY_BYTES", 7)
    number = py_autodoc.read_weights(two(), "w", graph="which.else_branch").tensor
    with pytest.raises(LimitError) as caught:
        file_of(two(), number)
    assert "graph='which.else_branch'" in caught.value.hint


def test_a_file_of_a_report(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(one(VALUES), path)
    report = py_autodoc.analyze(path)
    number = report.weights("w").tensor
    assert np.array_equal(np.load(io.BytesIO(report_weight_file(report, number).data)), VALUES)
    with pytest.raises(InputError) as gone:
        report_weight_file(Report.from_json(report.to_json()), number)
    assert "read_array" in gone.value.hint
    onnx.save(one(np.ones(3, np.float32)), path)
    with pytest.raises(InputError) as changed:
        report_weight_file(report, number)
    assert changed.value.code == "file-changed"
