"""Inputs of the size search: equations of the model and candidate sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import gcd, lcm

from py_autodoc.graph.ir.model import Model
from py_autodoc.graph.shapes.infer import SymbolicTypes
from py_autodoc.graph.shapes.shape_context import numeric
from py_autodoc.graph.symbolic_dims import dim_arithmetic
from py_autodoc.graph.symbolic_dims.assumed_sizes import COMMON_SIZES, TYPICAL_SIZES, SizeMeaning
from py_autodoc.graph.symbolic_dims.poly import FloorDiv, Monomial, Poly
from py_autodoc.graph.symbolic_dims.size_search import (
    Constraint,
    at_least_one,
    equal,
    linear_root,
    root_range,
)

MAX_MADE = 200
"""Maximum number of distinct tensor sizes examined."""
MAX_COMPARED = 16
"""Maximum elements of a compared value."""
_COMPARISONS = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mod"})


def constraints(symbolic: SymbolicTypes | None) -> tuple[list[Constraint], list[Constraint]]:
    """Return the assumptions of symbolic inference, and those required only by a branch."""
    if symbolic is None:
        return [], []
    certain: list[Constraint] = []
    doubtful: list[Constraint] = []
    products: set[Poly] = set()
    for difference, minus_one in symbolic.either:
        product = difference * minus_one
        products.add(product)
        (certain if product in symbolic.certain else doubtful).append(
            equal(_reduced(difference), _reduced(minus_one))
        )
    for p in symbolic.zero:
        if p not in products:
            (certain if p in symbolic.certain else doubtful).append(equal(_reduced(p)))
    certain += [at_least_one(p) for p in symbolic.positive]
    return certain, doubtful


def inner_sizes(symbolic: SymbolicTypes | None) -> list[Constraint]:
    """Require sizes inside the model that a large window or stride may reduce to 0 to be at least 1."""
    if symbolic is None:
        return []
    symbols, polynomials = frozenset(symbolic.symbols), dict[str, Poly]()
    for shape in symbolic.types.shapes:
        for d in shape or ():
            if (
                isinstance(d, str)
                and d not in symbols
                and d not in polynomials
                and len(polynomials) < MAX_MADE
            ):
                polynomials[d] = dim_arithmetic.poly(d)
    lessened = [p for p in polynomials.values() if any(c < 0 for c in p.terms.values()) or _has_quotient(p)]
    return [at_least_one(p) for p in lessened if p.names() <= symbols]


def _has_quotient(p: Poly) -> bool:
    return any(isinstance(atom, FloorDiv) for atom in p.atoms())


def _reduced(p: Poly) -> Poly:
    """Divide by the factors common to all terms, which would otherwise have to be 0."""
    if not p.terms:
        return p
    shared = list(next(iter(p.terms)))
    for mono in p.terms:
        remaining = list(mono)
        common = []
        for atom in shared:
            if atom in remaining:
                remaining.remove(atom)
                common.append(atom)
        shared = common
    divisor = gcd(*p.terms.values())
    out: dict[Monomial, int] = {}
    for mono, coef in p.terms.items():
        remaining = list(mono)
        for atom in shared:
            remaining.remove(atom)
        out[tuple(remaining)] = coef // divisor
    return Poly(out)


def candidate_sizes(meaning: SizeMeaning, comparison_sizes: Iterable[int], step: int) -> tuple[int, ...]:
    """Return candidates: typical sizes, constants of the graph, typical sizes rounded to the step, others."""
    typical = TYPICAL_SIZES[meaning]
    rounded = [-(-size // step) * step for size in typical[:4] if size > 1] if step > 1 else []
    return tuple(dict.fromkeys((*typical[:1], *comparison_sizes, *typical[1:], *rounded, *COMMON_SIZES)))


def divisors(equations: Sequence[Constraint]) -> dict[str, int]:
    """Return, for each symbol, the least common multiple of its divisors."""
    out: dict[str, int] = {}
    for equation in equations:
        for p in equation.zero:
            for atom in p.atoms():
                if isinstance(atom, FloorDiv):
                    den, names = atom.den.as_int(), atom.num.names()
                    if den and den > 1 and len(names) == 1:
                        (name,) = names
                        step = lcm(out.get(name, 1), den)
                        out[name] = step if step <= 1 << 16 else out.get(name, 1)
    return out


def comparison_thresholds(
    model: Model, symbolic: SymbolicTypes | None, meanings: Mapping[str, SizeMeaning]
) -> dict[str, tuple[int, ...]]:
    """Return sizes at which a comparison in the graph changes its result, typical ones first."""
    if symbolic is None:
        return {}
    values, thresholds = symbolic.types.values, dict[str, dict[int, None]]()
    for node in model.nodes:
        if node.op_type not in _COMPARISONS or len(node.inputs) < 2:
            continue
        a, b = values.get(node.inputs[0]), values.get(node.inputs[1])
        if a is None or b is None or max(a.size, b.size) > MAX_COMPARED or numeric(a) == numeric(b):
            continue
        for x in a.reshape(-1).tolist():
            for y in b.reshape(-1).tolist():
                meeting = _equal_size(x, y, meanings)
                if meeting is not None:
                    thresholds.setdefault(meeting[0], {})[meeting[1]] = None
    return {
        name: tuple(sorted(sizes, key=_usual_rank(TYPICAL_SIZES[meanings[name]])))
        for name, sizes in thresholds.items()
    }


def _usual_rank(usual: Sequence[int]) -> Callable[[int], int]:
    return lambda size: usual.index(size) if size in usual else len(usual)


def _equal_size(x: object, y: object, meanings: Mapping[str, SizeMeaning]) -> tuple[str, int] | None:
    """Return (symbol, size) where a size equals a number: a typical size, else the roundest."""
    text, number = (x, y) if isinstance(x, str) else (y, x)
    if not isinstance(text, str) or isinstance(number, bool) or not isinstance(number, int):
        return None
    p = dim_arithmetic.poly(text) - Poly.const(number)
    names = p.names()
    if len(names) != 1 or not names <= set(meanings):
        return None
    (name,) = names
    linear_roots = linear_root(p, name, {})
    roots = root_range(p, name, {}) if linear_roots is None else linear_roots
    if not roots or max(roots) < 2:
        return None
    low, high = min(roots), max(roots)
    return name, next((size for size in TYPICAL_SIZES[meanings[name]] if low <= size <= high), roots[0])
