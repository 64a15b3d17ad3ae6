"""Files that claim what cannot be: no total is made of them, and every command judges them alike."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import make_graphs as g
import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from py_autodoc import analyze
from py_autodoc.cli.app import app
from py_autodoc.render.csv import layers_csv
from py_autodoc.render.dot import dot
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload


def model(nodes, initializers=(), shape=(2, 4), **kw) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", "columns"])],
        list(initializers),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, **kw)


def claimed(*dims: int) -> onnx.TensorProto:
    return TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=bytes(4))


ADD = helper.make_node("Add", ["x", "w"], ["y"], "add")


@pytest.mark.parametrize("dims", [(1 << 40, 1 << 40), (1 << 51,), (1 << 62,), (-4, 4), (0, -1)])
def test_weights_that_cannot_be_are_no_number(dims):
    report = analyze(model([ADD], [claimed(*dims)]))
    assert report.metrics.total_params is None
    assert report.to_pandas("layers") is not None
    (layer,) = report.layers
    sums = [row.params for row in (*report.metrics.by_op, *report.memory.weights.by_op)]
    assert [layer.params, *sums] == [None] * 3
    shape = "×".join("?" if d < 0 else str(d) for d in dims)
    what = "has a negative size in its shape" if min(dims) < 0 else "cannot have the shape"
    assert report.metrics.params_reason == f"the weight w {what} {shape}"
    assert layer.reason  # of its costs, which may be unknown for the same reason


def test_a_weight_that_cannot_be_spoils_its_own_module_only():
    """Module, report alone, table and graph say the same; what stands beside it keeps its numbers."""
    nodes = [
        helper.make_node("MatMul", ["x", "good"], ["a"], "/one/MatMul"),
        helper.make_node("Add", ["a", "w"], ["b"], "/two/Add"),
        helper.make_node("Relu", ["b"], ["y"], "/two/Relu"),
    ]
    good = numpy_helper.from_array(np.ones((4, 4), np.float32), "good")
    proto = model(nodes, [claimed(-4, 4), good])
    report = analyze(proto)
    assert [layer.params for layer in report.layers] == [16, None, 0]
    assert {block.name: block.params for block in report.blocks} == {"one": 16, "two": None}
    assert (report.metrics.total_params, report.memory.weights.by_dtype[0].params) == (None, None)
    payload = build_payload(run_analysis(proto.SerializeToString()))
    assert payload.nodes.params == [16, None, 0]
    assert payload.nodes.reason["1"] == report.layers[1].reason != ""
    again = Report.from_json(report.to_json())
    assert [layer.params for layer in again.layers] == payload.nodes.params
    row = list(csv.DictReader(io.StringIO(layers_csv(report))))[1]
    assert (row["params"], row["params_percent"]) == ("", "")
    assert row["reason"]
    assert "params unknown" in "".join(dot(payload))


def test_generated_weights_that_cannot_be_are_no_number():
    nodes = [
        helper.make_node("ConstantOfShape", ["n"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    shape = numpy_helper.from_array(np.array([4, 1 << 60]), "n")
    assert analyze(model(nodes, [shape])).metrics.total_params is None
    shape = numpy_helper.from_array(np.array([4, 8]), "n")
    assert analyze(model(nodes, [shape])).metrics.total_params == 32


def test_a_loop_without_end_is_not_fully_known():
    report = analyze(g.endless_loop())
    cover = report.coverage
    assert cover.nodes < 1
    assert cover.nodes_known < cover.nodes_total
    assert any("loop" in reason for reason in cover.reasons)


@pytest.mark.parametrize("make", [g.circle, g.self_reader, g.undefined_input])
def test_what_waits_for_itself_has_no_totals(make):
    report = analyze(make())
    assert report.runnable.verdict == "no"
    metrics = report.metrics
    assert (metrics.total_flops, metrics.read_bytes) == (None, None)
    assert (metrics.peak_activation_bytes, metrics.peak_activation_bytes_simple) == (None, None)
    assert "cannot run" in metrics.peak_reason


@pytest.mark.parametrize(
    ("node", "dtype"),
    [
        (helper.make_node("BitShift", ["x", "x"], ["y"], direction="SIDEWAYS"), TensorProto.UINT8),
        (helper.make_node("BitShift", ["x", "x"], ["y"]), TensorProto.UINT8),
        (helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=2, mode="RCD"), TensorProto.FLOAT),
        (helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=0), TensorProto.FLOAT),
        (helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=-2), TensorProto.FLOAT),
        (helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], auto_pad="SAME"), TensorProto.FLOAT),
    ],
)
def test_words_that_an_attribute_does_not_know_are_not_converted(node, dtype, tmp_path):
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", dtype, [1, 4, 2, 2])],
        [helper.make_tensor_value_info("y", dtype, None)],
    )
    path = tmp_path / "odd.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    result = CliRunner().invoke(app, ["to-torch", str(path), str(tmp_path / "odd.py")])
    assert result.exit_code == 1
    assert not (tmp_path / "odd.py").exists()


def external(folder: Path, length: int, there: int | None) -> Path:
    """A model with a weight of 16 floats in a file of ``there`` bytes; None: no file."""
    weight = TensorProto(
        name="w", data_type=TensorProto.FLOAT, dims=[4, 4], data_location=TensorProto.EXTERNAL
    )
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(length))):
        weight.external_data.add(key=key, value=value)
    if there is not None:
        (folder / "w.bin").write_bytes(bytes(there))
    path = folder / "m.onnx"
    product = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
    path.write_bytes(model([product], [weight]).SerializeToString())
    return path


def judged(path: Path) -> tuple[int, dict[str, str]]:
    result = CliRunner().invoke(app, ["validate", str(path), "--json"])
    return result.exit_code, {check["name"]: check["status"] for check in json.loads(result.stdout)}


@pytest.mark.parametrize(
    ("length", "there", "weights", "codes"),
    [
        (64, 64, "passed", set()),
        (64, 10, "failed", {"external-range"}),
        (32, 64, "failed", {"external-range"}),
        (64, None, "skipped", {"external-missing"}),
    ],
)
def test_validate_and_analyze_judge_external_data_alike(tmp_path, length, there, weights, codes):
    path = external(tmp_path, length, there)
    status, checks = judged(path)
    assert checks["weights"] == weights
    assert status == (weights == "failed")
    assert {d.code for d in analyze(path).diagnostics if d.code.startswith("external")} == codes


def test_validate_follows_the_links_that_analyze_follows(tmp_path):
    """As the Hugging Face cache has them: model and data are links into one folder."""
    blobs, shown = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    shown.mkdir()
    made = external(blobs, 64, 64)
    (shown / "m.onnx").symlink_to(made)
    (shown / "w.bin").symlink_to(blobs / "w.bin")
    assert judged(shown / "m.onnx")[0] == 0


def test_validate_fails_what_cannot_run(tmp_path):
    path = tmp_path / "m.onnx"
    bad = numpy_helper.from_array(np.zeros((3, 4), np.float32), "w")
    path.write_bytes(
        model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [bad]).SerializeToString()
    )
    status, checks = judged(path)
    assert (status, checks["analysis"]) == (1, "failed")
    assert analyze(path).runnable.verdict == "no"
