"""What is no file as the name of a result is told for what it is; nothing waits for a reader for ever."""

from __future__ import annotations

import os
import select
import shutil
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from py_autodoc.errors import OutputError
from py_autodoc.outputs import OutputRequest, check_outputs

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
MODEL = Path(__file__).parents[1] / "data/quant/digits_cnn.onnx"
KINDS = ("onnx", "data", "python", "npz", "safetensors", "")
NAMES = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device"}


@pytest.fixture
def special(tmp_path, monkeypatch):
    """A function that makes an entry of a kind."""
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    held = []

    def make(kind: int, name: str = "x.onnx") -> Path:
        if kind == stat.S_IFIFO:
            os.mkfifo(name)
        elif kind == stat.S_IFSOCK:
            held.append(socket.socket(socket.AF_UNIX))
            held[-1].bind(name)
        else:
            os.symlink(os.devnull, name)
        return tmp_path / name

    yield make
    for one in held:
        one.close()


@pytest.mark.parametrize("mode", NAMES)
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_result_that_is_moved_to_its_place_needs_a_file(special, mode, kind, force):
    path = special(mode)
    before = path.lstat()
    with pytest.raises(OutputError) as caught:
        check_outputs([OutputRequest(path, kind)], (), force)
    assert caught.value.code == "output-special"
    assert f"{path.name} is {NAMES[mode]}" in caught.value.message
    assert "force" not in str(caught.value)
    assert os.path.samestat(before, path.lstat())


@pytest.mark.parametrize(
    "arguments",
    [
        ["quantize", "m.onnx", "x.onnx", "--method", "fp16"],
        ["quantize", "m.onnx", "x.onnx", "--method", "fp16", "--force"],
        ["rebatch", "m.onnx", "x.onnx", "--batch", "4"],
        ["to-torch", "m.onnx", "x.py"],
        ["analyze", "m.onnx", "--out-json", "x.json"],
        ["analyze", "m.onnx", "--out-md", "x.md"],
        ["graph", "m.onnx", "--out", "x.svg"],
    ],
    ids=" ".join,
)
def test_commands_say_that_it_is_a_pipe(special, arguments):
    from click.testing import CliRunner

    from py_autodoc.cli.app import app

    name = next(one for one in arguments if one.startswith("x."))
    path = special(stat.S_IFIFO, name)
    shutil.copy(MODEL, "m.onnx")
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 3, result.stderr
    last = result.stderr.splitlines()[-1]
    assert f"{name} is a pipe" in last
    assert "force" not in last
    assert "another program" not in last
    assert stat.S_ISFIFO(path.lstat().st_mode)


def test_a_pipe_with_a_reader_gets_everything(special):
    path = special(stat.S_IFIFO, "x.json")
    read: list[bytes] = []
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)

    data = bytes(1 << 20)  # more than a pipe holds

    def drain() -> None:
        select.select([reader], [], [], 30)  # before there is a writer, a read would be at the end
        with open(reader, "rb") as file:
            read.append(file.read())

    thread = threading.Thread(target=drain)
    output = check_outputs([OutputRequest(path, "json")])[0]
    thread.start()
    output.write(data)
    thread.join(30)
    assert read == [data]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd")
def test_a_pipe_of_the_shell_has_no_path(tmp_path):
    ours, theirs = os.pipe()
    code = (
        "from py_autodoc.outputs import OutputRequest, check_outputs;"
        f"check_outputs([OutputRequest('/dev/fd/{theirs}', 'json')])[0].write(b'all of it')"
    )
    subprocess.run([sys.executable, "-c", code], pass_fds=[theirs], check=True, timeout=60)
    os.close(theirs)
    with open(ours, "rb") as file:
        assert file.read() == b"all of it"
