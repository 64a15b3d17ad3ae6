"""Costs as expressions beside an analysis under the same sizes."""

from __future__ import annotations

import random
from dataclasses import dataclass

import onnx

from py_autodoc.costs.engine import MAX_NUMBER, cost_table, totals
from py_autodoc.costs.expressions import SUMMED, Expressions
from py_autodoc.costs.liveness import peak_activation
from py_autodoc.costs.symbolic import EvaluationError, Number, evaluate
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Model, Node
from py_autodoc.graph.loading.load import LoadedModel, load_bytes
from py_autodoc.graph.shapes import infer
from py_autodoc.report.pipeline.analysis import run_analysis

PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]
BROKEN = frozenset({"shape-mismatch", "bad-shape", "bad-attribute", "shape-inference-failed"})


@dataclass(frozen=True)
class Case:
    loaded: LoadedModel
    model: Model
    found: Expressions


def with_symbols(proto: onnx.ModelProto) -> bytes:
    """The model with the sizes of its inputs as symbols ``n<size>``."""
    given = {t.name for t in proto.graph.initializer}
    for info in proto.graph.input:
        if info.name not in given and info.type.HasField("tensor_type"):
            for dim in info.type.tensor_type.shape.dim:
                if dim.dim_value > 1:
                    dim.dim_param = f"n{dim.dim_value}"
    del proto.graph.value_info[:]
    return proto.SerializeToString()


def case_of(source: bytes) -> Case | None:
    """The expressions of a model; None without free sizes."""
    analysis = run_analysis(source)
    assert not analysis.partial
    return None if analysis.symbolic is None else Case(load_bytes(source), analysis.model, analysis.symbolic)


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
    table = TensorSizes(model, types)
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


def made(node: Node, table: TensorSizes) -> int | None:
    sizes = [table.bytes[t] for t in node.outputs if t >= 0]
    return None if None in sizes else sum(n for n in sizes if n is not None)


def holds(found: Expressions, sizes: dict[str, int], in_place: bool = False) -> bool:
    try:
        found.check(sizes, in_place)
    except EvaluationError:
        return False
    return True


def differences(item: Case) -> tuple[int, list[str]]:
    """(numbers compared, differences) under every binding that the expressions hold for."""
    compared, faults = 0, []
    for sizes in bindings(item.found):
        if holds(item.found, sizes):
            count, wrong = compare(item, sizes)
            compared += count
            faults += wrong
    return compared, faults
