"""Expressions as text for the report, and as a pool of trees for the viewer's payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py_autodoc.costs.expressions import METRICS, SUMMED, CostCondition, Expressions, NodeExpressions
from py_autodoc.costs.symbolic import Number, Symbolic
from py_autodoc.costs.symbolic_text import text
from py_autodoc.graph.ir.model import Dim, Model, Shape
from py_autodoc.graph.symbolic_dims.dim_arithmetic import ExprError, poly, symbols_of
from py_autodoc.graph.symbolic_dims.poly import Atom, FloorDiv, Monomial, Poly, ordered
from py_autodoc.report.builders.node_numbers import NOT_COUNTED
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema import ExpressionCondition, ExpressionPool

MAX_EXACT = 1 << 53
"""From this value on, JavaScript numbers are no longer exact."""
_SIGNS = {"zero": "= 0", "positive": ">= 1", "nonzero": "!= 0"}
TOO_LONG = "the text would be too long"
PEAKS = {"peak_activation_bytes": "inplace", "peak_activation_bytes_simple": "simple"}


class Texts:
    """Expressions as text; equal ones are rendered once."""

    def __init__(self) -> None:
        self._texts: dict[tuple[tuple[Monomial, int], ...], str | None] = {}

    def of(self, value: Number | None) -> str | None:
        """Return the text; None without an expression or if the text is too long."""
        if not isinstance(value, Symbolic):
            return None if value is None else str(value)
        key = tuple(value.poly.terms.items())
        if key not in self._texts:
            self._texts[key] = text(value)
        return self._texts[key]

    def layer(self, costs: NodeExpressions | None) -> dict[str, Any]:
        """Return the ``…_expr`` fields of a layer."""
        if costs is None:
            return {}
        fields: dict[str, Any] = {f"{m}_expr": self.of(getattr(costs, m)) for m in METRICS}
        fields["runs_expr"] = self.of(costs.times if costs.counted else 0)
        missing = [m for m in (*METRICS, "runs") if fields[f"{m}_expr"] is None]
        if missing:
            fields["expr_reason"] = shorten_middle(costs.reason or TOO_LONG)
        return fields


def total_fields(model: Model, expressions: Expressions | None) -> dict[str, Any]:
    """Return the ``…_expr`` fields of the totals."""
    if expressions is None:
        return {}
    values = {f"{_field(m)}_expr": (expressions.totals[f"total_{m}"], f"total_{m}") for m in SUMMED}
    values.update((f"{name}_expr", (expressions.peak.get(k), f"peak_{k}")) for name, k in PEAKS.items())
    texts = Texts()
    fields: dict[str, Any] = {name: texts.of(value) for name, (value, _) in values.items()}
    fields["expr_reasons"] = {
        name: shorten_middle(expressions.reasons.get(key, TOO_LONG))
        for name, (_, key) in values.items()
        if fields[name] is None
    }
    counted = [expressions.nodes[node.id].macs is not None for node in model.nodes if not node.is_constant]
    fields["expr_coverage"] = sum(counted) / len(counted) if counted else 1.0
    fields["expr_conditions"] = _condition_texts(expressions.conditions)
    fields["inplace_conditions"] = _condition_texts(expressions.inplace_conditions)
    return fields


def _field(metric: str) -> str:
    """Return the report's name of a total."""
    return metric if metric.endswith("_bytes") else f"total_{metric}"


def _condition_texts(conditions: tuple[CostCondition, ...]) -> list[str]:
    written = [(text(c.value), c.relation) for c in conditions]
    return [f"{value or '…'} {_SIGNS[relation]}" for value, relation in written]


def expression_pool(
    expressions: Expressions | None, shapes: Sequence[Shape | None] = ()
) -> ExpressionPool | None:
    """Return the expressions that a browser evaluates; None without symbolic dimensions.

    ``shapes`` may contain symbolic dimensions.
    """
    if expressions is None:
        return None
    pool = _TreePool()
    symbols = frozenset(expressions.symbols)
    reason: dict[str, str] = {}
    columns: dict[str, list[int]] = {
        m: [pool.add(getattr(node, m)) for node in expressions.nodes] for m in METRICS
    }
    runs: dict[str, int] = {}
    for number, node in enumerate(expressions.nodes):
        times = node.times if node.counted else 0
        if not (isinstance(times, int) and times == 1):
            runs[str(number)] = pool.add(times)
        missing = node.reason if times is None or None in (getattr(node, m) for m in METRICS) else ""
        if missing or not node.counted:
            reason[str(number)] = shorten_middle(missing or NOT_COUNTED)
    totals: dict[str, int] = {}
    for name, value, key in (
        *((m, expressions.totals[f"total_{m}"], f"total_{m}") for m in SUMMED),
        *((name, expressions.peak.get(k), f"peak_{k}") for name, k in PEAKS.items()),
    ):
        totals[name] = pool.add(value)
        if value is None:
            reason[name] = shorten_middle(expressions.reasons.get(key, ""))
    return ExpressionPool(
        symbols=list(expressions.symbols),
        dims=[shorten_middle(expressions.original[name]) for name in expressions.symbols],
        conditions=[pool.condition(c) for c in expressions.conditions],
        inplace_conditions=[pool.condition(c) for c in expressions.inplace_conditions],
        shapes=[_shape(shape, pool, symbols) for shape in shapes],
        trees=pool.trees,
        totals=totals,
        reason=reason,
        runs=runs,
        **columns,
    )


def _shape(shape: Shape | None, pool: _TreePool, symbols: frozenset[str]) -> list[int]:
    """Return the dimensions of a shape as pool indices; empty if none is symbolic."""
    if shape is None or not any(isinstance(d, str) for d in shape):
        return []
    return [_size(d, pool, symbols) for d in shape]


def _size(size: Dim, pool: _TreePool, symbols: frozenset[str]) -> int:
    """Return the pool index of a dimension; -1 if it depends on the data."""
    if not isinstance(size, str):
        return pool.add(size)
    try:
        value = poly(size)
    except ExprError:
        return -1
    return pool.add(Symbolic(value)) if symbols.issuperset(symbols_of(size)) else -1


class _TreePool:
    """Expression trees, each distinct one stored once."""

    def __init__(self) -> None:
        self.trees: list[Any] = []
        self._indices: dict[object, int] = {}

    def add(self, value: Number | None) -> int:
        """Return the index of an expression's tree; -1 without one."""
        if value is None:
            return -1
        if not isinstance(value, Symbolic):
            return self._entry(value, _integer(value))
        key = tuple(value.poly.terms.items())
        index = self._indices.get(key)
        return index if index is not None else self._entry(key, self._sum(value.poly))

    def condition(self, condition: CostCondition) -> ExpressionCondition:
        """Return a condition that refers to the pool."""
        return ExpressionCondition(relation=condition.relation, tree=self.add(condition.value))

    def _entry(self, key: object, tree: Any) -> int:
        index = self._indices.get(key)
        if index is None:
            index = self._indices[key] = len(self.trees)
            self.trees.append(tree)
        return index

    def _sum(self, p: Poly) -> Any:
        terms = [self._term(mono, coef) for mono, coef in ordered(p)]
        return terms[0] if len(terms) == 1 else ["+", *terms] if terms else 0

    def _term(self, mono: Monomial, coef: int) -> Any:
        factors = [self._atom(a) for a in mono]
        if coef != 1 or not factors:
            factors.insert(0, _integer(coef))
        return factors[0] if len(factors) == 1 else ["*", *factors]

    def _atom(self, a: Atom) -> Any:
        """Return a symbol, or a reference to a shared tree."""
        if isinstance(a, str):
            return a
        index = self._indices.get(a)
        if index is None:
            op = "//" if isinstance(a, FloorDiv) else "max" if a.largest else "min"
            index = self._entry(a, [op, *(self._sum(arg) for arg in a.args)])
        return ["$", index]


def _integer(value: int) -> Any:
    return value if -MAX_EXACT < value < MAX_EXACT else ["n", str(value)]
