"""`--log-level`: phases at info, nodes at debug, no warnings at error, and nothing more by default."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.report.pipeline.analysis import PHASES

MODEL = "tests/data/models/mnist_cntk.onnx"
WEIGHTS_MISSING = "tests/data/stripped/resnet50.stripped.onnx"


def stderr(tmp_path, *args):
    done = CliRunner().invoke(app, [*map(str, args), "--out-json", str(tmp_path / "out.json"), "--force"])
    assert done.exit_code == 0, done.stderr
    return done.stderr.splitlines()


def test_nothing_by_default(tmp_path):
    assert stderr(tmp_path, "analyze", MODEL) == []


def test_info_has_each_phase_and_the_totals(tmp_path):
    *phases, totals = stderr(tmp_path, "analyze", MODEL, "--log-level", "info")
    assert [line.split(": ")[1] for line in phases] == list(PHASES)
    assert all(line.startswith("INFO py_autodoc.analysis: ") and line.endswith(" ms") for line in phases)
    assert "8 nodes, 5.99 K parameters, 787 K MACs" in totals


def test_debug_has_each_node_with_its_shapes(tmp_path):
    lines = stderr(tmp_path, "analyze", MODEL, "--log-level", "debug")
    nodes = [line for line in lines if "analysis: node " in line]
    assert [int(line.split("node ")[1].split()[0]) for line in nodes] == list(range(8))
    assert "Conv Convolution28 -> Convolution28_Output_0 float32[1,8,28,28]; 157 K MACs" in nodes[0]
    assert set(stderr(tmp_path, "analyze", MODEL, "--log-level", "info")[-1:]) <= set(lines)


@pytest.mark.parametrize("command", ["analyze", "sweep"])
def test_other_commands_log_their_analyses(tmp_path, command):
    extra = ["--batch", "1,2"] if command == "sweep" else []
    assert any("shapes: " in line for line in stderr(tmp_path, command, MODEL, *extra, "--log-level", "info"))


def test_error_silences_warnings_and_no_errors(tmp_path):
    assert stderr(tmp_path, "analyze", WEIGHTS_MISSING)[0].startswith("warning: ")
    assert stderr(tmp_path, "analyze", WEIGHTS_MISSING, "--log-level", "error") == []
    done = CliRunner().invoke(app, ["analyze", "not_here.onnx", "--log-level", "error"])
    assert (done.exit_code, done.stderr) == (1, "error: not_here.onnx: no such file.\n")


def test_a_name_with_line_ends_stays_on_its_line(tmp_path):
    import onnx

    proto = onnx.load(MODEL)
    proto.graph.node[0].name = "a\nerror: b\x1b[31m"
    onnx.save(proto, tmp_path / "m.onnx")
    lines = stderr(tmp_path, "analyze", tmp_path / "m.onnx", "--log-level", "debug")
    assert len([line for line in lines if "analysis: node 0" in line]) == 1
    assert not any(line.startswith("error: b") or "\x1b" in line for line in lines)
