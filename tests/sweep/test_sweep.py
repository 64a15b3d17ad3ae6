"""Sweeps: every number is that of an analysis at that point; choices; bad input; what is written."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from py_autodoc import analyze
from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError, OptionError
from py_autodoc.sweep import Axes, SweepOptions, SweepPoint, best, knee, sweep

DATA = Path(__file__).parent.parent / "data"
FIXED = ("resnet_tiny", "bert_tiny", "light_resnet50", "ppocr_cls_v2")


def model_file(name: str) -> Path:
    found = sorted([*DATA.rglob(f"{name}.onnx"), *DATA.rglob(f"{name}.stripped.onnx")])
    assert found, f"{name} is not among the data of the tests"
    return found[0]


def assert_as_analyzed(path: Path, point: SweepPoint, batch: int | None) -> None:
    """All numbers of a point are those of the report with the sizes that it names."""
    report = analyze(
        path,
        bindings=point.bindings,
        batch_size=None if point.bindings else batch,
        resize=point.input_shapes,
        hardware=point.hardware,
        precision=point.precision if point.hardware else None,
    )
    metrics = report.metrics
    assert (point.macs, point.flops) == (metrics.total_macs, metrics.total_flops)
    assert (point.read_bytes, point.write_bytes) == (metrics.read_bytes, metrics.write_bytes)
    assert point.peak_activation_bytes == metrics.peak_activation_bytes
    estimates = report.hardware_estimates
    if estimates is not None:
        assert point.latency_ms == estimates.estimated_latency_ms
        assert (point.latency_low_ms, point.latency_high_ms) == (
            estimates.latency_low_ms,
            estimates.latency_high_ms,
        )
        assert point.memory_bytes == estimates.vram_required_bytes
        assert point.fits == estimates.fits_in_vram
        assert point.bottleneck == estimates.bottleneck


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXED)
def test_a_batch_that_the_file_has_fixed(name):
    path = model_file(name)
    found = sweep(path, Axes(batch=[1, 3, 8], hardware=["l4"], precision=["fp32", "fp16"]))
    assert [(p.batch, p.precision) for p in found.points] == [
        (batch, precision) for batch in (1, 3, 8) for precision in ("fp32", "fp16")
    ]
    for point in found.points:
        assert_as_analyzed(path, point, point.batch)
        assert point.throughput == pytest.approx(point.batch / point.latency_ms * 1e3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["silero_vad_half", "bert_base_dyn", "resnet50_dyn", "gpt2", "mamba_tiny", "whisper_tiny_encoder"]
)
def test_free_sizes(name):
    path = model_file(name)
    report = analyze(path)
    free = [dim.name for dim in report.dims if dim.value is None and "batch" not in dim.name]
    swept = {free[-1]: [2, 5]} if free else {}
    found = sweep(path, Axes(batch=[1, 3], bindings=swept, hardware=["l4"]))
    assert len(found.points) == 2 * (2 if swept else 1)
    for point in found.points:
        if point.macs is not None:
            assert_as_analyzed(path, point, point.batch)
        else:
            assert point.reason


def gemms(batch: int | str = "n", width: int | str = 8) -> onnx.ModelProto:
    weight = onnx.numpy_helper.from_array(np.ones((8, 4), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, width])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [weight],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_points_are_the_product_of_the_axes_and_counted_by_hand():
    found = sweep(gemms(), Axes(bindings={"n": [1, 2, 10]}))
    assert found.axes == {"n": [1, 2, 10]}
    assert [point.macs for point in found.points] == [32, 64, 320]
    assert [point.flops for point in found.points] == [64 + 4, 128 + 8, 640 + 40]
    assert [point.batch for point in found.points] == [1, 2, 10]
    assert {point.latency_ms for point in found.points} == {None}
    assert found.choices == []


def test_sizes_that_the_model_cannot_run_with_are_told_at_their_point():
    found = sweep(gemms(width="k"), Axes(bindings={"k": [8, 9]}))
    assert found.points[0].macs == 32
    assert found.points[1].macs is None
    assert "9" in found.points[1].reason


def test_the_first_point_may_be_the_one_that_cannot_run():
    found = sweep(gemms(width="k"), Axes(bindings={"k": [9, 8]}))
    assert [point.macs for point in found.points] == [None, 32]


def test_devices_and_precisions():
    found = sweep(gemms(), Axes(batch=[1], hardware=["l4", "t4"], precision=["fp16", "fp8"]))
    by_key = {(p.hardware, p.precision): p for p in found.points}
    assert by_key["l4", "fp16"].latency_ms > 0
    assert by_key["t4", "fp8"].latency_ms is None
    assert "no published fp8 rate" in by_key["t4", "fp8"].reason


@pytest.mark.parametrize(
    ("axes", "options", "code"),
    [
        (Axes(bindings={"nobody": [1, 2]}), SweepOptions(), None),
        (Axes(bindings={"n": [1, 2]}), SweepOptions(bindings={"n": 3}), "swept-and-fixed"),
        (Axes(precision=["fp16"]), SweepOptions(), "hardware-missing"),
        (Axes(hardware=["no-such-device"]), SweepOptions(), None),
        (Axes(hardware=["l4"], precision=["fp17"]), SweepOptions(), "unknown-precision"),
        (Axes(bindings={"n": range(1, 20_000)}), SweepOptions(), "too-many-points"),
    ],
)
def test_bad_axes(axes, options, code):
    with pytest.raises(AutodocError) as caught:
        sweep(gemms(), axes, options)
    assert code is None or caught.value.code == code


def point(batch: int, latency: float | None, memory: int = 100, fits: bool | None = True) -> SweepPoint:
    return SweepPoint(
        bindings={}, input_shapes={}, batch=batch, hardware="d", precision="fp16", macs=1, flops=2,
        read_bytes=1, write_bytes=1, peak_activation_bytes=1, memory_bytes=memory, available_bytes=1000,
        fits=fits, latency_ms=latency, latency_low_ms=latency, latency_high_ms=latency,
        throughput=None if latency is None else batch / latency * 1e3, bottleneck="compute",
        label="estimate", reason="",
    )  # fmt: skip


def test_best_and_knee():
    points = [point(1, 1.0), point(8, 2.0), point(16, 3.7), point(64, 14.5, memory=900), point(128, None)]
    assert best(points).point == 3
    assert knee(points).point == 1  # 8 items in 2 ms are 91 % of 64 in 14.5 ms
    assert knee([points[0], *points[2:]]).point == 1  # and 16 in 3.7 ms 98 %
    assert best(points, max_memory=500).point == 2
    assert best(points, max_latency=2.5).point == 1
    assert best(points, max_latency=0.5).reason == "the lowest latency is 1 ms"
    assert "the least memory" in best(points, max_memory=10).reason
    assert best([point(1, 1.0, fits=False)]).point is None
    assert best([point(1, None)]).reason == "no point has a throughput"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(gemms(width="k"), path)
    return path


def invoke(*arguments: object):
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)])


def test_the_command(file, tmp_path):
    done = invoke(file, "--batch", "1,2", "--bind", "k=8", "--hardware", "l4", "--out-json", "-")
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["schema"].startswith("autodoc.sweep/")
    assert [point["macs"] for point in found["points"]] == [32, 64]
    assert {choice["question"] for choice in found["choices"]} == {"throughput", "knee"}
    table = tmp_path / "s.csv"
    assert invoke(file, "--batch", "1,2", "--bind", "k=8", "--out-csv", table).exit_code == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert [(row["n"], row["k"], row["macs"]) for row in rows] == [("1", "8", "32"), ("2", "8", "64")]
    # A table that we wrote may be written again, a file of somebody else not.
    assert invoke(file, "--batch", "1", "--bind", "k=8", "--out-csv", table).exit_code == 0
    table.write_text("mine", encoding="utf-8")
    assert invoke(file, "--batch", "1", "--bind", "k=8", "--out-csv", table).exit_code == 3
    assert table.read_text(encoding="utf-8") == "mine"


def test_points_that_cannot_run_give_status_2(file):
    done = invoke(file, "--bind", "k=8,9", "--batch", "1")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: m.onnx: 1 of 2 points have no costs: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--batch", "0"],
        ["--batch", "1,x"],
        ["--batch", "9" * 5000],
        ["--bind", "n"],
        ["--bind", "n=1,"],
        ["--resize", "x=axb"],
        ["--max-memory", "8 apples", "--batch", "1"],
        ["--max-latency", "-1", "--batch", "1"],
        ["--precision", "fp16", "--batch", "1"],
    ],
)
def test_bad_options_are_one_line(file, arguments):
    done = invoke(file, *arguments)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_amounts():
    from py_autodoc.cli.axes import byte_size, milliseconds

    assert byte_size("8GB", "o") == 8_000_000_000
    assert byte_size("1.5 GiB", "o") == 3 << 29
    assert (milliseconds("10", "o"), milliseconds("0.5s", "o")) == (10, 500)
    assert milliseconds("250us", "o") == 0.25
    with pytest.raises(OptionError):
        byte_size("ten", "o")


def test_the_table_is_inert_and_fits(file):
    from rich.console import Console

    from py_autodoc.cli.sweep_table import print_sweep

    model = gemms(batch="n\x1b[31m")
    found = sweep(model, Axes(batch=[1, 64], bindings={}, hardware=["l4"], precision=["fp16", "int8"]))
    for width in (80, 160):
        console = Console(width=width, record=True, file=io.StringIO(), markup=False)
        print_sweep(found, console)
        text = console.export_text()
        assert "\x1b" not in text
        assert "…" not in text
        assert "l4 fp16: most items/s: batch 64" in text


@pytest.mark.slow
def test_a_model_rewritten_in_another_way_for_each_batch():
    """Weights that the model fills by themselves: at a batch it gets a node that it has not for any batch."""
    path = model_file("light_resnet50")
    found = sweep(path, Axes(batch=[2, 3]))
    for point in found.points:
        assert_as_analyzed(path, point, point.batch)


def test_what_a_million_items_cost():
    """On the instance that ``recommend`` names, at the throughput of the point; nothing without a cloud."""
    from py_autodoc.hardware.cloud import of_device

    path = model_file("resnet50")
    found = sweep(path, Axes(batch=[1, 8], hardware=["l4", "rtx-4090"]), SweepOptions(provider="all"))
    price = of_device("l4").approx_on_demand_usd_per_hour
    assert [one.usd_per_hour for one in found.prices] == [price]
    for point in found.points:
        if point.hardware == "l4":
            assert point.usd_per_million == pytest.approx(price * 1e6 / (3600 * point.throughput))
        else:
            assert point.usd_per_million is None
    assert all(point.usd_per_million is None for point in sweep(path, Axes(hardware=["l4"])).points)
    code = CliRunner().invoke(app, ["sweep", str(path), "--hardware", "l4", "--cloud", "moon"])
    assert code.exit_code == 1
    assert "Unknown provider" in code.stderr
