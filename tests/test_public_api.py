"""The public names, and that each says what it is."""

from __future__ import annotations

import inspect
import json

import pytest

import py_autodoc
from py_autodoc.errors import AutodocError, InputError, LimitError, OptionError, PathError

MODEL = "tests/data/models/mnist_cntk.onnx"
DYNAMIC = "tests/data/stripped/bert_base_dyn.stripped.onnx"


def test_names():
    assert dir(py_autodoc) == [
        "Autodoc",
        "AutodocError",
        "Limits",
        "QuantPlayground",
        "Report",
        "__version__",
        "analyze",
        "devices",
        "extract_module_subgraph",
        "extract_submodel",
        "pipeline",
        "plots",
        "read_array",
        "read_weights",
        "rebatch",
        "resize",
        "side_by_side",
        "to_markdown",
        "to_pdf",
        "validate_report",
    ]
    for name in py_autodoc.__all__:
        assert getattr(py_autodoc, name)
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = py_autodoc.nothing_here


def test_analyze_signature():
    parameters = inspect.signature(py_autodoc.analyze).parameters
    assert list(parameters) == [
        "model", "bindings", "input_shapes", "batch_size", "resize", "assume", "limits", "max_layers",
        "thresholds", "read_weights", "hash", "hardware", "precision", "runtime",
    ]  # fmt: skip
    assert all(p.kind is p.KEYWORD_ONLY for name, p in parameters.items() if name != "model")
    assert "Raises" in (py_autodoc.analyze.__doc__ or "")


def test_every_form_of_a_model_gives_the_same_numbers(tmp_path):
    import onnx
    import onnx_ir

    with open(MODEL, "rb") as file:
        data = file.read()
    proto = onnx.load_from_string(data)
    reports = [py_autodoc.analyze(form) for form in (MODEL, data, proto, onnx_ir.from_proto(proto))]
    assert {report.metrics.total_macs for report in reports} == {786560}
    assert {report.metrics.total_params for report in reports} == {5994}
    assert [report.graph for report in reports] == [reports[0].graph] * 4


def test_a_report_survives_json():
    report = py_autodoc.analyze(MODEL)
    assert py_autodoc.Report.from_json(report.to_json()) == report
    assert json.loads(report.to_json(indent=2)) == json.loads(report.to_json())


def test_bindings_and_shapes():
    path = "tests/data/stripped/resnet50_dyn.stripped.onnx"
    by_name = py_autodoc.analyze(path, assume=True)
    symbols = [dim.name for dim in by_name.dims]
    values = {dim.name: dim.value for dim in by_name.dims}
    assert all(dim.assumed for dim in by_name.dims)
    same = py_autodoc.analyze(path, bindings=values)
    assert same.metrics == by_name.metrics
    assert not any(dim.assumed for dim in same.dims)
    shape = [values[d] if isinstance(d, str) else d for d in py_autodoc.analyze(path).graph.inputs[0].shape]
    name = by_name.graph.inputs[0].name
    # Without a symbol left there is nothing to express.
    fixed = py_autodoc.analyze(path, input_shapes={name: shape}).to_dict()["metrics"]
    numbers = {key: value for key, value in fixed.items() if "expr" not in key}
    assert {key: by_name.to_dict()["metrics"][key] for key in numbers} == numbers
    double = py_autodoc.analyze(path, batch_size=2, assume=True)
    assert double.metrics.total_macs == 2 * by_name.metrics.total_macs
    with pytest.raises(OptionError) as caught:
        py_autodoc.analyze(path, bindings={symbols[0][:-1] + "x": 1})
    assert symbols[0] in caught.value.hint


def test_free_symbols_leave_numbers_unknown_not_zero():
    report = py_autodoc.analyze("tests/data/stripped/resnet50_dyn.stripped.onnx")
    assert report.metrics.total_macs is None
    assert report.coverage.macs == 0
    assert report.coverage.reasons
    convolutions = [layer for layer in report.layers if layer.type == "Conv"]
    assert convolutions
    assert all(layer.macs is None and layer.reason for layer in convolutions)


def test_errors_are_typed():
    assert issubclass(InputError, AutodocError)
    with pytest.raises(PathError):
        py_autodoc.analyze("no such file.onnx")
    with pytest.raises(LimitError):
        py_autodoc.analyze(MODEL, limits=py_autodoc.Limits(file_bytes=100))
    with pytest.raises(InputError, match="Cannot analyse a dict"):
        py_autodoc.analyze({})
    with pytest.raises(OptionError):
        py_autodoc.analyze(MODEL, bindings={"batch": 2})
    with pytest.raises(OptionError, match="'batch' is given two sizes: 1 and, by the batch size, 4"):
        py_autodoc.analyze(DYNAMIC, bindings={"batch": 1}, batch_size=4)
