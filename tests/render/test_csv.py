"""The table as CSV: exact numbers, nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import onnx
import pytest
from onnx import helper

from py_autodoc import analyze, to_markdown
from py_autodoc.render.csv import guard_formula, layers_csv

F = onnx.TensorProto.FLOAT
CASES = json.loads(Path("tests/data/formula_cases.json").read_text("utf-8"))
EVIL = ["=cmd|'/c calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1"]


def table(report):
    return list(csv.DictReader(io.StringIO(layers_csv(report), newline="")))


def test_rows_are_the_layers():
    report = analyze("tests/data/models/light_squeezenet.onnx")
    rows = table(report)
    assert [int(row["id"]) for row in rows] == [layer.id for layer in report.layers]
    assert [int(row["macs_per_run"]) for row in rows] == [layer.macs for layer in report.layers]
    assert sum(float(row["macs_percent"]) for row in rows) == pytest.approx(100, abs=0.01)
    assert sum(float(row["params_percent"]) for row in rows) == pytest.approx(100, abs=0.01)
    first = next(row for row in rows if row["type"] == "Conv")
    assert first["input_shape"] == "1×3×224×224"


def test_unknown_is_an_empty_cell():
    rows = table(analyze("tests/data/stripped/resnet50_dyn.stripped.onnx"))
    conv = next(row for row in rows if row["type"] == "Conv")
    assert conv["macs_per_inference"] == conv["macs_percent"] == ""
    assert conv["reason"]
    assert int(conv["params"]) > 0


def test_times_of_a_device():
    report = analyze("tests/data/models/silero_vad_half.onnx", assume=True, hardware="l4")
    found, rows = report.hardware_estimates, {int(row["id"]): row for row in table(report)}
    times = [float(row["latency_ms"]) for row in rows.values() if row["latency_ms"]]
    assert sum(times) == pytest.approx(found.estimated_latency_ms)
    shares = [float(row["latency_percent"]) for row in rows.values() if row["latency_percent"]]
    assert sum(shares) == pytest.approx(100, abs=0.01)
    fused = next(one for one in found.layers if len(one.layers) > 1)
    anchor, other = rows[fused.layer], rows[next(n for n in fused.layers if n != fused.layer)]
    assert float(anchor["latency_ms"]) == fused.latency_ms > 0
    assert anchor["latency_bottleneck"] == fused.bottleneck
    assert (float(other["latency_ms"]), other["kernel"]) == (0, str(fused.layer))


def test_an_unknown_time_is_an_empty_cell_also_where_it_is_fused():
    report = analyze("tests/data/stripped/resnet50_dyn.stripped.onnx", hardware="l4")
    rows = table(report)
    assert {row["latency_ms"] for row in rows} == {row["latency_percent"] for row in rows} == {""}
    assert len({row["kernel"] for row in rows} - {""}) == report.hardware_estimates.kernels


def test_without_a_device_there_are_no_columns_of_times():
    assert "latency_ms" not in table(analyze("tests/data/models/mnist_cntk.onnx"))[0]


@pytest.mark.parametrize("name", EVIL)
def test_formulas_become_text(name):
    assert guard_formula(name) == f"'{name}"
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], [f"{name}o"], name=name)],
        "g",
        [helper.make_tensor_value_info("x", F, [name])],
        [helper.make_tensor_value_info(f"{name}o", F, [name])],
    )
    (row,) = table(analyze(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])))
    for cell in row.values():
        assert not cell.strip(" \n").startswith(("=", "+", "-", "@", "\t", "\r", "＝"))


def test_cells_as_the_viewer_has_them():
    """``src/core/base/delimitedText.test.ts`` reads the same file."""
    assert {text: guard_formula(text) for text in CASES["formulas"]} == {
        t: f"'{t}" for t in CASES["formulas"]
    }
    assert {text: guard_formula(text) for text in CASES["texts"]} == {text: text for text in CASES["texts"]}


def test_numbers_are_left_alone():
    assert guard_formula(-1.5) == -1.5
    assert guard_formula(None) is None
    assert guard_formula("conv1") == "conv1"


def test_what_the_data_may_add_has_a_column():
    """The bound of NonMaxSuppression is not among the FLOPs, here as in the totals."""
    inputs = [
        helper.make_tensor_value_info(name, F, shape)
        for name, shape in (("boxes", [1, 50, 4]), ("scores", [1, 2, 50]))
    ]
    most = helper.make_tensor("most", onnx.TensorProto.INT64, [1], [5])
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", "most"], ["kept"])
    out = [helper.make_tensor_value_info("kept", onnx.TensorProto.INT64, None)]
    graph = helper.make_graph([node, helper.make_node("Relu", ["boxes"], ["r"])], "g", inputs, out, [most])
    graph.output.append(helper.make_tensor_value_info("r", F, None))
    sets = [helper.make_opsetid("", 17)]
    report = analyze(helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString())
    cells = {row["type"]: row["data_dependent_flops_per_inference"] for row in table(report)}
    assert report.metrics.data_dependent_flops > 0
    assert cells == {"NonMaxSuppression": str(report.metrics.data_dependent_flops), "Relu": "0"}


def test_bytes_are_a_lower_bound_beside_unknown_nodes():
    nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Odd", ["h"], ["y"], domain="custom")]
    x, y = (helper.make_tensor_value_info(name, F, [2, 8]) for name in "xy")
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)]
    graph = helper.make_graph(nodes, "g", [x], [y])
    text = to_markdown(helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString())
    rows = [line for line in text.splitlines() if "Bytes read" in line or "Bytes written" in line]
    assert len(rows) == 2
    assert all("≥ 64" in row for row in rows)
