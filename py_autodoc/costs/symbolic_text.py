"""Conversion of expressions to text and back.

The grammar is that of ``dim_grammar`` with one more function: ``"ceil" "(" expr "/" unary ")"``.
``ceil(a/b)`` is ``(a + b - 1)//b`` for a positive number ``b``. Terms are sorted by descending degree, with
spaces around ``+`` and ``-``: ``84934656*batch*seq + 18432*batch*seq*seq``.
"""

from __future__ import annotations

import re

from py_autodoc.costs.symbolic import Number, to_poly, wrap
from py_autodoc.graph.symbolic_dims.dim_grammar import Parser
from py_autodoc.graph.symbolic_dims.poly import (
    Atom,
    ExprError,
    FloorDiv,
    Poly,
    floordiv_poly,
    operand,
    sum_text,
)

MAX_TEXT = 4096
"""Maximum length of an expression as text; longer ones exist only as a tree."""
MAX_DEPTH = 40


def text(value: Number) -> str | None:
    """Return a readable text that can be parsed; None if it would be longer than ``MAX_TEXT``."""
    written = str(value) if isinstance(value, int) else _sum(value.poly)
    return written if len(written) <= MAX_TEXT else None


def _sum(p: Poly) -> str:
    return sum_text(p, atom_text, _quotient)


def _quotient(a: Atom) -> bool:
    return isinstance(a, FloorDiv) and rounded_up(a) is None


def atom_text(a: Atom) -> str:
    """Return the text of an atom; a division that rounds up is written ``ceil(…/…)``."""
    if isinstance(a, str):
        return a
    if isinstance(a, FloorDiv):
        up = rounded_up(a)
        if up is not None:
            return f"ceil({_operand(up[0])}/{up[1]})"
        return f"{_operand(a.num)}//{_operand(a.den)}"
    return f"{'max' if a.largest else 'min'}({', '.join(_sum(arg) for arg in a.args)})"


def rounded_up(a: FloorDiv) -> tuple[Poly, int] | None:
    """Return (a, b) of an atom that is ``a / b`` rounded up."""
    d = a.den.as_int()
    if d is None or d < 2 or a.num.terms.get(()) != d - 1:
        return None
    return a.num - Poly.const(d - 1), d


def _operand(p: Poly) -> str:
    return operand(p, _sum(p))


def parse(source: str) -> Number:
    """Parse an expression. Raises: ExprError if it violates the grammar."""
    if len(source) > MAX_TEXT:
        raise ExprError("too long")
    return wrap(_ExpressionParser(source).parse())


class _ExpressionParser(Parser):
    token = re.compile(r"\s*(?:(\d{1,40})|([A-Za-z_][A-Za-z0-9_.]*)|(//|[-+*/(),]))")
    depth = MAX_DEPTH
    functions = ("max", "min", "ceil")

    def times(self, a: Poly, b: Poly) -> Poly:
        return to_poly(wrap(a) * wrap(b))

    def call(self, name: str, depth: int) -> Poly:
        if name != "ceil":
            return super().call(name, depth)
        value = self.expr(depth)
        self.next_token("/")
        d = self.unary(depth).as_int()
        if d is None or d < 1:
            raise ExprError("ceil needs a positive number below the line")
        return floordiv_poly(value + Poly.const(d - 1), Poly.const(d))
