"""The table as CSV: exact numbers, nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import io

import onnx
import pytest
from onnx import helper

from py_autodoc import analyze
from py_autodoc.render.csv import guarded, layers_csv

F = onnx.TensorProto.FLOAT
EVIL = ["=cmd|'/c calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1"]


def table(report):
    return list(csv.DictReader(io.StringIO(layers_csv(report), newline="")))


def test_rows_are_the_layers():
    report = analyze("tests/data/models/light_squeezenet.onnx")
    rows = table(report)
    assert [int(row["id"]) for row in rows] == [layer.id for layer in report.layers]
    assert [int(row["macs"]) for row in rows] == [layer.macs for layer in report.layers]
    assert sum(float(row["macs_percent"]) for row in rows) == pytest.approx(100, abs=0.01)
    assert sum(float(row["params_percent"]) for row in rows) == pytest.approx(100, abs=0.01)
    first = next(row for row in rows if row["type"] == "Conv")
    assert first["input_shape"] == "1×3×224×224"


def test_unknown_is_an_empty_cell():
    rows = table(analyze("tests/data/stripped/resnet50_dyn.stripped.onnx"))
    conv = next(row for row in rows if row["type"] == "Conv")
    assert conv["macs"] == conv["macs_percent"] == ""
    assert conv["reason"]
    assert int(conv["params"]) > 0


@pytest.mark.parametrize("name", EVIL)
def test_formulas_become_text(name):
    assert guarded(name) == f"'{name}"
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], [f"{name}o"], name=name)],
        "g",
        [helper.make_tensor_value_info("x", F, [name])],
        [helper.make_tensor_value_info(f"{name}o", F, [name])],
    )
    (row,) = table(analyze(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])))
    for cell in row.values():
        assert not cell.strip(" \n").startswith(("=", "+", "-", "@", "\t", "\r", "＝"))


def test_numbers_are_left_alone():
    assert guarded(-1.5) == -1.5
    assert guarded(None) is None
    assert guarded("conv1") == "conv1"
