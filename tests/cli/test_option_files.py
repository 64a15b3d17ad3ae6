"""Files that options name: whatever lies there, a command ends at once with one line."""

from __future__ import annotations

import os
import resource
import socket
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import COMMANDS, app, command_of

MODELS = Path(__file__).parents[1] / "data/models"
MODEL, QUANTIZED = str(MODELS / "resnet_tiny.onnx"), str(MODELS / "resnet_tiny_qdq_int8.onnx")
WRITTEN = (
    "--out",
    "--report",
    "--junit",
    "--sarif",
    "--assets",
    "--beside",
    "--extract",
    "--jit",
    "--fx",
)
"""Beginnings of options that name results."""
NOT_FILES = {"--tag", "--node", "--auto", "--models"}
ENOUGH = {
    "check": [MODEL, "--max-macs", "5G"],
    "compare": [MODEL, MODEL],
    "export": ["sample:factory", "out.onnx", "--quantize", "int8"],
    "graph": [MODEL, "--out", "out.svg"],
    "llm": [MODEL, "--hardware", "l4"],
    "opdocs": [QUANTIZED, "--out", "reference"],
    "quantize": [MODEL, "out.onnx", "--random-data"],
    "recommend": [MODEL],
    "run": [MODEL, "--runs", "1"],
    "sensitivity": [MODEL],
    "sweep": [MODEL],
    "verify": [MODEL, "--against", MODEL],
    "analyze": [MODEL],
}
"""What a command needs besides the option."""
NEEDS = {
    "--preprocessing": ["--data", "picture.png"],
    "--layer-info": ["--profile", "times.json"],
    "--tokenizer": ["--data", "texts.txt"],
}
ENDINGS = {
    "--data": (".npz", ".npy", ".txt", ".jsonl", ".png"),
    "--against": (".onnx", ".npz", ".npy"),
    "--inputs": (".npz",),
    "--hardware": (".json",),
    "--policy": (".toml", ".json"),
    "--recipe": (".toml", ".json"),
    "--thresholds": (".toml", ".json"),
    "--baseline": (".json", ".onnx"),
}
MEMORY = 6 << 30
"""Address space of a command: a device without end, or a sparse file of 10 GB, would need more."""


def options():
    """Every option and argument of every command that names a file to read, with an ending it may have."""
    for name in COMMANDS:
        for parameter in command_of(name).params:
            label = parameter.opts[-1]
            shown = parameter.metavar or ""
            is_path = isinstance(parameter.type, click.Path) or any(
                word in shown for word in ("PATH", "FILE", "REFERENCE", "REPORT")
            )
            if not is_path or label.startswith(WRITTEN) or label in NOT_FILES or shown.startswith("OUT"):
                continue
            if isinstance(parameter, click.Argument):
                if name == "llm":
                    yield name, None, ".json"
                yield name, None, ".json" if name == "hardware" else ".onnx"
            else:
                for ending in ENDINGS.get(label, (".json",)):
                    yield name, label, ending


def put(kind: str, path: Path) -> None:
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path.name))
    elif kind == "sparse":
        with open(path, "wb") as file:
            file.truncate(10 << 30)
    else:
        path.write_bytes(CONTENTS[kind])


CONTENTS = {
    "empty": b"",
    "zeros": bytes(5000),
    "binary": b"\xff\xfe\x80\x81" * 9,
    "surrogate": b'{"a\\ud800":"\\udfff"}',
}
KINDS = ("fifo", "folder", "endless", "socket", "sparse", "empty", "zeros", "binary", "surrogate")


IRREGULAR = ("fifo", "folder", "endless", "socket")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture = pytest.importorskip("PIL.Image")
    picture.new("L", (28, 28)).save("picture.png")
    Path("times.json").write_text('[{"name": "Plus214_Output_0", "averageMs": 1.0}]')
    Path("texts.txt").write_text("a text\n")
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize(("name", "option", "ending"), sorted(set(options()), key=str))
def test_nothing_that_lies_there_is_waited_for(place, name, option, ending):
    for kind in KINDS:
        path = place / f"{kind}{ending}"
        put(kind, path)
        if option is None:
            enough = [part for part in ENOUGH.get(name, []) if part not in (MODEL, QUANTIZED, "out.onnx")]
            enough = ["--against", MODEL] if name == "verify" else enough
            two = {"quantize", "extract", "rebatch", "resize", "to-torch"}
            args = [str(path), *([] if name == "export" else enough)]
            args += ["o.py" if name == "to-torch" else "o.onnx"] if name in two else []
            args += [MODEL] if name == "compare" else []
            args = ["show", *args] if name == "hardware" else args
            args += ["--tag", "a"] if name == "extract" else []
            args += ["--batch", "2"] if name == "rebatch" else []
            args += ["--input-shape", "x=1"] if name == "resize" else []
        else:
            args = [*ENOUGH[name], *NEEDS.get(option, []), option, str(path)]
            args += ["--run"] if (name, option) == ("compare", "--data") else []
            if ending == ".png" and kind not in IRREGULAR and name != "compare":
                args += ["--preprocessing", "0..1"]
        if name == "compare" and ending == ".png" and kind not in IRREGULAR:
            continue  # it takes the preprocessing of the model's metadata only
        if option == "--eval-metrics":
            args += [option, str(path)]
        told = bounded(name, *args)
        if (kind, ending) == ("empty", ".toml"):
            assert told.exit_code in (0, 1, 5)
            continue
        # `compare` keeps 1 for a difference; the file that is updated is a result too.
        status = (1, 3) if option == "--update" else (2 if name == "compare" else 1,)
        assert told.exit_code in status, (kind, told.output[-500:])
        # Before its options, `export` reads the source, and `run` what the model takes instead of texts.
        if name != "export" and ending not in (".txt", ".jsonl") and option != "--tokenizer":
            assert path.name in told.output, (kind, told.output[-500:])
        said = [line for line in told.stderr.splitlines() if line.startswith("error:")]
        assert len(said) <= 1, (kind, told.stderr)
        assert "internal error" not in told.stderr, (kind, told.stderr)
        assert "Traceback" not in told.output


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize(
    ("name", "option", "wanted"),
    [
        ("check", "--policy", "a policy file"),
        ("check", "--baseline", "a report"),
        ("analyze", "--thresholds", "a threshold file"),
    ],
)
def test_what_the_file_was_to_be_is_said(place, name, option, wanted):
    (place / "folder.json").mkdir()
    os.mkfifo(place / "fifo.json")
    for file, reason in (
        ("fifo.json", f"is not a regular file, so it cannot be read as {wanted}."),
        ("folder.json", f"is a directory, not {wanted}."),
    ):
        told = bounded(name, *ENOUGH[name], option, str(place / file))
        assert told.exit_code == 1
        assert f"error: {file}: {reason}" in told.stderr


def bounded(*args):
    """Run the command here, within limits of time and memory."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, before[1]))
    try:
        return CliRunner().invoke(app, [*args])
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
