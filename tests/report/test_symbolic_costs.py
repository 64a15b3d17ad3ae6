"""Costs as expressions against a re-analysis under the same sizes, on every model of the tests.

Static models are made symbolic: every size of an input that is not 1 becomes a symbol, equal sizes the
same one, so that what must fit still fits.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import onnx
import pytest
from onnx import helper

from py_autodoc.costs.engine import MAX_NUMBER, cost_table, totals
from py_autodoc.costs.expressions import METRICS, SUMMED, Expressions
from py_autodoc.costs.memory import peak_activation
from py_autodoc.costs.sizes import Sizes
from py_autodoc.costs.symbolic import Invalid, Number, evaluate
from py_autodoc.graph.load import Loaded, load, load_bytes
from py_autodoc.graph.model import Model, Node
from py_autodoc.graph.shapes import infer
from py_autodoc.report.analysis import Options, run
from py_autodoc.report.build import build_report
from py_autodoc.report.expressions import expression_pool
from py_autodoc.report.payload import build_payload

DATA = Path(__file__).parents[1] / "data"
FILES = sorted(DATA.glob("**/*.onnx"))
PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]
FULL = {
    "bert_base_dyn.stripped", "resnet50_dyn.stripped", "basic_pitch_nmp", "dnsmos_sig_bak_ovr",
    "magika_standard_v3_3", "ppocr_cls_v2", "ppocr_v4_det", "swift_f0", "trt_residual_block",
}  # fmt: skip
"""Dynamic models of which every node, total and peak has an expression."""
PARTLY = {"silero_vad_half"}
"""Which branch runs depends on the length of the signal."""
BROKEN = frozenset({"shape-mismatch", "bad-shape", "bad-attribute", "shape-inference-failed"})


@dataclass(frozen=True)
class Case:
    loaded: Loaded
    model: Model
    found: Expressions


def symbolic_copy(path: Path) -> bytes:
    """The model with the sizes of its inputs as symbols ``n<size>``."""
    proto = onnx.load(path, load_external_data=False)
    given = {t.name for t in proto.graph.initializer}
    for info in proto.graph.input:
        if info.name not in given and info.type.HasField("tensor_type"):
            for dim in info.type.tensor_type.shape.dim:
                if dim.dim_value > 1:
                    dim.dim_param = f"n{dim.dim_value}"
    del proto.graph.value_info[:]
    return proto.SerializeToString()


@cache
def case(path: Path, replaced: bool) -> Case | None:
    source = symbolic_copy(path) if replaced else path
    analysis = run(source)
    loaded = load_bytes(source) if replaced else load(path)
    if analysis.symbolic is None:
        return None
    assert not analysis.partial
    return Case(loaded, analysis.model, analysis.symbolic)


def bindings(found: Expressions) -> list[dict[str, int]]:
    """Sizes by the names of the expressions: usual ones, distinct primes, multiples of 32, ones."""
    rng = random.Random(7)
    usual = {s: int(s[1:]) for s in found.symbols if s[0] == "n" and s[1:].isdigit()}
    tries = [usual] if len(usual) == len(found.symbols) else []
    for _ in range(3):
        primes = rng.sample(PRIMES, min(len(PRIMES), len(found.symbols)))
        tries.append(dict(zip(found.symbols, primes * len(found.symbols), strict=False)))
    tries += [{s: rng.choice([32, 64, 320, 16_000, 512]) for s in found.symbols} for _ in range(3)]
    tries.append(dict.fromkeys(found.symbols, 1))
    return tries


def compare(item: Case, sizes: dict[str, int]) -> tuple[int, list[str]]:
    """(numbers compared, differences) between the expressions and an analysis under the same sizes."""
    model, found = item.model, item.found
    types = infer(item.loaded, model, {found.original[s]: n for s, n in sizes.items()}, {})
    if any(d.code in BROKEN for d in types.diagnostics):
        return 0, []  # the model cannot run with these sizes
    table = Sizes(model, types)
    costs = cost_table(model, types, table).nodes
    faults: list[str] = []
    count = 0

    def check(what: str, value: Number | None, number: int | None) -> None:
        nonlocal count
        if value is not None:
            count += 1
            got = evaluate(value, sizes)
            if got != number and not (number is None and got > MAX_NUMBER):
                faults.append(f"{what}: {got} instead of {number} under {sizes}")

    for node, own, cost in zip(model.nodes, found.nodes, costs, strict=True):
        for metric in SUMMED:
            number = None if cost.cost is None else getattr(cost.cost, metric)
            check(f"{node.op_type} {node.id} {metric}", getattr(own, metric), number)
        check(f"{node.op_type} {node.id} activations", own.activation_bytes, made(node, table))
        if own.times is not None:
            check(f"{node.op_type} {node.id} runs", own.times, cost.times)
            assert own.counted == cost.counted
    sums = totals(model, costs)
    for metric in SUMMED:
        check(metric, found.totals[f"total_{metric}"], getattr(sums, metric))
    peak = peak_activation(model, types, table)
    check("peak", found.peak["simple"], peak.simple)
    if holds(found, sizes, in_place=True):
        check("in-place peak", found.peak["inplace"], peak.inplace)
    return count, faults


def made(node: Node, table: Sizes) -> int | None:
    sizes = [table.bytes[t] for t in node.outputs if t >= 0]
    return None if None in sizes else sum(n for n in sizes if n is not None)


def holds(found: Expressions, sizes: dict[str, int], in_place: bool = False) -> bool:
    try:
        found.check(sizes, in_place)
    except Invalid:
        return False
    return True


@pytest.mark.parametrize("replaced", [False, True], ids=["as-it-is", "made-symbolic"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_expressions_equal_a_new_analysis(path: Path, replaced: bool):
    item = case(path, replaced)
    if item is None:
        assert path.stem not in FULL | PARTLY
        return
    compared, faults = 0, []
    for sizes in bindings(item.found):
        if holds(item.found, sizes):
            count, wrong = compare(item, sizes)
            compared += count
            faults += wrong
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
    analysis = run(DATA / "models/resnet_tiny.onnx")
    assert analysis.symbolic is None
    report = build_report(analysis)
    assert report.metrics.total_macs_expr is None
    assert report.metrics.expr_reasons == {}
    assert report.metrics.expr_coverage is None
    assert all(layer.macs_expr is None and not layer.expr_reason for layer in report.layers)
    assert build_payload(analysis).expressions is None


@pytest.mark.parametrize("options", [Options(), Options(assume=True), Options(bindings={"batch": 4})])
def test_expressions_do_not_depend_on_what_is_bound(options: Options):
    report = build_report(run(DATA / "stripped/bert_base_dyn.stripped.onnx", options))
    assert report.metrics.total_macs_expr == "18432*batch*seq*seq + 84934656*batch*seq"
    assert report.metrics.expr_conditions == ["513 - seq >= 1"]
    assert report.metrics.expr_coverage == 1


def test_given_shapes_are_no_symbols_any_more():
    options = Options(input_shapes={"xs_0": (2, 64), "xs_1": (2, 64)})
    assert run(DATA / "stripped/bert_base_dyn.stripped.onnx", options).symbolic is None


def test_names_that_expressions_cannot_hold():
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, ["batch size", 3])],
        [onnx.ValueInfoProto(name="y")],
    )
    analysis = run(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))
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
    analysis = run(DATA / "stripped/resnet50_dyn.stripped.onnx")
    assert analysis.symbolic is None
    assert [d.message for d in analysis.diagnostics if d.code == "analysis-failed"] == [
        "The stage expressions failed (RuntimeError); its numbers are unknown."
    ]
