"""Numbers beyond 64 bits are exact."""

from __future__ import annotations

import json

import onnx
from onnx import TensorProto, helper

from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

SIDE = 10**7


def enormous() -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIDE, SIDE]) for name in "abc"]
    node = helper.make_node("MatMul", ["a", "b"], ["c"])
    return helper.make_model(helper.make_graph([node], "g", values[:2], values[2:]))


def test_macs_of_two_sextillion_flops_are_exact():
    analysis = run_analysis(enormous(), Options())
    report = build_report(analysis)
    assert report.metrics.total_macs == SIDE**3
    assert report.metrics.total_flops == 2 * SIDE**3
    back = Report.from_json(report.to_json())
    assert back.metrics.total_flops == 2 * 10**21
    assert json.loads(report.to_json())["layers"][0]["macs"] == 10**21
    assert build_payload(analysis).nodes.macs == [10**21]
