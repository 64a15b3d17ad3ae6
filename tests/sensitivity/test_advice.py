"""What a measurement recommends: as report fields, as a section, and the latency of mixtures measured."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.errors import AutodocError
from py_autodoc.mixtures import measure_mixtures
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.sensitivity import sensitivity
from py_autodoc.sensitivity.advice import advice, read_sensitivity, with_advice

pytest.importorskip("onnxruntime")
DATA = Path("tests/data/quant")
DIGITS, DIGITS_DATA = DATA / "digits_cnn.onnx", DATA / "digits.npz"


@pytest.fixture(scope="module")
def measured():
    return sensitivity(DIGITS, DIGITS_DATA, samples=16, auto="sqnr>=42", hardware="l4")


def command(*args):
    return CliRunner().invoke(app, [str(one) for one in args])


def test_the_report_has_what_was_measured(measured, tmp_path):
    (tmp_path / "s.json").write_text(measured.to_json())
    assert read_sensitivity(tmp_path / "s.json") == measured
    done = command("analyze", DIGITS, "--sensitivity", tmp_path / "s.json", "--out-json", "-")
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    found = report["quantization"]
    kept = [one["layer"] for one in found["sensitive_layers"]]
    assert kept == [one.layer for one in measured.sensitive_layers]
    ids = {layer["id"] for layer in report["layers"]}
    assert all(one["node"] in ids for one in found["sensitive_layers"])
    engine = found["engine"]
    assert engine["float_layers"] + engine["quantized_layers"] == engine["layers"] == 7
    assert engine["float_layers"] == measured.choice.point.float_layers
    assert engine["weight_bytes"] < engine["float_weight_bytes"]
    assert engine["latency_source"] == "estimated"
    assert engine["speedup"] == pytest.approx(engine["float_latency_ms"] / engine["latency_ms"])
    assert json.loads(command("analyze", DIGITS, "--out-json", "-").stdout)["quantization"] is None


def test_the_card(measured, tmp_path):
    (tmp_path / "s.json").write_text(measured.to_json())
    done = command("analyze", DIGITS, "--sensitivity", tmp_path / "s.json", "--out-md", tmp_path / "a.md")
    assert done.exit_code == 0, done.stderr
    text = (tmp_path / "a.md").read_text()
    assert "## Quantization recommendations" in text
    assert "Strategy: mixed precision" in text
    assert all(f"`{one.layer}`" in text for one in measured.sensitive_layers)
    arguments = ("--data", DIGITS_DATA, "--samples", 8, "--out-md", tmp_path / "b.md")
    done = command("sensitivity", DIGITS, *arguments)
    assert done.exit_code == 0, done.stderr
    assert "Engine summary" in (tmp_path / "b.md").read_text()
    command("analyze", DIGITS, "--out-md", tmp_path / "c.md")
    assert "Quantization recommendations" not in (tmp_path / "c.md").read_text()


def test_mixtures_are_measured_in_turn_with_the_float_model(measured):
    found = measure_mixtures(DIGITS, measured, DIGITS_DATA, runs=3)
    assert len(found.curve) == 8
    assert all(point.measured_ms > 0 for point in found.curve)
    assert found.curve[-1].measured_ms == found.measured_float_ms
    assert found.choice.point.measured_ms > 0
    assert found.measured_on
    made = advice(found)
    assert made.engine.latency_source == "measured"
    assert made.engine.latency_ms == found.choice.point.measured_ms
    slower = msgspec.structs.replace(found, measured_float_ms=found.choice.point.measured_ms / 2)
    assert "slower than float" in advice(slower).recommendations[-1]


def test_mixtures_that_cannot_be_measured(measured):
    with pytest.raises(AutodocError, match="all layers fit into memory"):
        measure_mixtures(DIGITS, msgspec.structs.replace(measured, curve=[]), DIGITS_DATA)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"choice": None}, "Strategy: quantize all 7 layers"),
        ({"choice": None, "curve": [], "all_quantized": None}, "Set a target"),
        ({"measured": 3}, "3 of 7 layers were measured"),
        ({"data": "synthetic (seed 0)"}, "the samples are synthetic"),
        ({"samples": 16}, "use at least 128 samples"),
        ({"samples": 500}, "minmax ranges first"),
    ],
)
def test_what_is_recommended(change, said, measured):
    made = advice(msgspec.structs.replace(measured, **change))
    assert said in " ".join(made.recommendations)
    if change.get("curve") == []:
        assert made.engine is None


def test_errors_without_end_survive_the_file(measured, tmp_path):
    layer = measured.layers[0]
    worst = msgspec.structs.replace(layer.quality, relative_error=float("inf"), sqnr_db=None)
    layers = [msgspec.structs.replace(layer, quality=worst), *measured.layers[1:]]
    broken = msgspec.structs.replace(measured, layers=layers)
    (tmp_path / "s.json").write_text(broken.to_json())
    assert read_sensitivity(tmp_path / "s.json") == broken


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not a result of"),
        ("[]", "not a result of"),
        ('{"schema": "x"}', "not a result of"),
        (None, "no such file"),
    ],
)
def test_files_that_are_not_a_result(content, said, tmp_path):
    if content is not None:
        (tmp_path / "s.json").write_text(content)
    done = command("analyze", DIGITS, "--sensitivity", tmp_path / "s.json", "--out-json", "-")
    assert done.exit_code == 1
    assert said in done.stderr
    assert done.stdout == ""


def test_another_model(measured):
    with pytest.raises(AutodocError, match=r"which strww_fp32\.onnx does not have"):
        with_advice(run_analysis(str(DATA / "strww_fp32.onnx")), measured)
