"""Costs as expressions against a re-analysis under the same sizes, on every model of the tests.

Static models are made symbolic: every size of an input that is not 1 becomes a symbol, equal sizes the
same one, so that what must fit still fits.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import onnx
import pytest
from onnx import helper
from symbolic_help import Case, case_of, differences, with_symbols

from py_autodoc.costs.expressions import METRICS
from py_autodoc.report.builders.expression_pool import expression_pool
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = Path(__file__).parents[1] / "data"
FILES = sorted(DATA.glob("**/*.onnx"))
FULL = {
    "bert_base_dyn.stripped", "resnet50_dyn.stripped", "basic_pitch_nmp", "dnsmos_sig_bak_ovr",
    "magika_standard_v3_3", "ppocr_cls_v2", "ppocr_v4_det", "swift_f0", "trt_residual_block",
}  # fmt: skip
"""Dynamic models of which every node, total and peak has an expression."""
PARTLY = {"silero_vad_half"}
"""Which branch runs depends on the length of the signal."""


@cache
def case(path: Path, replaced: bool) -> Case | None:
    proto = onnx.load(path, load_external_data=False)
    return case_of(with_symbols(proto) if replaced else proto.SerializeToString())


@pytest.mark.slow
@pytest.mark.parametrize("replaced", [False, True], ids=["as-it-is", "made-symbolic"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_expressions_equal_a_new_analysis(path: Path, replaced: bool):
    item = case(path, replaced)
    if item is None:
        assert path.stem not in FULL | PARTLY
        return
    compared, faults = differences(item)
    assert faults == []
    if path.stem in FULL and not replaced:
        assert compared > 5 * len(item.model.nodes)


@pytest.mark.parametrize("name", sorted(FULL))
def test_dynamic_models_have_every_expression(name: str):
    item = case(next(path for path in FILES if path.stem == name), False)
    assert item is not None
    missing = [n.reason for n in item.found.nodes if any(getattr(n, m) is None for m in METRICS)]
    assert missing == []
    assert None not in item.found.totals.values()
    assert None not in item.found.peak.values()
    assert item.found.reasons == {}


def test_what_the_sizes_decide_has_a_reason():
    item = case(DATA / "models/silero_vad_half.onnx", False)
    assert item is not None
    assert item.found.totals["total_macs"] is None
    assert item.found.reasons["total_macs"]
    reasons = {node.reason for node in item.found.nodes}
    assert any("which branch of If counts depends on the sizes" in reason for reason in reasons)
    for node in item.found.nodes:
        assert node.reason or all(getattr(node, m) is not None for m in METRICS)


def test_static_models_have_none():
    analysis = run_analysis(DATA / "models/resnet_tiny.onnx")
    assert analysis.symbolic is None
    report = build_report(analysis)
    assert report.metrics.total_macs_expr is None
    assert report.metrics.expr_reasons == {}
    assert report.metrics.expr_coverage is None
    assert all(layer.macs_expr is None and not layer.expr_reason for layer in report.layers)
    assert build_payload(analysis).expressions is None


@pytest.mark.parametrize("options", [Options(), Options(assume=True), Options(bindings={"batch": 4})])
def test_expressions_do_not_depend_on_what_is_bound(options: Options):
    report = build_report(run_analysis(DATA / "stripped/bert_base_dyn.stripped.onnx", options))
    assert report.metrics.total_macs_expr == "18432*batch*seq*seq + 84934656*batch*seq"
    assert report.metrics.expr_conditions == ["513 - seq >= 1"]
    assert report.metrics.expr_coverage == 1


def test_given_shapes_are_no_symbols_any_more():
    options = Options(input_shapes={"xs_0": (2, 64), "xs_1": (2, 64)})
    assert run_analysis(DATA / "stripped/bert_base_dyn.stripped.onnx", options).symbolic is None


def test_names_that_expressions_cannot_hold():
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, ["batch size", 3])],
        [onnx.ValueInfoProto(name="y")],
    )
    analysis = run_analysis(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))
    report = build_report(analysis)
    assert report.dims[0].name == "batch size"
    assert report.metrics.total_flops_expr == f"3*{report.dims[0].symbol}"
    pool = expression_pool(analysis.symbolic)
    assert pool is not None
    assert (pool.symbols, pool.dims) == ([report.dims[0].symbol], ["batch size"])


def test_a_failure_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("py_autodoc.costs.expressions.expressions", broken)
    analysis = run_analysis(DATA / "stripped/resnet50_dyn.stripped.onnx")
    assert analysis.symbolic is None
    assert [d.message for d in analysis.diagnostics if d.code == "analysis-failed"] == [
        "The stage expressions failed (RuntimeError); its numbers are unknown."
    ]


def parsed(text: str) -> bytes:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]>\n{text}').SerializeToString()


SCAN = """
g (float[batch, 4] s, float[steps, batch, 4] x) => (float[batch, 4] last, float[steps, batch, 4] y) {
  last, y = Scan <num_scan_inputs = 1, body = b (float[batch, 4] h, float[batch, 4] u)
      => (float[batch, 4] h2, float[batch, 4] v) {
        h2 = Add (h, u)
        v = Tanh (h2)
      }> (s, x)
}
"""
LOOP = """
g (float[n, 4] x) => (float[n, 4] y) {
  shape = Shape <start = 0, end = 1> (x)
  axes = Constant <value_ints = [0]> ()
  count = Squeeze (shape, axes)
  go = Constant <value = bool {1}> ()
  y = Loop <body = b (int64 i, bool c, float[n, 4] h) => (bool c2, float[n, 4] h2) {
        c2 = Identity (c)
        h2 = Tanh (h)
      }> (count, go, x)
}
"""
IF = """
g (float[n, 4] x) => (float[m, 4] y) {
  shape = Shape <start = 0, end = 1> (x)
  four = Constant <value_ints = [4]> ()
  same = Equal (shape, four)
  axes = Constant <value_ints = [0]> ()
  which = Squeeze (same, axes)
  y = If <then_branch = a () => (float[m, 4] p) { p = Tanh (x) },
          else_branch = b () => (float[m, 4] q) { r = Tanh (x) q = Tanh (r) }> (which)
}
"""


@pytest.mark.parametrize(("text", "flops"), [(SCAN, "8*batch*steps"), (LOOP, "4*n*n")])
def test_bodies_that_run_as_often_as_a_size_says(text: str, flops: str):
    item = case_of(parsed(text))
    assert item is not None
    assert build_report(run_analysis(parsed(text))).metrics.total_flops_expr == flops
    compared, faults = differences(item)
    assert faults == []
    assert compared > 20


def test_a_branch_that_the_sizes_choose():
    report = build_report(run_analysis(parsed(IF)))
    assert report.metrics.total_flops_expr is None
    assert "which branch of If counts depends on the sizes" in report.metrics.expr_reasons["total_flops_expr"]
    tanh = [layer for layer in report.layers if layer.type == "Tanh"]
    assert [layer.flops_expr for layer in tanh] == ["4*n"] * 3
    pool = build_payload(run_analysis(parsed(IF))).expressions
    assert pool is not None
    assert [pool.runs[str(layer.id)] for layer in tanh] == [-1] * 3
    assert all("depends on the sizes" in pool.reason[str(layer.id)] for layer in tanh)


def test_too_many_symbols_are_no_failure():
    names = [f"x{i}" for i in range(400)]
    graph = helper.make_graph(
        [helper.make_node("Concat", names, ["y"], axis=0), helper.make_node("Relu", ["y"], ["z"])],
        "g",
        [helper.make_tensor_value_info(name, 1, [f"n{name}", 8]) for name in names],
        [onnx.ValueInfoProto(name="z")],
    )
    analysis = run_analysis(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))
    assert not analysis.partial
    report = build_report(analysis)
    assert report.layers[0].macs_expr == "0"
    assert report.layers[0].read_bytes_expr is None
    assert report.layers[0].expr_reason
    assert report.metrics.total_flops_expr is None
    assert report.metrics.expr_reasons["total_flops_expr"]
