"""Work that depends on the data, and operators that nobody knows: what totals say about them, everywhere."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc import analyze
from py_autodoc.cli.app import app
from py_autodoc.costs.flop_weights import IOU
from py_autodoc.render import html
from py_autodoc.report.encode.total_texts import strip


def model(nodes, inputs, outputs, weights=()) -> bytes:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        list(weights),
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("vendor", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def scalar(name: str, value: float, dtype=np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array([value], dtype), name)


WEIGHT = numpy_helper.from_array(np.zeros((64, 64), np.float32), "w")


def mystery() -> bytes:
    """A product of 194.6 K MACs (64 × 64 × 47.5) beside an operator that has no rule."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="known"),
        helper.make_node("Mystery", ["h"], ["y"], domain="vendor", name="unknown"),
    ]
    return model(nodes, {"x": [48, 64]}, ["y"], [WEIGHT])


def suppression(boxes: int = 1000, most: int = 10) -> bytes:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou"], ["kept"]),
    ]
    weights = [WEIGHT, scalar("most", most, np.int64), scalar("iou", 0.5)]
    inputs = {"x": [48, 64], "boxes": [1, boxes, 4], "scores": [1, 2, boxes]}
    return model(nodes, inputs, ["h", "kept"], weights)


def test_an_operator_without_a_rule_makes_macs_a_lower_bound_everywhere(tmp_path):
    path = tmp_path / "mystery.onnx"
    source = mystery()
    path.write_bytes(source)
    report = analyze(path)
    assert report.metrics.total_macs == 48 * 64 * 64
    assert report.coverage.macs == 0.5
    assert report.coverage.unknown_ops == {"vendor::Mystery": 1}
    texts = {one.label: one.text for one in strip(report)}
    assert texts["MACs"].startswith("≥ 197 K")
    assert "≥ 197 K" in str(report)
    assert "≥ 197 K" in card(source, tmp_path)
    assert "≥ 197 K" in report._repr_html_()
    assert "≥ 197 K" in html._facts(report)
    drawn = CliRunner().invoke(app, ["graph", str(path), "--out", str(tmp_path / "a.dot")])
    assert drawn.exit_code == 0, drawn.output
    assert "≥ 197 K" in (tmp_path / "a.dot").read_text("utf-8")


def test_a_model_of_known_operators_has_exact_totals(tmp_path):
    source = model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": [48, 64]}, ["y"], [WEIGHT])
    report = analyze(source)
    assert (report.coverage.macs, report.metrics.data_dependent_flops) == (1, 0)
    assert "≥" not in card(source, tmp_path)
    assert not [one for one in strip(report) if "data" in one.label]
    relu = analyze(model([helper.make_node("Relu", ["x"], ["y"])], {"x": [4]}, ["y"]))
    assert relu.coverage.macs is None


def test_suppression_is_shown_apart_from_certain_work(tmp_path):
    source = suppression()
    report = analyze(source)
    certain = 2 * 48 * 64 * 64 + 2 * 1000
    assert report.metrics.total_flops == certain
    assert report.metrics.data_dependent_flops == IOU * 2 * 1000 * 10
    assert report.coverage.data_dependent == {"NonMaxSuppression": 1}
    assert report.coverage.nodes == 1
    layer = next(layer for layer in report.layers if layer.type == "NonMaxSuppression")
    assert layer.flops == 2000
    assert "the data may add" in layer.reason
    (text,) = [one.text for one in strip(report) if one.label == "FLOPs by data, at most"]
    assert text in card(source, tmp_path)
    assert (
        report.metrics.data_dependent_flops == json.loads(report.to_json())["metrics"]["data_dependent_flops"]
    )


def card(report, folder) -> str:
    """The model card of the command line."""
    path = folder / "card.onnx"
    path.write_bytes(report)
    out = CliRunner().invoke(app, ["analyze", str(path), "--out-md", str(folder / "card.md")])
    assert out.exit_code in (0, 2), out.output
    return (folder / "card.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("op", "attrs", "bound"),
    [
        ("MaxRoiPool", {"pooled_shape": [2, 2]}, True),
        ("RoiAlign", {"output_height": 2, "output_width": 2, "sampling_ratio": 0}, True),
        ("RoiAlign", {"output_height": 2, "output_width": 2, "sampling_ratio": 2}, False),
    ],
)
def test_regions_of_any_size_are_bounds(op, attrs, bound):
    inputs = {"x": [1, 3, 16, 16], "rois": [5, 5 if op == "MaxRoiPool" else 4]}
    weights = [] if op == "MaxRoiPool" else [numpy_helper.from_array(np.zeros(5, np.int64), "batch")]
    names = ["x", "rois", *(w.name for w in weights)]
    report = analyze(model([helper.make_node(op, names, ["y"], **attrs)], inputs, ["y"], weights))
    assert report.metrics.total_flops
    assert bool(report.metrics.data_dependent_flops) is bound


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(("reduction", "flops"), [("none", 0), ("add", 8), ("mul", 8), ("max", 8)])
def test_a_scatter_that_reduces_computes(op, reduction, flops):
    indices = np.zeros((2, 4) if op == "ScatterElements" else (2, 1), np.int64)
    attrs = {} if reduction == "none" else {"reduction": reduction}
    graph = [helper.make_node(op, ["x", "i", "u"], ["y"], **attrs)]
    source = model(graph, {"x": [6, 4], "u": [2, 4]}, ["y"], [numpy_helper.from_array(indices, "i")])
    source = source.replace(b"\x10\x11", b"\x10\x12")  # opset 18
    assert analyze(source).metrics.total_flops == flops
