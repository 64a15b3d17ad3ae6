"""Weights are read when asked for and not otherwise."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

import py_autodoc.report.pipeline.analysis as analysis
from py_autodoc import analyze
from py_autodoc.cli.app import app
from py_autodoc.graph.tensor_data import weight_reader

F = TensorProto.FLOAT


@pytest.fixture
def path(tmp_path):
    """A MatMul with a NaN in its 64 KiB weight, and one more weight that is elsewhere."""
    values = np.ones((128, 128), np.float32)
    values[3, 4] = np.nan
    gone = TensorProto(name="b", data_type=F, dims=[128], data_location=TensorProto.EXTERNAL)
    gone.external_data.add(key="location", value="gone.bin")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Add", ["h", "b"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", F, [4, 128])],
        [helper.make_tensor_value_info("y", F, [4, 128])],
        [numpy_helper.from_array(values, "w"), gone],
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, ir_version=9).SerializeToString())
    return path


def rules(report):
    return [signal.id for signal in report.risk_signals]


def test_not_read_unless_asked_for(path, monkeypatch):
    def never(*_args):
        raise AssertionError("a weight was read")

    monkeypatch.setattr(weight_reader, "read_weights", never)
    report = analyze(path)
    assert "bad-weights" not in rules(report)
    assert "weights-unread" not in {note.code for note in report.diagnostics}


def test_read_when_asked_for(path):
    report = analyze(path, read_weights=True)
    assert "bad-weights" in rules(report)
    assert "weights-unread" in {note.code for note in report.diagnostics}


@pytest.mark.parametrize("form", ["path", "bytes", "proto"])
def test_every_form_of_a_model(path, form):
    source = {"path": path, "bytes": path.read_bytes(), "proto": onnx.load(path, load_external_data=False)}[
        form
    ]
    assert "bad-weights" in rules(analyze(source, read_weights=True))


def test_command_line(path):
    done = CliRunner().invoke(app, ["analyze", str(path), "--read-weights"])
    assert done.exit_code == 0
    assert "bad-weights" in {signal["id"] for signal in json.loads(done.stdout)["risk_signals"]}


def test_progress_may_end_it(path):
    def stop(phase, done, total):
        if phase == "weights":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        analysis.run_analysis(path, analysis.Options(read_weights=True), stop)


def test_a_broken_reader_leaves_a_report(path, monkeypatch):
    def broken(*_args):
        raise RuntimeError

    monkeypatch.setattr(weight_reader, "read_weights", broken)
    result = analysis.run_analysis(path, analysis.Options(read_weights=True))
    assert result.partial
    assert result.totals.macs == 4 * 128 * 128
