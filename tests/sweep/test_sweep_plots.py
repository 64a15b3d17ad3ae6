"""Plots of a sweep as files, and copies of a model on several devices."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.errors import OptionError
from py_autodoc.render.plots.sweep_lines import NAMES, sweep_lines
from py_autodoc.sweep import Axes, SweepOptions, sweep

DATA = Path(__file__).parents[1] / "data/stripped"
RESNET, BERT = str(DATA / "resnet50_dyn.stripped.onnx"), str(DATA / "bert_base_dyn.stripped.onnx")


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_line_for_each_device_and_precision():
    found = sweep(RESNET, Axes(batch=[1, 4, 16], hardware=["l4", "raspberry-pi-5"], precision=["fp16"]))
    along, plots = sweep_lines(found)
    assert (along, set(plots)) == ("batch", set(NAMES))
    fields = {"sweep-latency": "latency_ms", "sweep-throughput": "throughput", "sweep-memory": "memory_bytes"}
    for name, field in fields.items():
        scale = 1e-3 if field == "latency_ms" else 1
        assert plots[name].x == (1, 4, 16)
        for device in ("l4", "raspberry-pi-5"):
            values = [getattr(p, field) * scale for p in found.points if p.hardware == device]
            assert plots[name].lines[f"{device} fp16"] == pytest.approx(values)


def test_other_settings_are_lines_of_their_own_and_gaps_stay_gaps():
    found = sweep(BERT, Axes(batch=[1, 8], bindings={"seq": [64, 128]}, hardware=["l4"], precision=["fp16"]))
    _, plots = sweep_lines(found)
    assert set(plots["sweep-latency"].lines) == {"l4 fp16 seq 64", "l4 fp16 seq 128"}
    found.points.pop()
    _, plots = sweep_lines(found)
    assert math.isnan(plots["sweep-latency"].lines["l4 fp16 seq 128"][1])


def test_files_are_written(tmp_path):
    pytest.importorskip("matplotlib")
    done = invoke("sweep", RESNET, "--batch", "1,8", "--hardware", "l4", "--charts", tmp_path / "plots")
    assert done.exit_code == 0, done.stderr
    names = {path.name for path in (tmp_path / "plots").iterdir()}
    assert {
        f"{name}{dark}.{kind}" for name in NAMES for dark in ("", "-dark") for kind in ("svg", "png")
    } == names
    assert "items per second" in (tmp_path / "plots/sweep-throughput.svg").read_text("utf-8")
    nothing = invoke("sweep", RESNET, "--hardware", "l4", "--assets-dir", tmp_path / "none")
    assert "No plots" in nothing.stderr


def test_copies_add_up():
    found = sweep(RESNET, Axes(batch=[1, 8], hardware=["l4"], devices=[1, 4]), SweepOptions(provider="all"))
    assert found.axes["devices"] == [1, 4]
    for one, four in zip(found.points[::2], found.points[1::2], strict=True):
        assert (one.devices, four.devices) == (1, 4)
        assert four.throughput == pytest.approx(4 * one.throughput)
        assert (four.latency_ms, four.memory_bytes) == (one.latency_ms, one.memory_bytes)
        assert four.usd_per_million == one.usd_per_million
    with pytest.raises(OptionError, match="needs a device"):
        sweep(RESNET, Axes(batch=[1], devices=[2]))
    done = invoke(
        "sweep", BERT, "--bind", "seq=64", "--hardware", "t4", "--gpu-count", "1,2", "--out-json", "-"
    )
    assert [point["devices"] for point in json.loads(done.stdout)["points"]] == [1, 2]


def test_a_limit_may_apply_to_the_upper_end():
    axes = Axes(batch=[1, 4, 16], hardware=["l4"], precision=["fp16"])
    slowest = sweep(RESNET, axes).points[-1]
    limit = (slowest.latency_ms + slowest.latency_high_ms) / 2
    typical, high = (sweep(RESNET, axes, SweepOptions(max_latency=limit, risk=risk)) for risk in ("", "high"))
    batches = [
        found.points[next(c.point for c in found.choices if c.question == "throughput")].batch
        for found in (typical, high)
    ]
    assert batches[1] < batches[0]


PPOCR = str(Path(__file__).parents[1] / "data/models/ppocr_v4_det.onnx")
FIXED = str(DATA / "resnet50.stripped.onnx")


@pytest.mark.parametrize(("model", "batch"), [(PPOCR, []), (FIXED, []), (RESNET, [1, 2])])
def test_height_and_width_are_varied_in_pairs(model, batch):
    """Of a file with open sizes, of one with fixed ones, and with a batch."""
    found = sweep(model, Axes(batch=batch, resolutions=[(224, 224), (320, 448)], hardware=["l4"]))
    assert len(found.points) == 2 * max(1, len(batch))
    assert [point.reason for point in found.points] == [""] * len(found.points)
    for small, large in zip(found.points[::2], found.points[1::2], strict=True):
        assert large.macs / small.macs == pytest.approx(320 * 448 / 224**2, rel=0.02)
        (shape,) = large.input_shapes.values()
        assert shape[2:] == [320, 448]
    _, plots = sweep_lines(found)
    assert plots


def test_a_text_has_no_resolution():
    with pytest.raises(OptionError, match="no input that is known to be an image"):
        sweep(BERT, Axes(resolutions=[(224, 224)]))
    done = invoke("sweep", FIXED, "--input-resolution", "224x", "--hardware", "l4")
    assert (done.exit_code, "is not HEIGHTxWIDTH" in done.stderr) == (1, True)
