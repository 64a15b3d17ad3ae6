"""A report in pieces is the report, byte for byte, and needs the memory of a few layers."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from onnx import helper

from py_autodoc.report.document import report_stream
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Options, run_analysis

MODELS = Path(__file__).parent.parent / "data" / "models"


@pytest.mark.parametrize("name", ["trt_loop", "mnist_cntk", "bert_tiny"])
def test_pieces_are_the_report(name, monkeypatch):
    monkeypatch.setattr(report_stream, "_LAYERS", 7)
    analysis = run_analysis(str(MODELS / f"{name}.onnx"), Options(assume=True))
    for most in (None, 0, 1, 7, 8):
        report = build_report(analysis, most)
        assert b"".join(report_stream.report_pieces(analysis, most)).decode() == report.to_json() + "\n"
        pretty = b"".join(report_stream.report_pieces(analysis, most, pretty=True)).decode()
        assert pretty == report.to_json(2) + "\n"


@pytest.mark.slow
def test_pieces_are_forgotten():
    count = 6_000
    nodes = [helper.make_node("Relu", [f"t{at}"], [f"t{at + 1}"], name=f"n{at}") for at in range(count)]
    ends = [helper.make_tensor_value_info(name, 1, [1, 4]) for name in ("t0", f"t{count}")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    analysis = run_analysis(model.SerializeToString(), Options())
    # What is made once and kept.
    size = sum(map(len, report_stream.report_pieces(analysis)))
    tracemalloc.start()
    for _ in report_stream.report_pieces(analysis):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * size, (peak, size)
