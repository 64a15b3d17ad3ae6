"""A report in pieces is the report, byte for byte, and needs the memory of a few layers."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from onnx import helper

from py_autodoc.report import stream
from py_autodoc.report.analysis import Options, run
from py_autodoc.report.build import build_report

MODELS = Path(__file__).parent.parent / "data" / "models"


@pytest.mark.parametrize("name", ["trt_loop", "mnist_cntk", "bert_tiny"])
def test_pieces_are_the_report(name, monkeypatch):
    monkeypatch.setattr(stream, "_LAYERS", 7)
    analysis = run(str(MODELS / f"{name}.onnx"), Options(assume=True))
    for most in (None, 0, 1, 7, 8):
        report = build_report(analysis, most)
        assert b"".join(stream.report_pieces(analysis, most)).decode() == report.to_json() + "\n"
        pretty = b"".join(stream.report_pieces(analysis, most, pretty=True)).decode()
        assert pretty == report.to_json(2) + "\n"


@pytest.mark.slow
def test_pieces_are_forgotten():
    count = 6_000
    nodes = [helper.make_node("Relu", [f"t{at}"], [f"t{at + 1}"], name=f"n{at}") for at in range(count)]
    ends = [helper.make_tensor_value_info(name, 1, [1, 4]) for name in ("t0", f"t{count}")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    analysis = run(model.SerializeToString(), Options())
    # What is made once and kept.
    size = sum(map(len, stream.report_pieces(analysis)))
    tracemalloc.start()
    for _ in stream.report_pieces(analysis):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * size, (peak, size)
