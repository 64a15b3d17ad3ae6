"""``onnx-autodoc graph --overlay latency``."""

import pytest
from click.testing import CliRunner
from graphs import transformer
from latency_fixture import looped

from py_autodoc.cli.graph import command
from py_autodoc.errors import OptionError


def invoke(tmp_path, *args, model=None):
    file, out = tmp_path / "m.onnx", tmp_path / "m.svg"
    file.write_bytes((model or transformer()).SerializeToString())
    result = CliRunner().invoke(command, [str(file), "--out", str(out), *args], standalone_mode=False)
    return result, out


def test_the_picture_says_of_which_device(tmp_path):
    result, out = invoke(tmp_path, "--overlay", "latency", "--hardware", "l4", "--precision", "fp16")
    assert result.exception is None
    text = out.read_text("utf-8")
    assert "NVIDIA L4" in text
    assert "µs" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "model", "says"),
    [
        (
            ["--hardware", "t4", "--precision", "bf16"],
            transformer(),
            "No times in the image: NVIDIA T4 has no published bf16 rate; it has fp32, fp16, int8.\n",
        ),
        (
            ["--hardware", "t4"],
            transformer("batch", "seq"),
            "No times in the image: 7 kernels of unknown size (bind batch, seq).\n",
        ),
        (
            ["--hardware", "t4"],
            looped(None),
            "Not all times in the image: 1 kernel in a loop whose number of runs is unknown.\n",
        ),
        (["--hardware", "t4"], transformer(), ""),
    ],
)
def test_a_picture_without_times_says_so(tmp_path, args, model, says):
    result, out = invoke(tmp_path, "--overlay", "latency", "--no-progress", *args, model=model)
    assert result.exception is None
    assert out.exists()
    assert result.stderr == says


@pytest.mark.parametrize(
    ("args", "code"),
    [(["--overlay", "latency"], "hardware-missing"), (["--hardware", "l44"], "unknown-device")],
)
def test_what_is_wrong(tmp_path, args, code):
    result, out = invoke(tmp_path, *args)
    assert isinstance(result.exception, OptionError)
    assert result.exception.code == code
    assert not out.exists()
