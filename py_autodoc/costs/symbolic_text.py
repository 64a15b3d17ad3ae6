"""Expressions as text, and back.

The grammar is that of ``graph.expr`` with functions::

    atom := integer | name | "(" expr ")" | "ceil" "(" expr "/" unary ")"
          | ("max" | "min") "(" expr ("," expr)+ ")"

``ceil(a/b)`` is ``(a + b - 1)//b`` for a positive number ``b``. Highest degree first, one space around
``+`` and ``-``: ``84934656*batch*seq + 18432*batch*seq*seq``.
"""

from __future__ import annotations

import re

from py_autodoc.costs.symbolic import Number, to_poly, wrap
from py_autodoc.graph.bounds import extreme
from py_autodoc.graph.poly import Atom, ExprError, FloorDiv, Poly, floordiv_poly, ordered

MAX_TEXT = 4096
"""Longest text of an expression; a longer one is given as a tree only."""
MAX_DEPTH = 40
_TOKEN = re.compile(r"\s*(?:(\d{1,40})|([A-Za-z_][A-Za-z0-9_.]*)|(//|[-+*/(),]))")


def text(value: Number) -> str | None:
    """Readable and parseable form; None when it would be longer than ``MAX_TEXT``."""
    written = str(value) if isinstance(value, int) else _sum(value.poly)
    return written if len(written) <= MAX_TEXT else None


def _sum(p: Poly) -> str:
    out: list[str] = []
    for mono, coef in ordered(p):
        alone = len(mono) == 1 and (coef == 1 or (coef == -1 and bool(out)))
        parts = [atom_text(a) if alone or not _quotient(a) else f"({atom_text(a)})" for a in mono]
        if abs(coef) != 1 or not parts:
            parts.insert(0, str(abs(coef)))
        sign = "-" if coef < 0 else "+"
        out.append((f" {sign} " if out else "-" if coef < 0 else "") + "*".join(parts))
    return "".join(out) or "0"


def _quotient(a: Atom) -> bool:
    """True for what is written with ``//``, which binds like a product: it needs brackets in one."""
    return isinstance(a, FloorDiv) and rounded_up(a) is None


def atom_text(a: Atom) -> str:
    """One atom; a division that rounds up reads ``ceil(…/…)``."""
    if isinstance(a, str):
        return a
    if isinstance(a, FloorDiv):
        up = rounded_up(a)
        if up is not None:
            return f"ceil({_operand(up[0])}/{up[1]})"
        return f"{_operand(a.num)}//{_operand(a.den)}"
    return f"{'max' if a.largest else 'min'}({', '.join(_sum(part) for part in a.args)})"


def rounded_up(a: FloorDiv) -> tuple[Poly, int] | None:
    """(a, b) of an atom that is ``a / b`` rounded up."""
    d = a.den.as_int()
    if d is None or d < 2 or a.num.terms.get(()) != d - 1:
        return None
    return a.num - Poly.const(d - 1), d


def _operand(p: Poly) -> str:
    written = _sum(p)
    simple = p.as_int() is not None or re.fullmatch(r"[A-Za-z0-9_.]+", written)
    return written if simple else f"({written})"


def parse(source: str) -> Number:
    """An expression from its text. Raises: ExprError when it is not in the grammar."""
    if len(source) > MAX_TEXT:
        raise ExprError("too long")
    parser = _Parser(source)
    value = parser.sum(0)
    if parser.at != len(parser.tokens):
        raise ExprError("something follows the expression")
    return wrap(value)


class _Parser:
    def __init__(self, source: str) -> None:
        self.tokens: list[str] = []
        self.at = pos = 0
        source = source.rstrip()
        while pos < len(source):
            found = _TOKEN.match(source, pos)
            if found is None:
                raise ExprError(f"not an expression: {source[pos : pos + 20]!r}")
            self.tokens.append(found.group().strip())
            pos = found.end()

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if expected and token != expected:
            raise ExprError(f"{expected!r} is missing")
        self.at += 1
        return token

    def sum(self, depth: int) -> Poly:
        value = self.product(depth)
        while self.peek() in ("+", "-"):
            value = value + self.product(depth) if self.take() == "+" else value - self.product(depth)
        return value

    def product(self, depth: int) -> Poly:
        value = self.unary(depth)
        while self.peek() in ("*", "//"):
            if self.take() == "*":
                value = to_poly(wrap(value) * wrap(self.unary(depth)))
            else:
                value = floordiv_poly(value, self.unary(depth))
        return value

    def unary(self, depth: int) -> Poly:
        if depth > MAX_DEPTH:
            raise ExprError("nested too deeply")
        found = self.take()
        if found == "-":
            return -self.unary(depth + 1)
        if found == "(":
            value = self.sum(depth + 1)
            self.take(")")
            return value
        if found.isdigit():
            return Poly.const(int(found))
        if not found or not (found[0].isalpha() or found[0] == "_"):
            raise ExprError("an operand is missing")
        if found in ("max", "min", "ceil") and self.peek() == "(":
            return self.call(found, depth + 1)
        return Poly.atom(found)

    def call(self, name: str, depth: int) -> Poly:
        self.take("(")
        value = self.sum(depth)
        if name == "ceil":
            self.take("/")
            d = self.unary(depth).as_int()
            if d is None or d < 1:
                raise ExprError("ceil needs a positive number below the line")
            value = floordiv_poly(value + Poly.const(d - 1), Poly.const(d))
        else:
            while self.peek() == ",":
                self.take()
                value = extreme(name == "max", value, self.sum(depth))
        self.take(")")
        return value
