"""The command line from outside: exit codes, streams, files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import COMMANDS, app
from py_autodoc.report.pipeline import analysis

MODEL = "tests/data/models/mnist_cntk.onnx"
DYNAMIC = "tests/data/stripped/bert_base_dyn.stripped.onnx"
SNAPSHOTS = Path(__file__).parent.parent / "snapshots"


def run(*args):
    """(exit code, stdout, stderr) of a command in this process."""
    done = CliRunner().invoke(app, [str(a) for a in args], env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def one_line(stderr: str) -> str:
    assert stderr.startswith("error: ")
    assert stderr.count("\n") == 1
    assert "Traceback" not in stderr
    return stderr


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_snapshot(command):
    code, out, err = run(*([command] if command else []), "--help")
    assert (code, err) == (0, "")
    path = SNAPSHOTS / f"help-{command or 'top'}.txt"
    if not path.exists():
        path.write_text(out, encoding="utf-8")
        pytest.fail(f"wrote {path.name}: look at it, then run again")
    assert out == path.read_text(encoding="utf-8")


def test_no_command_shows_help():
    assert run() == run("--help")


def test_version():
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("onnx-autodoc, version ")


def test_json_when_stdout_is_no_terminal():
    code, out, err = run("analyze", MODEL)
    assert (code, err) == (0, "")
    assert json.loads(out)["metrics"]["total_macs"] == 786560


def test_schema_is_the_published_one():
    code, out, _ = run("schema")
    assert code == 0
    assert json.loads(out) == json.loads(Path("py_autodoc/report/report.schema.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["analyze", "missing.onnx"], 1, ["missing.onnx"]),
        (["analyze", "pyproject.toml"], 1, ["pyproject.toml"]),
        (["analyze", "docs"], 1, ["docs", ".onnx"]),
        (["analyze"], 1, ["MODEL", "--help"]),
        (["analyse", MODEL], 1, ["Did you mean analyze?"]),
        (["analyze", MODEL, "--out-jsn", "x"], 1, ["--out-json"]),
        (["analyze", MODEL, "--log-level", "loud"], 1, ["loud", "debug"]),
        (["analyze", MODEL, "--max-layers", "-1"], 1, ["-1"]),
        (["analyze", MODEL, "--batch-size", "2", "--input-shape", "Input3=1x1x28x28"], 1, ["--batch-size"]),
        (["analyze", "tests/data/models/trt_loop.onnx", "--batch-size", "2"], 1, ["Squeeze"]),
        (["analyze", DYNAMIC, "--bind", "batc=2"], 1, ["'batc'", "batch"]),
        (["analyze", DYNAMIC, "--bind", "batch"], 1, ["NAME=N"]),
        (
            ["analyze", DYNAMIC, "--bind", "batch=1", "--bind", "batch=2"],
            1,
            ["'batch'", "two sizes: 1 and 2"],
        ),
        (["analyze", DYNAMIC, "--bind", "*=1", "--bind", "*=2"], 1, ["'*'", "two sizes: 1 and 2"]),
        (
            ["analyze", DYNAMIC, "--bind", "batch=1", "--batch-size", "4"],
            1,
            ["'batch'", "1 and", "batch size, 4"],
        ),
        (["analyze", DYNAMIC, "--batch-size", "2", "--batch-size", "4"], 1, ["--batch-size", "2 and 4"]),
        (
            ["analyze", DYNAMIC, "--input-shape", "xs_0=2x9", "--batch-size", "4"],
            1,
            ["'batch'", "4 and", "2"],
        ),
        (
            ["analyze", DYNAMIC, "--input-shape", "xs_0=1x9", "--input-shape", "xs_0=2x9"],
            1,
            ["'xs_0'", "two shapes: 1x9 and 2x9"],
        ),
        (
            ["graph", DYNAMIC, "--out", "x.dot", "--bind", "batch=1", "--batch-size", "4"],
            1,
            ["'batch'", "two sizes"],
        ),
        (["analyze", DYNAMIC, "--bind", "batch=x"], 1, ["'x'"]),
        (["analyze", DYNAMIC, "--input-shape", "xs_9=1x2"], 1, ["xs_9", "xs_0"]),
        (["analyze", DYNAMIC, "--input-shape", "xs_0=1x2x3"], 1, ["2 dimensions"]),
        (["analyze", MODEL, "--out-json", "-", "--out-csv", "-"], 1, ["stdout"]),
        (["analyze", MODEL, "--out-json", "no/such/folder/x.json"], 3, ["no/such/folder/x.json"]),
        (["analyze", MODEL, "--out-json", "tests"], 3, ["folder"]),
        (["analyze", MODEL, "--out-csv", MODEL], 3, ["the model itself"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_codes(args, code, words):
    found, out, err = run(*args)
    assert found == code
    assert out == ""
    line = one_line(err)
    for word in words:
        assert word in line


@pytest.mark.slow
def test_bindings_reach_the_numbers():
    def macs(*args):
        return json.loads(run("analyze", DYNAMIC, *args)[1])["metrics"]["total_macs"]

    assert macs() is None
    assert macs("--bind", "batch=1", "--bind", "seq=128") == 11173625856
    assert macs("--bind", "*=1", "--bind", "seq=128") == 11173625856
    assert macs("--assume") == 11173625856
    assert macs("--assume", "--batch-size", "3") == 3 * 11173625856
    assert macs("--input-shape", "xs_0=1x128") == 11173625856
    # What says the same twice contradicts nothing; a size of its own goes before one for all.
    assert macs("--bind", "batch=1", "--bind", "batch=1", "--bind", "seq=128") == 11173625856
    assert macs("--bind", "batch=2", "--batch-size", "2", "--bind", "seq=128") == 2 * 11173625856
    assert macs("--bind", "*=128", "--batch-size", "2") == 2 * 11173625856


def test_files(tmp_path):
    code, out, err = run(
        "analyze",
        MODEL,
        "--out-json",
        tmp_path / "r.json",
        "--out-csv",
        tmp_path / "t.csv",
        "--max-layers",
        "2",
    )
    assert (code, out, err) == (0, "", "")
    report = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert len(report["layers"]) == 2
    assert len((tmp_path / "t.csv").read_text("utf-8").splitlines()) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", "t.csv"}


def test_a_file_is_replaced_in_one_step(tmp_path):
    target, link = tmp_path / "r.json", tmp_path / "link.json"
    assert run("analyze", MODEL, "--max-layers", "0", "--out-json", target)[0] == 0
    old = target.read_text("utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    assert run("analyze", MODEL, "--out-json", link)[0] == 0
    assert link.is_symlink()
    assert json.loads(target.read_text("utf-8")) != json.loads(old)
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "r.json"
    assert run("analyze", MODEL, "--out-json", target)[0] == 0
    old = target.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code, _, err = run("analyze", MODEL, "--out-json", target)
    assert code == 3
    assert "No space left" in one_line(err)
    assert target.read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_a_device_is_written_to_not_replaced():
    assert run("analyze", MODEL, "--out-json", os.devnull)[0] == 0
    assert not Path(os.devnull).is_file()


def test_a_partial_report_is_written_and_told(monkeypatch, tmp_path):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(analysis, "cost_table", broken)
    code, _, err = run("analyze", MODEL, "--out-json", tmp_path / "r.json")
    assert code == 2
    assert "partial" in one_line(err)
    report = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert report["metrics"]["total_params"] == 5994
    assert report["metrics"]["total_macs"] is None


def test_a_fault_of_ours_is_one_line_unless_debugging(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("secret \x1b[31m")

    monkeypatch.setattr(analysis, "build", broken)
    code, _, err = run("analyze", MODEL)
    assert code == 2
    assert "ZeroDivisionError" in one_line(err)
    assert "--log-level debug" in err
    code, _, err = run("analyze", MODEL, "--log-level", "debug")
    assert code == 2
    assert "Traceback" in err
    assert "\x1b" not in err


def test_interrupt(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(analysis, "build", stop)
    code, out, err = run("analyze", MODEL)
    assert (code, out) == (130, "")
    assert "interrupted" in err
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_signal_ends_the_process_cleanly(tmp_path):
    """SIGINT while the model is being read (from a pipe that nobody fills the process would refuse it)."""
    code = (
        "import signal, sys, time\n"
        # Whoever runs the tests in the background may have it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from py_autodoc.report.pipeline import analysis\n"
        "def slow(*_):\n"
        "    print('ready', file=sys.stderr, flush=True)\n"
        "    time.sleep(60)\n"
        "analysis.build = slow\n"
        f"sys.argv = ['onnx-autodoc', 'analyze', {MODEL!r}, '--out-json', {str(tmp_path / 'r.json')!r}]\n"
        "from py_autodoc.cli import main\n"
        "main()\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    assert child.stderr.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=30) == 130
    assert "Traceback" not in child.stderr.read()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
@pytest.mark.parametrize("args", [["analyze", MODEL], ["schema"], ["--help"]], ids=lambda args: args[0])
def test_a_reader_that_left(args):
    read, write = os.pipe()
    os.close(read)
    child = subprocess.run(
        [sys.executable, "-m", "py_autodoc", *args], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (child.returncode, child.stderr) == (141, b"")


def test_progress_lines_when_asked_for():
    code, _, err = run("analyze", MODEL, "--progress")
    assert code == 0
    assert err.splitlines() == [
        f"mnist_cntk.onnx: {phase} ({i}/{len(analysis.PHASES)})" for i, phase in enumerate(analysis.PHASES, 1)
    ]
    assert run("analyze", MODEL, "--no-progress")[2] == ""


def test_a_name_cannot_steer_the_terminal(tmp_path):
    path = tmp_path / "a\x1b[2Jb\u202e.onnx"
    path.write_text("nothing")
    code, _, err = run("analyze", path)
    assert code == 1
    assert "\x1b" not in err
    assert "\u202e" not in err
