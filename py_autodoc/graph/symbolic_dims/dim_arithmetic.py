"""Arithmetic on dimensions: integers, symbols and readable expressions such as ``"seq + 1"``.

A dimension is an ``int``, a ``str`` in the grammar of ``dim_grammar``, or ``None`` (unknown).
Expressions are kept as polynomials with integer coefficients whose atoms are names or floor divisions,
so that two ways of writing the same size compare equal as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, reduce

from py_autodoc.graph.ir.model import Dim
from py_autodoc.graph.symbolic_dims.dim_grammar import Parser
from py_autodoc.graph.symbolic_dims.poly import Atom, ExprError, Extreme, FloorDiv, Poly, floordiv_poly
from py_autodoc.graph.symbolic_dims.poly_bounds import absorb_addend
from py_autodoc.graph.symbolic_dims.poly_bounds import max_or_min as extreme_poly

__all__ = [
    "ExprError",
    "FloorDiv",
    "Poly",
    "add",
    "ceildiv",
    "extreme",
    "floordiv",
    "floordiv_poly",
    "mul",
    "parse",
    "poly",
    "product",
    "sub",
    "substitute",
    "symbols_of",
    "to_dim",
]

MAX_TEXT = 64
"""Maximum length of an expression from a file."""
MAX_DERIVED = 120
"""Maximum length of a derived expression; longer ones are replaced by a new name."""
MAX_DEPTH = 12
MAX_TERMS = 24
MAX_INT = 1 << 62


def _bounded(p: Poly) -> Poly:
    if len(p.terms) > MAX_TERMS or any(len(m) > 8 or abs(c) > MAX_INT for m, c in p.terms.items()):
        raise ExprError("too many terms")
    return p


class _DimParser(Parser):
    token = re.compile(r"\s*(?:(\d{1,19})|([A-Za-z_][A-Za-z0-9_.]*)|(//|[-+*(),]))")
    depth = MAX_DEPTH

    def bounded(self, p: Poly) -> Poly:
        return _bounded(p)


@lru_cache(maxsize=8192)
def parse(text: str) -> Poly:
    """Parse an expression. Raises: ExprError if it violates the grammar."""
    if len(text) > 4 * MAX_DERIVED:
        raise ExprError("too long")
    return _DimParser(text).parse()


def to_dim(p: Poly) -> Dim:
    """Convert a polynomial to a dimension; None if its text would be too long."""
    value = p.as_int()
    if value is not None:
        return value
    return p.text if len(p.text) <= MAX_DERIVED else None


def poly(d: int | str) -> Poly:
    """Return the polynomial of a known dimension. Raises: ExprError."""
    return Poly.const(d) if isinstance(d, int) else parse(d)


@lru_cache(maxsize=8192)
def _binary(op: str, a: int | str, b: int | str) -> Dim:
    try:
        x, y = poly(a), poly(b)
        if op == "+":
            return to_dim(_bounded(absorb_addend(x + y)))
        if op == "-":
            return to_dim(_bounded(absorb_addend(x - y)))
        if op == "*":
            return to_dim(_bounded(x * y))
        if op in ("max", "min"):
            return to_dim(extreme_poly(op == "max", x, y))
        return to_dim(_bounded(floordiv_poly(x, y)))
    except ExprError:
        return None


def add(a: Dim, b: Dim) -> Dim:
    """Return the sum; None if either is unknown."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return None if a is None or b is None else _binary("+", a, b)


def sub(a: Dim, b: Dim) -> Dim:
    """Return the difference; None if either is unknown."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return None if a is None or b is None else _binary("-", a, b)


def mul(a: Dim, b: Dim) -> Dim:
    """Return the product; 0 times an unknown is 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else _binary("*", a, b)


def floordiv(a: Dim, b: Dim) -> Dim:
    """Return the quotient rounded down; None if either is unknown or b is 0."""
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    return None if a is None or b is None else _binary("//", a, b)


def extreme(largest: bool, a: Dim, b: Dim) -> Dim:
    """Return the larger or smaller of two sizes >= 1; None if either is unknown."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b) if largest else min(a, b)
    return None if a is None or b is None else _binary("max" if largest else "min", a, b)


def ceildiv(a: Dim, b: int) -> Dim:
    """Return the quotient rounded up; ``b`` > 0."""
    if isinstance(a, int):
        return -(-a // b)
    return floordiv(add(a, b - 1), b)


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    """Return the product of dimensions; 1 for a scalar, None if one is unknown."""
    total: Dim = 1
    for d in dims:
        total = mul(total, d)
    return total


@lru_cache(maxsize=8192)
def symbols_of(text: str) -> tuple[str, ...]:
    """Return the names in an expression in order of appearance; the text itself if it cannot be parsed."""
    try:
        parse(text)
    except ExprError:
        return (text,)
    return tuple(dict.fromkeys(re.findall(r"[A-Za-z_][A-Za-z0-9_.]*(?!\s*\()(?![A-Za-z0-9_.])", text)))


def substitute(dim: Dim, bindings: Mapping[str, int]) -> Dim:
    """Replace bound symbols by their values and keep the others."""
    if not isinstance(dim, str) or not bindings:
        return dim
    if dim in bindings:
        return bindings[dim]
    if not any(s in bindings for s in symbols_of(dim)):
        return dim
    try:
        return to_dim(_subst_poly(parse(dim), bindings))
    except ExprError:
        return None


def _subst_poly(p: Poly, bindings: Mapping[str, int]) -> Poly:
    total = Poly({})
    for mono, coef in p.terms.items():
        term = Poly.const(coef)
        for a in mono:
            term = term * _subst_atom(a, bindings)
        total = _bounded(total + term)
    return total


def _subst_atom(a: Atom, bindings: Mapping[str, int]) -> Poly:
    if isinstance(a, FloorDiv):
        return floordiv_poly(_subst_poly(a.num, bindings), _subst_poly(a.den, bindings))
    if isinstance(a, Extreme):
        parts = [_subst_poly(arg, bindings) for arg in a.args]
        return reduce(lambda x, y: extreme_poly(a.largest, x, y), parts)
    return Poly.const(bindings[a]) if a in bindings else Poly.atom(a)
