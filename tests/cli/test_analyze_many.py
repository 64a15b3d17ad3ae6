"""Several models in one run, and what a pipe or a terminal is told beside the results."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from py_autodoc import Report
from py_autodoc.cli.app import app
from py_autodoc.cli.many import model_files
from py_autodoc.errors import PathError
from py_autodoc.metrics import shown, total_of

DATA = Path("tests/data/models")
MNIST = DATA / "mnist_cntk.onnx"
DYNAMIC = "tests/data/stripped/bert_base_dyn.stripped.onnx"


def run(*args):
    done = CliRunner().invoke(app, ["analyze", *map(str, args)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def on_terminal(*args) -> tuple[int, str]:
    """Exit code and output of a process whose stdout is a terminal of 120 columns."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "py_autodoc", "analyze", *map(str, args)],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "120", "TERM": "dumb"},
    )
    os.close(theirs)
    out = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.close(ours)
    return child.wait(60), out.decode().replace("\r\n", "\n")


@pytest.fixture
def folder(tmp_path):
    """Two models, one below the other, a broken one between them, and what is no model."""
    (tmp_path / "b" / ".hidden").mkdir(parents=True)
    shutil.copy(MNIST, tmp_path / "a.onnx")
    shutil.copy(MNIST, tmp_path / "b" / "UP.ONNX")
    shutil.copy(MNIST, tmp_path / "b" / ".hidden" / "no.onnx")
    (tmp_path / "b" / "broken.onnx").write_bytes(b"\x08\x07nonsense")
    (tmp_path / "b" / "notes.txt").write_text("no model")
    return tmp_path


def test_folders_are_searched_and_files_taken_once(folder):
    below = [folder / "a.onnx", folder / "b" / "UP.ONNX", folder / "b" / "broken.onnx"]
    assert model_files([str(folder)]) == [str(path) for path in below]
    assert model_files([str(folder / "a.onnx"), str(folder)]) == [str(path) for path in below]
    (folder / "c").mkdir()
    with pytest.raises(PathError, match=r"c: this folder contains no \.onnx file"):
        model_files([str(folder / "c")])


def test_a_line_of_json_for_each_and_the_worst_status(folder):
    code, out, err = run(folder)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(Path(line["file"]).name, line["status"]) for line in lines] == [
        ("a.onnx", 0),
        ("UP.ONNX", 0),
        ("broken.onnx", 1),
    ]
    assert code == 1
    assert err.count("\n") == 1
    assert err.startswith(f"error: {folder / 'b' / 'broken.onnx'}: ")
    assert lines[2]["report"] is None
    assert lines[2]["error"]["code"]
    report = Report.from_json(json.dumps(lines[1]["report"]))
    assert report.metrics.total_macs == 786560
    assert lines[1]["error"] is None


def test_the_status_is_that_of_the_worst_wherever_it_stands(folder):
    broken = folder / "b" / "broken.onnx"
    assert run(broken, MNIST)[0] == run(MNIST, broken)[0] == 1
    assert run(MNIST, folder / "a.onnx")[0] == 0


def test_a_fault_of_ours_in_one_does_not_stop_the_others(monkeypatch):
    from py_autodoc.report.pipeline import analysis

    real, calls = analysis.run_analysis, []

    def once(*args):
        calls.append(args)
        if len(calls) == 1:
            raise RuntimeError("broken")
        return real(*args)

    monkeypatch.setattr(analysis, "run_analysis", once)
    code, out, err = run(MNIST, DATA / "light_squeezenet.onnx")
    assert code == 2
    assert [json.loads(line)["status"] for line in out.splitlines()] == [2, 0]
    assert "RuntimeError" in err


def test_files_with_all_of_them(folder):
    code, out, _ = run(folder, "--out-csv", folder / "t.csv", "--out-json", folder / "r.jsonl")
    assert (code, out) == (1, "")
    rows = list(csv.DictReader(io.StringIO((folder / "t.csv").read_text(encoding="utf-8"))))
    assert [row["total_macs"] for row in rows] == ["786560", "786560", ""]
    assert rows[0]["family"] == "cnn"
    assert rows[2]["error"]
    lines = (folder / "r.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["status"] for line in lines] == [0, 0, 1]


@pytest.mark.slow
def test_a_table_on_a_terminal(folder):
    code, out = on_terminal(folder)
    assert code == 1
    head, first, second, third = out.splitlines()
    assert head.split() == ["Model", "Params", "MACs", "FLOPs", "Weights", "Peak", "Coverage", "Findings"]
    assert first.split()[1:5] == ["5.99", "K", "787", "K"]
    assert "100 %" in second
    assert first.index("787 K") == second.index("787 K")
    assert "broken.onnx" in third


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--out-html", "x.html"], ["--out-html", "one model"]),
        (["--findings"], ["--findings", "one model"]),
        (["--bind", "batch"], ["NAME=N"]),
    ],
)
def test_what_several_cannot_have_is_said_once(args, words):
    code, out, err = run(MNIST, MNIST.with_name("light_squeezenet.onnx"), *args)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert all(word in err for word in words)


def test_a_pipe_is_told_what_the_numbers_leave_out(tmp_path):
    code, out, err = run(DYNAMIC)
    assert code == 0
    assert json.loads(out)["coverage"]["nodes"] < 1
    coverage, weights = err.splitlines()
    assert coverage.startswith("warning: bert_base_dyn.stripped.onnx: costs are known for ")
    assert "--bind batch=1 --bind seq=128 (or --assume)" in coverage
    assert "weights are missing" in weights
    to_file = run(DYNAMIC, "--assume", "--out-csv", tmp_path / "t.csv")
    assert to_file[2].splitlines() == [weights]
    assert run(MNIST)[2] == ""


def test_an_unknown_operator_is_the_reason(tmp_path):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("Mystery", ["x"], ["y"], domain="com.example"),
            helper.make_node("Relu", ["y"], ["z"]),
        ],
        "g",
        [value("x", TensorProto.FLOAT, [2])],
        [value("z", TensorProto.FLOAT, [2])],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "m.onnx")
    err = run(tmp_path / "m.onnx")[2]
    assert "no cost rule for com.example::Mystery" in err
    assert "--bind" not in err


@pytest.mark.slow
def test_findings_are_counted_or_listed_with_their_nodes():
    path = "tests/data/models/light_squeezenet.onnx"
    code, out, _ = run(path, "--findings")
    found = json.loads(run(path)[1])
    signals = found["risk_signals"]
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == f"light_squeezenet.onnx: {len(signals)} finding" + "s" * (len(signals) != 1)
    names = {layer["id"]: layer["name"] for layer in found["layers"]}
    for signal in signals:
        at = next(i for i, line in enumerate(lines) if line.endswith(f"[{signal['id']}]"))
        assert signal["description"] in lines[at]
        assert all(names[node] in lines[at + 1] for node in signal["nodes"])
    counted, listed = on_terminal(path)[1], on_terminal(path, "--findings")[1]
    assert "--findings lists them" in counted
    assert signals[0]["id"] not in counted
    assert f"[{signals[0]['id']}]" in listed


def test_the_table_has_what_the_reports_have(tmp_path):
    """Every total of the documents, and with a device every number of its estimate."""
    out, lines = tmp_path / "t.csv", tmp_path / "r.jsonl"
    models = [str(MNIST), str(DATA / "light_squeezenet.onnx")]
    assert run(*models, "--hardware", "l4", "--hash", "--out-csv", out, "--out-json", lines)[0] == 0
    rows = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
    reports = [json.loads(line)["report"] for line in lines.read_text(encoding="utf-8").splitlines()]

    def cell(value):
        return (
            ""
            if value is None
            else {True: "yes", False: "no"}.get(value, str(value))
            if isinstance(value, bool)
            else str(value)
        )

    for row, report in zip(rows, reports, strict=True):
        assert len(row) == len(set(row))
        for field in [total_of(metric.id).field for metric in shown("totals")]:
            assert row[field] == cell(report["metrics"][field])
        for field, value in report["hardware_estimates"].items():
            if field not in ("layers", "assumption"):
                column = {"precision": "device_precision", "reason": "latency_reason"}.get(field, field)
                assert row[column] == cell(value), field
        assert row["sha256"] == report["model"]["sha256"]
        assert row["opset"] == str(report["model"]["opset_imports"][0]["version"])
    run(*models, "--out-csv", out, "--force")
    assert "device" not in next(csv.reader(io.StringIO(out.read_text(encoding="utf-8"))))
