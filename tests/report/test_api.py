"""The public API: names, a report's own methods, what a notebook shows."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import py_autodoc
from py_autodoc.errors import InputError, RequirementError
from py_autodoc.report.document.report import Report

RESNET = Path(__file__).parents[1] / "data" / "models" / "resnet_tiny.onnx"
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@pytest.fixture(scope="module")
def report():
    return py_autodoc.analyze(RESNET)


def hostile() -> onnx.ModelProto:
    x = helper.make_tensor_value_info(HOSTILE, TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2])
    w = helper.make_tensor(HOSTILE + "w", TensorProto.FLOAT, [3, 2], [0.0] * 6)
    node = helper.make_node("MatMul", [HOSTILE, HOSTILE + "w"], ["y"], name=HOSTILE)
    model = helper.make_model(helper.make_graph([node], HOSTILE, [x], [y], [w]))
    model.producer_name = HOSTILE
    return model


def test_public_names_exist_and_are_documented():
    for name in py_autodoc.__all__:
        value = getattr(py_autodoc, name)
        if name != "__version__":
            assert inspect.getdoc(value), name


def test_every_public_method_of_a_report_is_documented():
    methods = [name for name, _ in inspect.getmembers(Report, inspect.isfunction) if not name.startswith("_")]
    assert {"to_json", "to_dict", "to_pandas", "stats"} <= set(methods)
    for name in methods:
        assert inspect.getdoc(getattr(Report, name)), name


def test_dict_is_the_json(report):
    assert report.to_dict() == json.loads(report.to_json())


def test_layers_as_a_table(report):
    table = report.to_pandas()
    assert list(table["name"]) == [layer.name for layer in report.layers]
    assert table["macs"].sum() == report.metrics.total_macs == 3_729_664
    assert table["params"].sum() == report.metrics.total_params
    assert str(table["macs"].dtype) == "Int64"


def test_unknown_is_not_zero_in_a_table():
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])
    graph = helper.make_graph([helper.make_node("Odd", ["x"], ["y"], domain="my.own")], "g", [x], [y])
    opsets = [helper.make_opsetid("my.own", 1)]
    table = py_autodoc.analyze(helper.make_model(graph, opset_imports=opsets)).to_pandas()
    assert table["macs"].isna().all()


def test_numbers_beyond_64_bits_in_a_table():
    side = 10**7
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [side, side]) for name in "abc"]
    node = helper.make_node("MatMul", ["a", "b"], ["c"])
    model = helper.make_model(helper.make_graph([node], "g", values[:2], values[2:]))
    assert py_autodoc.analyze(model).to_pandas()["macs"][0] == side**3


@pytest.mark.parametrize("table", ["blocks", "risk_signals", "diagnostics", "dims", "by_op"])
def test_other_tables(report, table):
    rows = report.metrics.by_op if table == "by_op" else getattr(report, table)
    assert len(report.to_pandas(table)) == len(rows)


def test_no_such_table(report):
    with pytest.raises(InputError, match="no table 'weights'"):
        report.to_pandas("weights")


def with_a_mystery():
    """A matrix product, an operator that nobody knows, an activation."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Mystery", ["a"], ["b"], domain="com.example"),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    x, w, b, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [4, 8]), ("w", [8, 8]), ("b", [4, 8]), ("y", [4, 8]))
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    return helper.make_model(helper.make_graph(nodes, "g", [x, w], [y], value_info=[b]), opset_imports=opsets)


def test_a_notebook_shows_the_latency_of_a_device(tmp_path):
    whole = py_autodoc.analyze("tests/data/models/resnet_tiny.onnx", hardware="l4")
    assert "Latency, NVIDIA L4, fp32</div>" in whole._repr_html_()
    assert " to " in whole._repr_html_().partition(" µs, estimate")[0]
    part = py_autodoc.analyze(with_a_mystery(), hardware="l4")
    assert ">≥ " in part._repr_html_()
    assert "1 kernel without a rule (Mystery)" in part._repr_html_()
    board = tmp_path / "board.json"
    board.write_text(
        json.dumps(
            {"name": "<script>x</script>", "memory_bandwidth_bytes_per_s": 1e12, "peak_int8_ops": 1e12}
        )
    )
    shown = py_autodoc.analyze("tests/data/models/resnet_tiny.onnx", hardware=board)._repr_html_()
    assert "<script>" not in shown
    assert "has no published fp32 rate; it has int8" in shown


def test_the_table_of_latencies():
    report = py_autodoc.analyze("tests/data/models/resnet_tiny.onnx", hardware="l4")
    table = report.to_pandas("latency")
    assert len(table) == report.hardware_estimates.kernels
    assert table["latency_ms"].sum() == pytest.approx(report.hardware_estimates.estimated_latency_ms)
    free = py_autodoc.analyze("tests/data/models/resnet_tiny.onnx", hardware="tpu-v5e").to_pandas("latency")
    assert len(free) == 0
    table = py_autodoc.analyze(with_a_mystery(), hardware="l4").to_pandas("latency")
    assert table["latency_ms"].isna().sum() == 1, "unknown is no 0"
    with pytest.raises(InputError, match="The latency overlay needs a device"):
        py_autodoc.analyze("tests/data/models/resnet_tiny.onnx").to_pandas("latency")


def test_without_pandas(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RequirementError) as caught:
        report.to_pandas()
    assert "pip install pandas" in caught.value.hint


def test_stats(report):
    stats = report.stats()
    assert (stats.num_parameters, stats.total_macs) == (55_658, 3_729_664)
    assert stats.op_stats.counts["Conv"] == 17
    assert sum(stats.op_stats.params_per_op.values()) == stats.num_parameters
    assert sum(len(level.node_names) for level in stats.layer_shapes) == stats.num_nodes
    assert [level.layer_index for level in stats.layer_shapes] == list(range(len(stats.layer_shapes)))
    assert stats.layer_shapes[0].node_names == [report.layers[0].name]


def test_notebook_shows_the_totals(report):
    html = report._repr_html_()
    assert "resnet_tiny.onnx" in html
    assert "3.73 M" in html
    assert "55.7 K" in html


def test_a_model_cannot_put_markup_into_the_notebook():
    html = py_autodoc.analyze(hostile())._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
