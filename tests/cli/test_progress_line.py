"""The line of progress: phases, and bytes of what takes long."""

from __future__ import annotations

import io
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli import progress
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.graph.tensor_data import weight_reader
from py_autodoc.report.pipeline.analysis import Options, run_analysis


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_weights_move_on_a_terminal(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    with ProgressLine("m.onnx", None) as line:
        for step in range(11):
            clock[0] = 1.0 + 0.0625 * step
            line.update("weights", step * 10**9, 10**10)
    shown = stream.getvalue().split("\r\x1b[2K")
    assert [text for text in shown if text] == [
        f"m.onnx: weights ({size} of 10.0 GB, {share})"
        for size, share in (
            ("0 B", "0 %"), ("2.0 GB", "20.0 %"), ("4.0 GB", "40.0 %"), ("6.0 GB", "60.0 %"),
            ("8.0 GB", "80.0 %"), ("10.0 GB", "100 %"),
        )
    ]  # fmt: skip


def test_what_is_done_moves_on_a_terminal(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    with ProgressLine("m.onnx", None) as line:
        line.update("loading", 0, 0)
        clock[0] = 1.0
        line.update("loading", 0, 0)
        for step in range(1000):
            clock[0] += 0.001
            line.update("runs", step, 1000)
    shown = [text for text in stream.getvalue().split("\r\x1b[2K") if text]
    assert shown[:3] == ["m.onnx: loading", "m.onnx: runs (1/1,000)", "m.onnx: runs (102/1,000)"]
    assert len(shown) <= 12


def test_phases_are_counted_and_written_once_to_a_file(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    with ProgressLine("m.onnx", True) as line:
        line.update("load", 0, 7)
        line.update("load", 0, 7)
        for step in range(3):
            clock[0] += 1
            line.update("weights", step, 2)
    assert stream.getvalue() == "m.onnx: load (1/7)\nm.onnx: weights (0 B of 2 B, 0 %)\n"


def test_reading_tells_its_bytes_also_within_one_tensor(tmp_path, monkeypatch):
    monkeypatch.setattr(weight_reader, "CHUNK_ELEMENTS", 1000)
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [20_000])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [20_000])],
        [numpy_helper.from_array(np.ones(20_000, np.float32), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, tmp_path / "m.onnx")
    told = []

    def hear(phase, done, total):
        if phase == "weights":
            told.append((done, total))

    run_analysis(str(tmp_path / "m.onnx"), Options(read_weights=True), hear)
    assert told[0] == (0, 80_000)
    assert told[-1] == (80_000, 80_000)
    assert len(told) >= 20
    assert told == sorted(told)
