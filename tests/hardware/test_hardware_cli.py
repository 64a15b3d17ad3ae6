"""``onnx-autodoc analyze --hardware``."""

import json

import click
import pytest
from click.testing import CliRunner
from graphs import transformer

from py_autodoc.cli.analyze import command
from py_autodoc.cli.hardware_lines import hardware_lines
from py_autodoc.errors import OptionError


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("hardware") / "m.onnx"
    found.write_bytes(transformer("batch", 48).SerializeToString())
    return str(found)


def invoke(*args):
    return CliRunner().invoke(command, list(args), standalone_mode=False)


def report(*args):
    result = invoke(*args, "--no-progress")
    assert result.exception is None, result.exception
    return json.loads(result.stdout)


def test_what_is_assumed_of_experts_is_told(tmp_path):
    from latency_fixture import experts

    path = tmp_path / "m.onnx"
    path.write_bytes(experts().SerializeToString())
    result = invoke(str(path), "--hardware", "l4", "--precision", "fp16", "--no-progress")
    found = json.loads(result.stdout)["hardware_estimates"]
    assert found["assumption"] == "tokens are distributed evenly over the experts (16 kernels)"
    assert (found["unknown_kernels"], found["reason"]) == (0, "")
    assert report(str(path))["hardware_estimates"] is None


def test_json(path):
    found = report(path, "--batch-size", "4", "--hardware", "a100-sxm4-40gb", "--precision", "FP16")
    found = found["hardware_estimates"]
    assert (found["device"], found["precision"], found["batch_size"]) == ("a100-sxm4-40gb", "fp16", 4)
    assert found["latency_low_ms"] < found["estimated_latency_ms"] < found["latency_high_ms"]
    assert {"theoretical_latency_ms", "compute_utilization_estimate", "bottleneck", "vram_required_bytes",
            "fits_in_vram"} <= set(found)  # fmt: skip


def test_html_takes_the_choice_along(path, tmp_path):
    import base64
    import gzip
    import re

    page = tmp_path / "m.html"
    invoke(path, "--assume", "--hardware", "l4", "--precision", "int8", "--out-html", str(page))
    texts = re.findall(r"[A-Za-z0-9+/=]{2000,}", page.read_text("utf-8"))
    bundles = [gzip.decompress(base64.b64decode(text)) for text in texts if text.startswith("H4sI")]
    payload = next(found for found in map(json.loads, bundles) if "payload" in found)["payload"]
    assert (payload["hardware"]["chosen"], payload["hardware"]["precision"]) == ("l4", "int8")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--hardware", "rtx-409"], "unknown-device"),
        (["--hardware", "missing.json"], "bad-profile"),
        (["--hardware", "hailo-8"], "device-not-estimable"),
        (["--hardware", "l4", "--precision", "fp12"], "unknown-precision"),
        (["--precision", "fp16"], "hardware-missing"),
    ],
)
def test_what_is_wrong(path, args, code):
    result = invoke(path, *args)
    assert isinstance(result.exception, OptionError)
    assert result.exception.code == code
    assert result.exception.exit_status == 1
    assert result.stdout == ""


def test_a_wrong_id_is_told_before_the_model_is_read(tmp_path):
    assert invoke(str(tmp_path / "none.onnx"), "--hardware", "rtx-409").exception.code == "unknown-device"


def test_the_list():
    result = invoke("--list-hardware")
    lines = result.stdout.splitlines()
    assert len(lines) == 227
    assert "l4\tNVIDIA L4\tdatacenter\t24 GiB\tfp32 tf32 fp16 bf16 fp8 int8" in lines
    assert {line.count("\t") for line in lines} == {4}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--hardware", "l4", "--hardware", "t4"], "only one device can be given."),
        (["--hardware", " "], "the value is empty; run --list-hardware to list the ids."),
        (["--hardware", ""], "the value is empty; run --list-hardware to list the ids."),
    ],
)
def test_no_choice_among_devices_is_silent(path, args, says):
    result = invoke(path, *args)
    assert isinstance(result.exception, click.UsageError)
    assert result.exception.format_message() == f"Invalid value for '--hardware': {says}"
    assert result.stdout == ""


def lines(*args, model=None):
    from py_autodoc import analyze

    return dict(hardware_lines(analyze(model or transformer(2, 48), hardware=args[0], precision=args[1])))


def test_the_summary():
    found = lines("l4", "fp16")
    assert list(found) == ["Device", "Latency", "Bound", "Utilisation", "Slowest", "Memory"]
    assert found["Device"] == "NVIDIA L4 · fp16 · TensorRT · batch 2"
    assert "µs to" in found["Latency"]
    assert "estimate)" in found["Latency"]
    assert "7 kernels" in found["Latency"]
    assert "fits into" in found["Memory"]


def test_the_summary_without_a_number():
    assert lines("tpu-v5e", "fp32")["Latency"].startswith("—  (Google TPU v5e has no published fp32 rate")
    assert "(bind batch, seq)" in lines("l4", "fp16", model=transformer("batch", "seq"))["Latency"]


def test_what_is_unknown_makes_it_a_lower_bound():
    from graphs import Graph

    g = Graph(x=[4, 16])
    g.op("Mystery", g.op("Relu", "x"), domain="com.example")
    text = lines("l4", "fp16", model=g.model())["Latency"]
    assert text.startswith("≥ ")
    assert "1 of them unknown and not included" in text
    assert "(known kernels 2.55 µs to 5.47 µs" in text


def test_the_summary_says_what_is_left_out_and_why():
    from graphs import Graph

    g = Graph(x=[4, 1, 16], y=["rows", "columns", "depth", "more"])
    trees = g.op("Trees", g.op("Relu", "x"), domain="com.example")
    mystery = g.op("\x1b[31mMystery", trees, domain="com.example")
    model = g.model(mystery, g.op("Relu", "y"), g.op("MaxPool", "y", kernel_shape=[2, 2]))
    found = lines("l4", "fp16", model=model)["Not included"]
    assert found == (
        "2 kernels of unknown size (bind rows, columns, depth, 1 more); "
        "2 kernels without a rule (Trees, \ufffd[31mMystery)"
    )
    assert "Not included" not in lines("l4", "fp16")


def test_loops_that_run_nobody_knows_how_often_are_told():
    from latency_fixture import looped

    assert lines("l4", "fp16", model=looped(None))["Not included"] == (
        "1 kernel in a loop whose number of runs is unknown"
    )


def test_the_slowest_have_names_though_few_layers_are_listed():
    from py_autodoc import analyze

    found = analyze(transformer(2, 48), hardware="l4", max_layers=0)
    assert "MatMul" in dict(hardware_lines(found))["Slowest"]


def test_a_narrow_terminal_loses_no_number(capsys):
    """What is too long for the width is wrapped; text cut out of the middle would be numbers."""
    from graphs import Graph

    from py_autodoc import analyze
    from py_autodoc.cli.summary import print_summary

    g = Graph(x=[4, 32])
    g.linear(g.linear(g.linear("x", 32, 32), 32, 32), 32, 32)
    model = g.model()
    for number, node in enumerate(model.graph.node):
        node.name = f"{'module/' * 20}{number}"
    report = analyze(model, hardware="l4")
    print_summary(report, 50)
    shown = "".join(capsys.readouterr().out.split())
    assert "".join(dict(hardware_lines(report))["Slowest"].split()) in shown
