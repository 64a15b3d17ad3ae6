"""Netron attachments and Model Explorer node data: the documented shape, names that resolve, our numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.render.viewer_attachments import (
    METRICS,
    available_metrics,
    model_explorer_data,
    netron_attachment,
)
from py_autodoc.report.builders.hardware_section import hardware_estimates
from py_autodoc.report.pipeline.analysis import Options, run_analysis

DATA = Path(__file__).parents[1] / "data"
RESNET = DATA / "stripped" / "resnet50.stripped.onnx"


def relus(*names, function=False):
    tensors = ["x", *(f"t{i}" for i in range(len(names)))]
    nodes = [
        helper.make_node("F" if function else "Relu", [a], [b], name=name, domain="d" if function else "")
        for name, a, b in zip(names, tensors, tensors[1:], strict=False)
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 3]) for n in (tensors[0], tensors[-1])]
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("d", 1)]
    body = helper.make_function(
        "d", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"], name="in")], opsets[:1]
    )
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=opsets, functions=[body] if function else [])


def test_netron_rows_name_what_is_in_the_file():
    analysis = run_analysis(str(RESNET), Options(assume=True))
    found = netron_attachment(analysis)
    data = json.loads(found.text)
    assert data["signature"] == "netron:attachment"
    assert found.named == found.nodes == 122
    model = onnx.load(RESNET, load_external_data=False)
    names = {node.name for node in model.graph.node}
    keys = set()
    for row in data["metrics"]:
        assert set(row) == {"kind", "target", "name", "value"}
        assert row["target"] in names if row["kind"] == "node" else row["target"] == ""
        assert (row["kind"], row["target"], row["name"]) not in keys
        keys.add((row["kind"], row["target"], row["name"]))
    macs = [row["value"] for row in data["metrics"] if row["kind"] == "node" and row["name"] == "MACs"]
    assert sum(macs) == analysis.totals.macs
    assert ("model", "", "MACs") in keys


def test_names_that_are_nobodys_own():
    rows = json.loads(netron_attachment(run_analysis(relus("a", "a", "", "b\nc", "d"), Options())).text)[
        "metrics"
    ]
    targets = [(r["kind"], r["target"]) for r in rows if r["name"] == "FLOPs" and r["kind"] != "model"]
    assert targets == [("value", "t0"), ("value", "t1"), ("value", "t2"), ("value", "t3"), ("node", "d")]


def test_function_bodies_are_left_out_and_counted():
    analysis = run_analysis(relus("f", "g", function=True), Options())
    for found in (netron_attachment(analysis), model_explorer_data(analysis, "macs")):
        assert (found.named, found.nodes) == (0, 2)
    assert json.loads(model_explorer_data(analysis, "macs").text)["results"] == {}


@pytest.mark.parametrize("metric", METRICS)
def test_model_explorer_keys_are_tensors(metric):
    analysis = run_analysis(str(RESNET), Options(assume=True))
    data = json.loads(model_explorer_data(analysis, metric).text)
    assert set(data) == {"name", "results", "gradient"}
    outputs = {
        name for node in onnx.load(RESNET, load_external_data=False).graph.node for name in node.output
    }
    assert set(data["results"]) <= outputs
    assert len(data["results"]) == 122
    # All but a quotient is exact.
    kind = float if metric == "intensity" else int
    assert all(
        set(entry) == {"value"} and isinstance(entry["value"], kind) for entry in data["results"].values()
    )
    stops = [item["stop"] for item in data["gradient"]]
    assert stops == sorted(set(stops))
    assert (stops[0], stops[-1]) == (0, 1)
    # Bright is nothing and dark is most; text is black on the one and white on the other.
    assert [data["gradient"][at]["textColor"] for at in (0, -1)] == ["#000000", "#ffffff"]
    if metric == "macs":
        assert sum(entry["value"] for entry in data["results"].values()) == analysis.totals.macs


def test_times_say_their_unit_device_and_precision():
    analysis = run_analysis(str(RESNET), Options(assume=True, hardware="t4", precision="fp16"))
    found = hardware_estimates(analysis)
    label = "latency in ms on NVIDIA T4, fp16 (estimate)"
    data = json.loads(model_explorer_data(analysis, "latency").text)
    assert data["name"] == label
    times = [entry["value"] for entry in data["results"].values()]
    assert len(times) == 122
    assert math.isclose(sum(times), found.estimated_latency_ms)
    assert sum(time > 0 for time in times) == found.kernels, "a fused node has no time of its own"
    rows = [row for row in json.loads(netron_attachment(analysis).text)["metrics"] if row["name"] == label]
    assert [row["value"] for row in rows if row["kind"] == "model"] == [found.estimated_latency_ms]
    assert len(rows) == 123
    assert "latency" not in available_metrics(run_analysis(str(RESNET), Options(assume=True)))


def test_unknown_times_are_left_out():
    model = relus("a", "b")
    model.graph.node[0].domain = "vendor"
    model.opset_import.append(helper.make_opsetid("vendor", 1))
    model.graph.value_info.append(helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 3]))
    analysis = run_analysis(model, Options(hardware="t4"))
    data = json.loads(model_explorer_data(analysis, "latency").text)
    assert "known parts" in data["name"]
    assert set(data["results"]) == {"t1"}
    assert data["results"]["t1"]["value"] > 0


def test_unknown_numbers_are_left_out():
    model = relus("a")
    model.graph.node[0].domain = "vendor"
    model.opset_import.append(helper.make_opsetid("vendor", 1))
    rows = json.loads(netron_attachment(run_analysis(model, Options())).text)["metrics"]
    assert not [row for row in rows if row["name"].startswith(("MACs", "FLOPs")) and row["kind"] == "node"]


def test_numbers_beyond_javascript_are_text():
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "z"], ["y"], name="m")],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2**20, 2**20]) for n in "xz"],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2**20, 2**20])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    rows = json.loads(netron_attachment(run_analysis(model, Options())).text)["metrics"]
    assert {r["value"] for r in rows if r["name"] == "MACs"} == {str(2**60)}
