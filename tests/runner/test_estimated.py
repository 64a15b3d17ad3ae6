"""Measured times beside the estimate: what is compared, what is told, what is drawn."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.outputs.marks import is_unchanged_output
from py_autodoc.render.plots.estimates import Mark, _marks_to_label, encode_figure, estimate_plot
from py_autodoc.report.node_query.node_latency import node_seconds
from py_autodoc.report.pipeline.analysis import Options
from py_autodoc.report.pipeline.analysis import run_analysis as analyse
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.runner.estimated import compare_with_estimate, estimate_lines
from py_autodoc.runner.profile import NodeTime, NodeTimes

RESNET8 = "tests/data/quant/resnet8_fp32_bn.onnx"


@pytest.fixture(scope="module")
def analysis():
    return analyse(RESNET8, Options(assume=True, hardware="epyc-9654"))


def times(analysis, factor):
    """Each node measured at so many times its estimate."""
    seconds = node_seconds(build_payload(analysis))
    nodes = [
        NodeTime(
            node=at, name=f"n{at}", op=analysis.model.nodes[at].op_type, nodes=[at], ms=1e3 * value * factor,
            conversion_ms=0.0,
        )
        for at, value in enumerate(seconds)
        if value
    ]  # fmt: skip
    odd = NodeTime(node=0, name="odd", op="Odd", nodes=[], ms=1.0, conversion_ms=0.0)
    total = sum(one.ms for one in nodes) + 1.0
    return NodeTimes(
        model="m.onnx",
        source="made",
        runs=1,
        total_ms=total,
        attributed_ms=total,
        nodes=[*nodes, odd],
        lost={},
    )


@pytest.mark.parametrize(("factor", "within"), [(1.0, 1.0), (0.6, 1.0), (5.0, 0.0)])
def test_ratios_are_those_of_the_numbers(analysis, factor, within):
    found = compare_with_estimate(times(analysis, factor), analysis)
    assert found.device == "epyc-9654"
    assert found.unknown == 1
    assert found.median_ratio == pytest.approx(1 / factor)
    assert found.within == within
    assert found.measured_ms == pytest.approx(factor * found.estimated_ms + 1.0)
    text = "\n".join(estimate_lines(found))
    assert f"estimate / measurement over layers: {1 / factor:.2f}" in text
    assert f"{within:.0%} of the time, it is within a factor of two" in text


def test_nothing_to_compare(analysis):
    empty = NodeTimes(model="m", source="s", runs=1, total_ms=0, attributed_ms=0, nodes=[], lost={})
    found = compare_with_estimate(empty, analysis)
    assert (found.median_ratio, found.within) == (None, None)
    assert len(list(estimate_lines(found))) == 1
    with pytest.raises(ValueError, match="no layer has both"):
        estimate_plot([Mark("a", "Conv", 0.0, 1.0)], "d")


@pytest.mark.slow
def test_the_plot(tmp_path):
    pytest.importorskip("matplotlib")
    marks = [Mark(f"$layer {at}", f"Op{at % 6}", 1.0 + at, 2.0 + at) for at in range(12)]
    svg = encode_figure(estimate_plot(marks, "<device>"), "x.svg")
    assert b"$layer 0" in svg
    assert b"<device>" not in svg
    assert svg == encode_figure(estimate_plot(marks, "<device>"), "x.svg")
    for theme, name in (("light", "a.png"), ("dark", "b.svg")):
        (tmp_path / name).write_bytes(encode_figure(estimate_plot(marks, "d", theme), name))
        assert is_unchanged_output(tmp_path / name, "plot")


def test_labels_do_not_cover_each_other():
    same = [Mark(str(at), "Conv", 5.0, 1.0) for at in range(4)]
    assert [one.label for one in _marks_to_label([*same, Mark("far", "Conv", 1.0, 90.0)])] == ["far", "0"]


@pytest.mark.slow
def test_the_command(tmp_path):
    pytest.importorskip("onnxruntime")
    out = tmp_path / "p.svg"
    arguments = ["run", RESNET8, "--runs", "3", "--hardware", "epyc-9654", "--out-plot", str(out)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.stderr
    assert "Estimate for epyc-9654: " in done.stdout
    assert out.read_bytes().startswith(b"<?xml")
    done = CliRunner().invoke(app, ["run", RESNET8, "--out-plot", str(Path(tmp_path, "q.svg"))])
    assert done.exit_code == 1
    assert done.stderr.startswith("error: --out-plot compares times with an estimate.")
