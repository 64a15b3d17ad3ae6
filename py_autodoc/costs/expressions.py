"""Costs of a model as expressions in the symbolic dimensions of its inputs.

Rules, control flow and liveness are those of the numeric engine, applied to symbolic numbers. An expression
is exact for every binding of sizes >= 1 that satisfies ``conditions``. If there is no exact expression, it
is None with a reason, never an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from py_autodoc.costs.control_flow import ExecutionCount, graph_runs
from py_autodoc.costs.engine import NodeCost
from py_autodoc.costs.registry import Cost
from py_autodoc.costs.symbolic import (
    MAX_TERMS,
    EvaluationError,
    Number,
    Symbolic,
    UndecidedComparison,
    UnknownSize,
    times,
    to_poly,
    wrap,
)
from py_autodoc.costs.symbolic_peak import peaks
from py_autodoc.costs.symbolic_view import SymbolicDims, SymbolicFacts, SymbolicRun, SymbolicSizes
from py_autodoc.graph.ir.model import Model, Node, Shape
from py_autodoc.graph.symbolic_dims import poly_bounds
from py_autodoc.graph.symbolic_dims.poly import Monomial, Poly
from py_autodoc.graph.symbolic_dims.poly_values import PolyValues

if TYPE_CHECKING:  # shape inference is slow to import
    from py_autodoc.graph.shapes import SymbolicTypes

Metric = Literal["macs", "flops", "read_bytes", "write_bytes", "activation_bytes"]
METRICS: tuple[Metric, ...] = ("macs", "flops", "read_bytes", "write_bytes", "activation_bytes")
SUMMED: tuple[Metric, ...] = METRICS[:4]
"""Metrics that are summed over the nodes."""
MAX_CONDITIONS = 64
BRANCH = "this branch is not counted: the other one is selected or costs more"

Reference = Callable[[], tuple[Mapping[str, int], Sequence[NodeCost]] | None]
"""Returns costs under some binding of every size (by the file's own names), None if the model runs under no
binding. Called only if an expression is missing."""


@dataclass(slots=True)
class NodeExpressions:
    """Costs of one execution of a node. ``reason`` explains the first one that is None."""

    macs: Number | None = None
    flops: Number | None = None
    read_bytes: Number | None = None
    write_bytes: Number | None = None
    activation_bytes: Number | None = None
    reason: str = ""
    times: Number | None = 1
    """Executions per inference (a loop of unknown length counts once); None if undecided."""
    counted: bool = True


Relation = Literal["zero", "positive", "nonzero"]


@dataclass(frozen=True, slots=True)
class CostCondition:
    """Condition on a binding: ``value`` = 0, >= 1 or ≠ 0."""

    relation: Relation
    value: Symbolic

    def is_met(self, values: PolyValues) -> bool:
        """True for the binding of ``values``. Raises: EvaluationError."""
        result = values.of(self.value.poly)
        return (
            result == 0
            if self.relation == "zero"
            else result >= 1
            if self.relation == "positive"
            else result != 0
        )


@dataclass(frozen=True, slots=True)
class Expressions:
    """Costs of a model as expressions over ``symbols``.

    ``symbols`` are the names that may occur in expressions; ``original`` has the file's text of each.
    ``totals`` has the sums of one inference, ``peak`` the live bytes (``simple``, ``inplace``);
    ``reasons`` explains, by key, why a total or peak is None.
    """

    symbols: tuple[str, ...]
    original: Mapping[str, str]
    nodes: list[NodeExpressions]
    totals: dict[str, Number | None]
    conditions: tuple[CostCondition, ...] = ()
    peak: dict[str, Number | None] = field(default_factory=dict)
    inplace_conditions: tuple[CostCondition, ...] = ()
    """Additional conditions of the in-place peak."""
    reasons: dict[str, str] = field(default_factory=dict)
    shapes: Sequence[Shape | None] = ()
    """Shape expressions by tensor; empty if there are no expressions."""

    def check(self, bindings: Mapping[str, int], in_place: bool = False, least: int = 1) -> None:
        """Raises: EvaluationError if the expressions (or the in-place peak) are not valid for these sizes.

        They are built for sizes of at least 1; a caller that passes 0 must prove them for 0.
        """
        values = PolyValues(bindings, least)
        for name in self.symbols:
            if bindings.get(name, least - 1) < least:
                raise EvaluationError(f"{name} needs a size of at least {least}")
        for condition in (*self.conditions, *(self.inplace_conditions if in_place else ())):
            if not condition.is_met(values):
                raise EvaluationError(
                    f"the expressions do not hold where {condition.value.poly.text} is "
                    f"{values.of(condition.value.poly)}"
                )


def expressions(model: Model, types: SymbolicTypes, reference: Reference) -> Expressions:
    """Return the costs of every node and of the model. Linear in the size of the graph.

    ``reference`` decides whether a node without an expression has no number either, so that the numeric
    total excludes it as well. Never raises on content.
    """
    dims = SymbolicDims(model, types)
    sizes = SymbolicSizes(dims)
    run = SymbolicRun(dims, sizes)
    nodes = [_node(run, node, sizes) for node in model.nodes]
    reasons: dict[str, str] = {}
    conditions = _conditions(dims)
    if conditions is None:
        why = f"more than {MAX_CONDITIONS} conditions on the sizes"
        nothing = [NodeExpressions(reason=why) for _ in nodes]
        keys = [f"total_{m}" for m in SUMMED]
        return Expressions(
            types.symbols, types.original, nothing, dict.fromkeys(keys), reasons=dict.fromkeys(keys, why)
        )
    reference_costs = _Reference(reference, types, conditions)
    _executions(model, dims, nodes, reference_costs)
    sums = {f"total_{m}": _total(model, nodes, m, reference_costs, reasons) for m in SUMMED}
    peak = peaks(model, sizes.bytes)
    reasons.update((f"peak_{name}", why) for name, why in peak.reasons.items())
    differ = tuple(CostCondition("nonzero", Symbolic(p)) for p in peak.differ)
    return Expressions(
        types.symbols,
        types.original,
        nodes,
        sums,
        conditions,
        peak.values,
        differ,
        reasons,
        types.types.shapes,
    )


def _node(run: SymbolicRun, node: Node, sizes: SymbolicSizes) -> NodeExpressions:
    cost, reason = run.cost_of(node)
    output_bytes = _output_bytes(node, sizes)
    if output_bytes is None:
        reason = reason or "the size of an output is not an expression"
    if cost is None:
        return NodeExpressions(activation_bytes=output_bytes, reason=reason)
    return NodeExpressions(cost.macs, cost.flops, cost.read_bytes, cost.write_bytes, output_bytes, reason)


def _output_bytes(node: Node, sizes: SymbolicSizes) -> Number | None:
    """Return the bytes of the outputs."""
    total: Number = 0
    for tensor in node.outputs:
        if tensor >= 0:
            size = sizes.bytes[tensor]
            if size is None:
                return None
            try:
                total = total + size
            except UndecidedComparison:
                return None
    return total


class _Reference:
    """Decides whether a number without an expression exists at all."""

    def __init__(self, compute: Reference, types: SymbolicTypes, conditions: Sequence[CostCondition]) -> None:
        self._compute = compute
        self._types = types
        self._conditions = conditions
        self._computed = False
        self._costs: Sequence[NodeCost] | None = None

    def has(self, node: int, metric: str) -> bool:
        """True if the numeric engine may know the number."""
        if not self._computed:
            self._computed, self._costs = True, self._fitting()
        if self._costs is None:
            return True
        cost: Cost | None = self._costs[node].cost
        return cost is not None and getattr(cost, metric) is not None

    def _fitting(self) -> Sequence[NodeCost] | None:
        """Return the costs if their sizes satisfy the conditions; other costs prove nothing."""
        answer = self._compute()
        if answer is None:
            return None
        sizes, costs = answer
        values = PolyValues({s: sizes.get(name, 0) for s, name in self._types.original.items()})
        try:
            return costs if all(c.is_met(values) for c in self._conditions) else None
        except EvaluationError:
            return None


class _UndecidableCost:
    """A weight that cannot be compared with others."""

    def __add__(self, other: object) -> _UndecidableCost:
        return self

    __radd__ = __mul__ = __rmul__ = __add__

    def __eq__(self, other: object) -> bool:
        raise UndecidedComparison("a cost inside has no expression")

    __hash__ = None  # type: ignore[assignment]
    __lt__ = __gt__ = __le__ = __ge__ = __eq__


def _executions(
    model: Model, dims: SymbolicDims, nodes: list[NodeExpressions], reference_costs: _Reference
) -> None:
    """Set the number of executions of each node."""
    if len(model.graphs) == 1:
        return

    def summed(number: int, *metrics: Metric) -> Any:
        total: Any = 0
        for metric in metrics:
            value = getattr(nodes[number], metric)
            if value is not None:
                total = total + value
            elif reference_costs.has(number, metric):
                return _UndecidableCost()
        return total

    def weight(number: int) -> tuple[int, int, int]:
        return summed(number, "flops"), summed(number, "macs"), summed(number, "read_bytes", "write_bytes")

    facts = SymbolicFacts(dims)
    try:
        runs, _ = graph_runs(model, dims.types.types, weight, facts)
    except UnknownSize as error:
        for node, expressions in zip(model.nodes, nodes, strict=True):
            if node.graph:
                _run(expressions, ExecutionCount(), str(error))
        return
    why: dict[int, str] = {}
    for graph in model.graphs[1:]:
        outer = why.get(model.nodes[graph.parent_node].graph, "")
        why[graph.id] = outer or facts.undecided.get(graph.id, "")
    for node, expressions in zip(model.nodes, nodes, strict=True):
        _run(expressions, runs[node.graph], why.get(node.graph, ""))


def _run(expressions: NodeExpressions, runs: ExecutionCount, why: str) -> None:
    if why:
        expressions.times = None
        expressions.reason = expressions.reason or why
        return
    expressions.times, expressions.counted = runs.times, runs.counted


def _total(
    model: Model,
    nodes: list[NodeExpressions],
    metric: Metric,
    reference_costs: _Reference,
    reasons: dict[str, str],
) -> Number | None:
    """Sum over the nodes that run; like the numeric engine, excludes unknown numbers."""
    key, total, parts = f"total_{metric}", _ExpressionSum(), 0
    try:
        for node, expressions in zip(model.nodes, nodes, strict=True):
            if node.is_constant:
                continue
            value = getattr(expressions, metric)
            if value is None:
                if reference_costs.has(node.id, metric):
                    raise UndecidedComparison(f"{node.name or node.op_type}: {expressions.reason}")
                continue
            if expressions.times is None:
                raise UndecidedComparison(f"{node.name or node.op_type}: {expressions.reason}")
            if expressions.counted:
                parts += 1
                total.add(value, expressions.times)
        if not parts and nodes:
            raise UnknownSize("no part of it is known")
        return total.result()
    except UnknownSize as error:
        reasons[key] = str(error)
        return None


class _ExpressionSum:
    """A running sum with one dictionary for all terms."""

    def __init__(self) -> None:
        self.terms: dict[Monomial, int] = {}

    def add(self, value: Number, runs: Number) -> None:
        """Add ``value`` times ``runs``. Raises: UndecidedComparison if the sum becomes too large."""
        if isinstance(value, int) and isinstance(runs, int):
            self.terms[()] = self.terms.get((), 0) + value * runs
            return
        p = to_poly(value)
        if not isinstance(runs, int) or runs != 1:
            p = times(p, to_poly(runs))
        for mono, coef in p.terms.items():
            self.terms[mono] = self.terms.get(mono, 0) + coef
        if len(self.terms) > 2 * MAX_TERMS:
            raise UndecidedComparison(f"the expression has more than {MAX_TERMS} terms")

    def result(self) -> Number:
        """Return the sum. Raises: UndecidedComparison."""
        return wrap(Poly({m: c for m, c in self.terms.items() if c}))


def _conditions(dims: SymbolicDims) -> tuple[CostCondition, ...] | None:
    """Return the assumptions about the shapes; None if there are too many."""
    types = dims.types
    positive = [p for p in types.positive if p.names() <= dims.symbols]
    for text in sorted(dims.dims()):
        try:
            value = to_poly(dims.number(text))
        except UnknownSize:
            continue
        low = poly_bounds.lower(value)
        if (low is None or low < 1) and value not in positive:
            positive.append(value)
    if len(positive) > MAX_CONDITIONS:
        return None
    positive = poly_bounds.remove_dominated(positive, largest=False)
    conditions = [CostCondition("zero", Symbolic(p)) for p in types.zero if p.names() <= dims.symbols]
    conditions += [CostCondition("positive", Symbolic(p)) for p in positive]
    return tuple(conditions) if len(conditions) <= MAX_CONDITIONS else None
