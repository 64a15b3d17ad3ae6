"""stdout and stderr of every command: faults are told, and nothing that steers a terminal reaches one."""

from __future__ import annotations

import functools
import json
import logging
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from forked_interpreter import ForkedInterpreter, status_of
from onnx import helper, numpy_helper

from py_autodoc.cli.app import COMMANDS, app, command_of
from py_autodoc.render.terminal_text import printable_json, printable_text

pytestmark = pytest.mark.slow

MODEL = str(Path("tests/data/models/mnist_cntk.onnx").resolve())
TAGGED = str(Path("examples/bert_tiny.onnx").resolve())
DESCRIBED = str(Path("tests/data/models/swift_f0.onnx").resolve())
NASTY = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2066\x7f"
STEERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PRINTING = {
    "analyze": ["analyze", MODEL],
    "analyze --out-json -": ["analyze", MODEL, "--out-json", "-"],
    "analyze --out-csv -": ["analyze", MODEL, "--out-csv", "-"],
    "analyze --list-hardware": ["analyze", "--list-hardware"],
    "compare": ["compare", MODEL, MODEL],
    "compare --json": ["compare", MODEL, MODEL, "--json"],
    "graph": ["graph", MODEL, "--format", "dot", "--out", "-"],
    "metadata": ["metadata", DESCRIBED],
    "metadata --json": ["metadata", MODEL, "--json"],
    "rule": ["rule"],
    "rule ID": ["rule", "deep-chain"],
    "schema": ["schema"],
    "tags": ["tags", TAGGED],
    "tags csv": ["tags", TAGGED, "--output", "csv"],
    "tags json": ["tags", TAGGED, "--output", "json"],
    "to-torch --list": ["to-torch", MODEL, "--list"],
    "validate": ["validate", MODEL],
    "validate --json": ["validate", MODEL, "--json"],
    "--help": ["--help"],
    "--version": ["--version"],
}

IN_FORKS = (
    "py_autodoc.cli.app",
    "py_autodoc.compare.evaluation",
    "py_autodoc.extract.write_sub_model",
    "py_autodoc.hf.read",
    "py_autodoc.render.dot",
    "py_autodoc.render.document",
    "py_autodoc.report.api",
    "py_autodoc.report.document.validation",
    "py_autodoc.tags",
    "py_autodoc.to_torch.convert",
)
"""What the commands import. Each command also runs in a new interpreter once, see INTERPRETERS."""
INTERPRETERS = {"graph", "to-torch --list", "validate", "--version", "extract"}
"""Run in a new interpreter, as are those of ``test_a_closed_stdout``."""


@pytest.fixture(scope="module")
def forks():
    made = ForkedInterpreter(IN_FORKS)
    yield made
    made.close()


def process(args: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [sys.executable, "-m", "py_autodoc", *args],
        stderr=subprocess.PIPE, text=True, check=False, timeout=120, **options,
    )  # fmt: skip


def run(*args: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(args))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("name", PRINTING)
def test_a_full_disk_behind_stdout(name, forks, tmp_path):
    with open("/dev/full", "wb") as full:
        if name in INTERPRETERS:
            done = process(PRINTING[name], stdout=full)
            status, err = done.returncode, done.stderr
        else:
            with open(tmp_path / "err", "w+b") as errors:
                channel = forks.start(
                    "py_autodoc", PRINTING[name], stdout=full.fileno(), stderr=errors.fileno()
                )
                status, err = status_of(channel), (tmp_path / "err").read_text("utf-8")
    assert (status, err.count("\n")) == (3, 1), err
    assert err == "error: Could not write to stdout: No space left on device.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors")
@pytest.mark.parametrize(
    "name", ["analyze", "compare", "schema", "tags", "rule", "metadata --json", "--help"]
)
def test_a_closed_stdout(name):
    done = process(PRINTING[name], preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (
        3,
        "error: Nothing can be written: stdout is closed. Pass a file name.\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors")
def test_a_closed_stdout_is_no_matter_to_a_file(tmp_path):
    out = tmp_path / "r.json"
    done = process(["analyze", MODEL, "--out-json", str(out)], preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(out.read_text("utf-8"))["model"]["name"] == "mnist_cntk.onnx"
    assert process(["analyze", "no.onnx"], preexec_fn=lambda: (os.close(1), os.close(2))).returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize(
    "args",
    [
        ["analyze", MODEL, "--out-json", "/dev/full"],
        ["analyze", MODEL, "--out-csv", "/dev/full"],
        ["graph", MODEL, "--format", "dot", "--out", "/dev/full"],
        ["graph", MODEL, "--format", "netron", "--out", "/dev/full"],
    ],
    ids=" ".join,
)
def test_a_full_device(args):
    code, _, err = run(*args)
    assert (code, err.count("\n")) == (3, 1)
    assert "No space left" in err


@pytest.mark.parametrize(
    "args", [["analyze", MODEL, "--out-json", ""], ["graph", MODEL, "--format", "dot", "--out", ""]]
)
def test_an_empty_path(args):
    code, _, err = run(*args)
    assert (code, err.count("\n")) == (3, 1)
    assert "the path is empty" in err


@pytest.fixture(scope="module")
def nasty(tmp_path_factory) -> str:
    """Names of everything steer the terminal."""
    weight = numpy_helper.from_array(np.ones((4, 4), np.float32), f"w{NASTY}")
    info = helper.make_tensor_value_info
    node = helper.make_node("Gemm", [f"x{NASTY}", f"w{NASTY}"], [f"y{NASTY}"], f"n{NASTY}", doc_string=NASTY)
    other = helper.make_node("Unheard", [f"y{NASTY}"], [f"z{NASTY}"], f"o{NASTY}", domain=f"d{NASTY}")
    for one in (node, other):
        for key in ("autodoc.tag", "autodoc.scope"):
            one.metadata_props.add(key=key, value=f"/Net{NASTY}" if key == "autodoc.tag" else NASTY)
    graph = helper.make_graph(
        [node, other], f"g{NASTY}", [info(f"x{NASTY}", 1, [f"N{NASTY}", 4])], [info(f"z{NASTY}", 1, None)],
        [weight],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(f"d{NASTY}", 1)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name=NASTY)
    made.metadata_props.add(key=f"k{NASTY}", value=NASTY)
    path = tmp_path_factory.mktemp("nasty") / "n.onnx"
    path.write_bytes(made.SerializeToString())
    return str(path)


def on_a_terminal(args: list[str], forks: ForkedInterpreter | None = None) -> str:
    """What a terminal gets of stdout and stderr."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "200"}
    if forks is None:
        ended = subprocess.Popen(
            [sys.executable, "-m", "py_autodoc", *args], stdout=theirs, stderr=theirs, env=environ
        ).wait
    else:
        channel = forks.start("py_autodoc", args, stdout=theirs, stderr=theirs, environ=environ)
        ended = functools.partial(status_of, channel)
    os.close(theirs)
    got = bytearray()
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        got += piece
    os.close(ours)
    ended()
    return got.decode("utf-8", "replace").replace("\r\n", "\n")


SHOWN = {
    "summary": ["analyze", "{}"],
    "json": ["analyze", "{}", "--out-json", "-"],
    "csv": ["analyze", "{}", "--out-csv", "-"],
    "dot": ["graph", "{}", "--format", "dot", "--out", "-"],
    "netron": ["graph", "{}", "--format", "netron", "--out", "-"],
    "compare": ["compare", "{}", MODEL],
    "compare --tags --json": ["compare", "{}", MODEL, "--tags", "--json"],
    "metadata": ["metadata", "{}"],
    "metadata --json": ["metadata", "{}", "--json"],
    "tags": ["tags", "{}", "--output", "detailed"],
    "tags csv": ["tags", "{}", "--output", "csv"],
    "tags json": ["tags", "{}", "--output", "json"],
    "validate": ["validate", "{}"],
    "validate --json": ["validate", "{}", "--json"],
    "to-torch": ["to-torch", "{}", "/nowhere/x.py"],
    "to-torch --list": ["to-torch", "{}", "--list"],
    "extract": ["extract", "{}", "/nowhere/x.onnx", "--tag", NASTY.replace("\x00", "")],
    "debug": ["validate", "{}", "--log-level", "debug"],
}


@pytest.mark.skipif(sys.platform == "win32", reason="terminals")
@pytest.mark.parametrize("name", SHOWN)
def test_nothing_that_steers_reaches_a_terminal(nasty, name, forks):
    args = [part.format(nasty) if part == "{}" else part for part in SHOWN[name]]
    shown = on_a_terminal(args, None if name in INTERPRETERS else forks)
    # A progress line clears itself: ours, and nothing of the model's.
    shown = re.sub(r"\r\x1b\[2K", "", shown)
    assert shown.strip()
    assert STEERS.search(shown) is None, ascii(shown)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals")
def test_json_on_a_terminal_is_the_same_value(nasty, forks):
    shown = json.loads(on_a_terminal(["tags", nasty, "--output", "json"], forks))
    assert shown == json.loads(run("tags", nasty, "--output", "json")[1])
    assert f"n{NASTY}" in {node["node"] for node in shown["nodes"]}


def test_a_pipe_gets_the_exact_text(nasty):
    assert f"n{NASTY}" in run("analyze", nasty, "--out-csv", "-")[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_log_level(command):
    assert "--log-level" in {opt for parameter in command_of(command).params for opt in parameter.opts}


@pytest.mark.parametrize("command", ["validate", "tags", "compare", "rule", "schema", "metadata"])
def test_what_libraries_say_is_printable(command, monkeypatch, nasty):
    """Loggers and warnings of anybody, from inside any command."""
    module = command_of(command)
    real = module.callback
    assert real is not None

    def loud(*args, **kwargs):
        logging.getLogger("some.library").warning("odd name %s", NASTY)
        logging.getLogger("some.library").info("not asked for")
        warnings.warn(f"odd {NASTY}", UserWarning, stacklevel=1)
        sys.stderr.write(f"raw {NASTY}\n")
        return real(*args, **kwargs)

    monkeypatch.setattr(module, "callback", loud)
    files = {"compare": [MODEL, MODEL], "rule": [], "schema": []}.get(command, [MODEL])
    _, _, err = run(command, *files)
    assert STEERS.search(err) is None, ascii(err)
    lines = err.splitlines()
    assert sum("odd name" in line for line in lines) == 1
    assert any("UserWarning" in line for line in lines)
    assert any(line.startswith("raw ") for line in lines)
    assert "not asked for" not in err
    assert "odd name" not in run(command, *files, "--log-level", "error")[2]


def test_the_process_is_as_before_afterwards():
    root = logging.getLogger()
    before = (list(root.handlers), root.level, warnings.showwarning, sys.stdout, sys.stderr)
    run("analyze", MODEL, "--log-level", "debug")
    assert before == (list(root.handlers), root.level, warnings.showwarning, sys.stdout, sys.stderr)


def test_text_and_json_for_a_terminal():
    assert printable_text("a\tb\r\nc\x1b[2J\x9b\u202e") == "a\tb\r\nc\ufffd[2J\ufffd\ufffd"
    value = {"a": NASTY, "b": "é 日本 \U000e0041", "c": 1}
    text = json.dumps(value, ensure_ascii=False)
    shown = printable_json(text)
    assert json.loads(shown) == value
    assert STEERS.search(shown) is None
    assert "é 日本" in shown


def test_a_picture_is_not_for_a_terminal(monkeypatch):
    from py_autodoc.errors import OutputError
    from py_autodoc.render import output_target

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(output_target.sys, "stdout", Terminal())
    with pytest.raises(OutputError):
        output_target.to_stdout(b"\x89PNG")
