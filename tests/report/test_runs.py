"""Costs are of one execution on the wire; what they are in one inference is the same wherever it is shown."""

from __future__ import annotations

import csv
import io
import json

import pytest
from builders import INT, F, branches, loop, model, weight
from onnx import TensorProto, helper

from py_autodoc import analyze
from py_autodoc.cli.summary import print_summary
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.render.csv import layers_csv
from py_autodoc.report.builders.node_numbers import (
    COSTS,
    NOT_COUNTED,
    column_in_inference,
    layer_in_inference,
)
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.html_repr import report_html
from py_autodoc.report.document.report import Report
from py_autodoc.report.node_query.node_matcher import NodeMatcher
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload


def body(name: str, *inner) -> helper.GraphProto:
    """A body that multiplies its state by w (32 MACs), then does what is given with it."""
    nodes = [
        helper.make_node("Identity", [f"{name}_go"], [f"{name}_on"]),
        helper.make_node("MatMul", [f"{name}_in", "w"], [f"{name}_mid"], name=f"{name}_step"),
        *(inner or [helper.make_node("Identity", [f"{name}_mid"], [f"{name}_out"])]),
    ]
    return helper.make_graph(
        nodes,
        name,
        [
            helper.make_tensor_value_info(f"{name}_i", INT, []),
            helper.make_tensor_value_info(f"{name}_go", TensorProto.BOOL, []),
            helper.make_tensor_value_info(f"{name}_in", F, [2, 4]),
        ],
        [
            helper.make_tensor_value_info(f"{name}_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info(f"{name}_out", F, [2, 4]),
        ],
    )


def nested():
    """Five times: x·w, and an inner loop of unknown length around another x·w."""
    inner = helper.make_node("Loop", ["n", "", "a_mid"], ["a_out"], name="inner", body=body("b"))
    proto = model(
        [helper.make_node("Loop", ["five", "", "x"], ["y"], name="outer", body=body("a", inner))],
        [("x", [2, 4])],
        [("y", [2, 4])],
        [weight("w", 4, 4), helper.make_tensor("five", INT, [], [5])],
    )
    proto.graph.input.append(helper.make_tensor_value_info("n", INT, []))
    return proto


SOURCES = {
    "loop": lambda: loop(5),
    "never": lambda: loop(0),
    "unknown": lambda: loop(None),
    "nested": nested,
    "branches": branches,
}


@pytest.fixture(params=SOURCES)
def analysis(request):
    return run_analysis(SOURCES[request.param](), Options())


def rows(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(layers_csv(report))))


def test_layers_times_their_runs_are_the_totals(analysis):
    report = build_report(analysis)
    metrics = report.metrics
    totals = (metrics.total_macs, metrics.total_flops, metrics.read_bytes, metrics.write_bytes)
    for cost, total in zip(COSTS, totals, strict=True):
        assert sum(layer_in_inference(layer, cost) or 0 for layer in report.layers) == total


def test_every_table_has_the_same_numbers(analysis):
    report, payload = build_report(analysis), build_payload(analysis)
    table, lines = rows(report), {layer.id: layer for layer in report.layers}
    for cost in COSTS:
        column = column_in_inference(payload.nodes, cost)
        for row in table:
            layer = lines[int(row["id"])]
            assert row[f"{cost}_per_run"] == str(getattr(layer, cost))
            assert row[f"{cost}_per_inference"] == str(layer_in_inference(layer, cost))
            assert row["runs"] == str(layer.runs)
            shown = column[layer.id]
            assert shown == (layer_in_inference(layer, cost) if layer.counted else None)
            assert (row["reason"] == NOT_COUNTED) == (not layer.counted)
        frame = report.to_pandas("layers")
        assert frame[f"{cost}_per_inference"].sum() == sum(
            layer_in_inference(layer, cost) for layer in report.layers
        )


def test_layers_of_a_report_have_the_numbers_of_the_payload(analysis):
    nodes, layers = build_payload(analysis).nodes, build_report(analysis).layers
    for cost in COSTS:
        assert [getattr(layer, cost) for layer in layers] == [getattr(nodes, cost)[one.id] for one in layers]
    assert {str(layer.id): layer.runs for layer in layers if layer.runs != 1} == nodes.runs
    assert [layer.id for layer in layers if layer.repeat is None] == nodes.runs_unknown
    assert [layer.id for layer in layers if not layer.counted] == nodes.uncounted


def test_reports_of_before_runs_say_the_same(analysis):
    report = build_report(analysis)
    data = report.to_dict()
    exact = [layer for layer in report.layers if layer.repeat is not None]
    for layer in data["layers"]:
        del layer["runs"]
    again = {layer.id: layer for layer in Report.from_json(json.dumps(data)).layers}
    assert [again[layer.id].runs for layer in exact] == [layer.runs for layer in exact]


def test_a_loop_inside_a_known_one_counts_once_an_iteration_of_that():
    report = build_report(run_analysis(nested(), Options()))
    steps = {layer.name: layer for layer in report.layers if layer.type == "MatMul"}
    assert (steps["a_step"].runs, steps["a_step"].repeat) == (5, 5)
    assert (steps["b_step"].runs, steps["b_step"].repeat) == (5, None)
    assert report.metrics.total_macs == 2 * 5 * 32
    row = next(row for row in rows(report) if row["name"] == "b_step")
    assert (row["runs"], row["runs_known"], row["macs_percent"]) == ("5", "no", "50.0")


def test_a_loop_that_never_runs_is_in_no_table_of_the_heaviest(capsys):
    """It was counted as one run in notebooks."""
    report = analyze(loop(0))
    step = next(layer for layer in report.layers if layer.name == "step")
    assert (step.macs, step.runs, layer_in_inference(step, "macs")) == (32, 0, 0)
    assert "step" not in report_html(report)
    print_summary(report, 100)
    assert "Heaviest layers by MACs" not in capsys.readouterr().out


def test_tables_show_one_inference_and_say_so(capsys):
    report = analyze(loop(5))
    assert "MACs per inference" in report_html(report)
    assert ">160<" in report_html(report)
    print_summary(report, 100)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    at = lines.index("Heaviest layers by MACs, costs of one inference")
    step = next(line for line in lines[at:] if "step" in line).split()
    assert step == ["step", "×5", "repeat.body", "MatMul", "2×4", "16", "160", "320", "100", "%"]


def test_queries_compare_costs_of_one_inference():
    payload = build_payload(run_analysis(loop(5), Options()))
    matcher = NodeMatcher(payload)
    assert [payload.nodes.name[node] for node in matcher.find("macs>=160")] == ["step"]


def test_weights_of_a_body_are_read_once_a_run():
    analysis = run_analysis(loop(5), Options())
    step = next(node.id for node in analysis.model.nodes if node.name == "step")
    assert analysis.model.tensors[analysis.model.nodes[step].inputs[1]].kind == TensorKind.INITIALIZER
    nodes = build_payload(analysis).nodes
    assert nodes.read_bytes[step] == 32 + 64
    assert column_in_inference(nodes, "read_bytes")[step] == 5 * (32 + 64)
