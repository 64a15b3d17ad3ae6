"""Sizes that a model cannot run with: the verdict is the runtime's, and no total is left."""

from __future__ import annotations

import json

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from py_autodoc import analyze
from py_autodoc.cli.app import app
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

TOTALS = (
    "total_macs",
    "total_flops",
    "read_bytes",
    "write_bytes",
    "peak_activation_bytes",
    "peak_activation_bytes_simple",
)


def cnn(batch: int | str = 1, baked: int = 1, channels: int = 3) -> onnx.ModelProto:
    """Conv, Relu, a Reshape to a batch that is baked in, Gemm, and a branch that knows no batch."""
    rng = np.random.default_rng(1)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return onnx.numpy_helper.from_array(rng.random(shape, np.float32), name)

    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["a"], "conv", pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["a"], ["b"], "relu"),
            helper.make_node("Reshape", ["b", "to"], ["c"], "flat"),
            helper.make_node("Gemm", ["c", "g"], ["d"], "fc"),
            helper.make_node("Expand", ["d", "again"], ["e"], "baked"),
            helper.make_node("MatMul", ["e", "h"], ["y"], "head"),
            helper.make_node("MatMul", ["z", "h"], ["other"], "other"),
        ],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, channels, 8, 8]),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, [2, 5]),
        ],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "other")],
        [
            weight("w", 4, 3, 3, 3),
            weight("g", 4 * 64, 5),
            weight("h", 5, 7),
            onnx.numpy_helper.from_array(np.array([baked, 256]), "to"),
            onnx.numpy_helper.from_array(np.array([max(baked, 1), 5]), "again"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def runs(model: onnx.ModelProto, **sizes: tuple[int, ...]) -> bool:
    """Whether ONNX Runtime runs it, the sizes of the inputs given."""
    for info in model.graph.input:
        for dim, size in zip(info.type.tensor_type.shape.dim, sizes.get(info.name, ()), strict=False):
            dim.dim_value = size
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        feeds = {i.name: np.ones(i.shape, np.float32) for i in session.get_inputs()}
        session.run(None, feeds)
    except Exception:  # noqa: BLE001 - whatever it says, it does not run
        return False
    return True


@pytest.mark.parametrize(
    ("model", "sizes", "node"),
    [
        (cnn(), {}, None),
        (cnn(), {"x": (8, 3, 8, 8)}, "flat"),
        (cnn(), {"x": (1, 4, 8, 8)}, "conv"),
        (cnn(), {"x": (1, 3, 9, 8)}, "flat"),
        (cnn(8, 8), {}, None),
        (cnn(1, 2), {}, "flat"),
        (cnn(channels=4), {}, "conv"),
        (cnn(), {"z": (2, 6)}, "other"),
    ],
)
def test_the_verdict_is_the_runtimes(model, sizes, node):
    report = analyze(model, input_shapes=sizes)
    verdict = report.runnable
    assert (verdict.verdict == "yes") == runs(model, **sizes)
    if node is None:
        assert (verdict.verdict, verdict.reason, verdict.node) == ("yes", "", None)
        assert all(getattr(report.metrics, name) for name in TOTALS)
        return
    names = {layer.id: layer.name for layer in report.layers}
    assert (verdict.verdict, names[verdict.node], verdict.sizes) == ("no", node, True)
    assert verdict.reason.startswith(node)


def test_nothing_is_known_from_the_contradiction_on():
    sizes = {"x": (8, 3, 8, 8)}
    report = analyze(cnn(), input_shapes=sizes, hardware="l4")
    by_name = {layer.name: layer for layer in report.layers}
    # The batch of 8 is known up to where it breaks; the baked batch of 1 must not come back behind it.
    assert by_name["conv"].macs == 8 * 64 * 4 * 27
    assert by_name["other"].macs == 2 * 5 * 7
    for name in ("flat", "fc", "baked", "head"):
        layer = by_name[name]
        assert (layer.macs, layer.flops, layer.read_bytes, layer.activation_bytes) == (None,) * 4
        assert layer.output_shapes == [None]
        assert layer.reason == f"the model cannot run: {report.runnable.reason}"
    metrics = report.metrics
    assert [getattr(metrics, name) for name in TOTALS] == [None] * len(TOTALS)
    assert metrics.peak_reason == by_name["fc"].reason
    assert {(row.macs, row.flops) for row in metrics.by_op} == {(None, None)}
    assert metrics.total_params == 4 * 27 + 4 * 64 * 5 + 35
    assert report.memory.peak is None
    assert report.memory.activations is None
    assert report.hardware_estimates.estimated_latency_ms is None
    assert report.hardware_estimates.vram_required_bytes is None
    assert report.hardware_estimates.reason == by_name["fc"].reason
    for block in report.blocks:
        if {by_name["flat"].id, by_name["fc"].id} & set(block.nodes):
            assert (block.macs, block.flops, block.activation_bytes) == (None, None, None)
    assert Report.from_json(report.to_json()).runnable == report.runnable
    payload = build_payload(run_analysis(cnn(), Options(input_shapes=sizes)))
    assert payload.runnable == report.runnable


def test_free_and_data_dependent_sizes_are_unknown():
    free = analyze(cnn("batch", -1)).runnable
    assert (free.verdict, free.reason, free.sizes) == ("unknown", "dimensions have no value: batch", True)
    assert analyze(cnn("batch", -1), bindings={"batch": 3}).runnable.verdict == "yes"
    graph = helper.make_graph(
        [helper.make_node("NonZero", ["x"], ["y"], "where")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, None)],
    )
    found = analyze(helper.make_model(graph)).runnable
    assert (found.verdict, found.node) == ("unknown", 0)
    assert "where" in found.reason


def test_expressions_of_other_sizes_stand():
    """Sizes that do not fit say nothing of those that do."""
    report = analyze(cnn("batch", 1), bindings={"batch": 8})
    assert report.runnable.verdict == "no"
    assert report.metrics.total_macs is None
    if report.metrics.total_macs_expr is not None:
        assert "batch" in " ".join(report.metrics.expr_conditions)


def test_an_untaken_branch_may_be_impossible():
    bad = helper.make_node("MatMul", ["x", "x"], ["p"], "impossible")
    good = helper.make_node("Identity", ["x"], ["q"])
    out = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("p", "q")]
    graph = helper.make_graph(
        [
            helper.make_node(
                "If",
                ["c"],
                ["y"],
                "gate",
                then_branch=helper.make_graph([bad], "t", [], out[:1]),
                else_branch=helper.make_graph([good], "e", [], out[1:]),
            )
        ],
        "g",
        [
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    assert analyze(helper.make_model(graph)).runnable.verdict != "no"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cnn.onnx"
    onnx.save(cnn(), path)
    return path


SIZES = ("--input-shape", "x=8x3x8x8")


def test_the_command_says_so_first(file, tmp_path):
    out = tmp_path / "report.json"
    result = CliRunner().invoke(app, ["analyze", str(file), *SIZES, "--out-json", str(out)])
    assert result.exit_code == 2
    first = result.stderr.splitlines()[0]
    assert first.startswith("error: cnn.onnx cannot run with these dimensions: flat: ")
    assert "Its totals are unknown. The file has other dimensions fixed" in first
    assert json.loads(out.read_text())["runnable"]["verdict"] == "no"
    good = CliRunner().invoke(app, ["analyze", str(file), "--out-json", str(out)])
    assert (good.exit_code, good.stderr) == (0, "")


@pytest.mark.parametrize("ending", ["dot", "netron.json"])
def test_other_files_are_written_and_the_status_tells(file, tmp_path, ending):
    out = tmp_path / f"graph.{ending}"
    result = CliRunner().invoke(app, ["graph", str(file), *SIZES, "--out", str(out)])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: cnn.onnx cannot run with these dimensions: ")
    assert out.stat().st_size
    assert '"name": "MACs"' not in "".join(
        str(row)
        for row in (json.loads(out.read_text())["metrics"] if ending != "dot" else ())
        if row["kind"] == "model"
    )


def test_summary_and_notebook_show_no_number(file):
    from py_autodoc.report.document.html_repr import report_html

    report = analyze(str(file), input_shapes={"x": (8, 3, 8, 8)})
    assert report_html(report).count("cannot run") >= 3
    from rich.console import Console

    from py_autodoc.cli import summary

    console = Console(width=120, file=None, record=True, markup=False)
    with console.capture() as shown:
        for part in summary._parts(report, 120, findings=False):
            console.print(part)
    text = shown.get()
    assert text.count("cannot run") >= 3
    assert "Cannot run: flat: " in text


@pytest.mark.parametrize(
    ("arguments", "means"),
    [
        (["analyze", "--out-json", "r.json"], "the report is partial"),
        (["graph", "--format", "dot", "--out", "g.dot"], "numbers are missing"),
    ],
    ids=["analyze", "graph"],
)
def test_a_failed_part_is_told_in_the_same_line(arguments, means, tmp_path, monkeypatch):
    from py_autodoc.report.pipeline import analysis

    def broken(*_):
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(analysis, "timeline", broken)
    monkeypatch.chdir(tmp_path)
    onnx.save(cnn(), tmp_path / "cnn.onnx")
    whole = CliRunner().invoke(app, [*arguments, "cnn.onnx"])
    assert whole.exit_code == 2
    assert f"error: cnn.onnx: part of the analysis failed; {means}. " in whole.stderr
    both = CliRunner().invoke(app, [*arguments, "--force", "cnn.onnx", "--input-shape", "x=8x3x8x8"])
    assert both.exit_code == 2
    assert both.stderr.count("error: ") == 1
    assert "cannot run with these dimensions: flat: " in both.stderr
    assert "Its totals are unknown, and part of the analysis failed. " in both.stderr


@pytest.mark.parametrize("opset", [11, 17])
@pytest.mark.parametrize(
    ("op", "axis"),
    [
        ("Softmax", -4), ("Softmax", -3), ("Softmax", 2), ("Softmax", 3), ("Softmax", 1 << 30),
        ("LogSoftmax", 3), ("Hardmax", -4), ("LpNormalization", 3),
        ("LayerNormalization", 3), ("LayerNormalization", 2), ("LayerNormalization", -(1 << 40)),
    ],
)  # fmt: skip
def test_an_axis_that_the_input_has_not(op, axis, opset):
    if op == "LayerNormalization" and opset < 17:
        pytest.skip("since opset 17")
    weights = []
    if op == "LayerNormalization":
        sizes = (2, 3, 4)[axis:] if axis < 3 and axis > -4 else (4,)
        weights = [onnx.numpy_helper.from_array(np.ones(sizes, np.float32), "w")]
    inputs = ["x", *(one.name for one in weights)]
    graph = helper.make_graph(
        [helper.make_node(op, inputs, ["y"], "along", axis=axis)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    found = analyze(model).runnable
    assert (found.verdict == "yes") == runs(model)
    assert found.verdict == "yes" or "out of range for rank 3" in found.reason
