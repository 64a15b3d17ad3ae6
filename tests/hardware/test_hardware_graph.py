"""``onnx-autodoc graph --overlay latency``."""

import pytest
from click.testing import CliRunner
from graphs import transformer

from py_autodoc.cli.graph import command
from py_autodoc.errors import OptionError


def invoke(tmp_path, *args):
    model, out = tmp_path / "m.onnx", tmp_path / "m.svg"
    model.write_bytes(transformer().SerializeToString())
    result = CliRunner().invoke(command, [str(model), "--out", str(out), *args], standalone_mode=False)
    return result, out


def test_the_picture_says_of_which_device(tmp_path):
    result, out = invoke(tmp_path, "--overlay", "latency", "--hardware", "l4", "--precision", "fp16")
    assert result.exception is None
    text = out.read_text("utf-8")
    assert "NVIDIA L4" in text
    assert "µs" in text


@pytest.mark.parametrize(
    ("args", "code"),
    [(["--overlay", "latency"], "hardware-missing"), (["--hardware", "l44"], "unknown-device")],
)
def test_what_is_wrong(tmp_path, args, code):
    result, out = invoke(tmp_path, *args)
    assert isinstance(result.exception, OptionError)
    assert result.exception.code == code
    assert not out.exists()
