"""Grammar of dimension expressions, and its parser with bounded depth.

::

    expr  := term (("+" | "-") term)*          term := unary (("*" | "//") unary)*
    unary := "-" unary | atom                  call := ("max" | "min") "(" expr ("," expr)+ ")"
    atom  := integer | name | "(" expr ")" | call
    name  := [A-Za-z_][A-Za-z0-9_.]*

Text is never evaluated by Python, and there is no power operator. Subclasses limit the size of results:
``dim_arithmetic`` parses dimensions, ``costs.symbolic_text`` costs.
"""

from __future__ import annotations

import re
from typing import ClassVar

from py_autodoc.graph.symbolic_dims.poly import ExprError, Poly, floordiv_poly
from py_autodoc.graph.symbolic_dims.poly_bounds import max_or_min


class Parser:
    """Parses one text. Raises: ExprError if it violates the grammar."""

    token: ClassVar[re.Pattern[str]]
    """One token with leading space: an integer, a name or an operator."""
    depth: ClassVar[int]
    """Maximum nesting of parentheses, calls and signs."""
    functions: ClassVar[tuple[str, ...]] = ("max", "min")

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        self.position = pos = 0
        text = text.rstrip()
        while pos < len(text):
            match = self.token.match(text, pos)
            if match is None:
                raise ExprError(f"not an expression: {text[pos : pos + 20]!r}")
            self.tokens.append(match.group().strip())
            pos = match.end()

    def parse(self) -> Poly:
        """Parse the whole text."""
        value = self.expr(0)
        if self.position != len(self.tokens):
            raise ExprError("something follows the expression")
        return value

    def bounded(self, p: Poly) -> Poly:
        """Return a result, unless it is too large."""
        return p

    def times(self, a: Poly, b: Poly) -> Poly:
        """Return the product."""
        return a * b

    def peek(self) -> str:
        """Return the next token without consuming it; empty at the end."""
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def next_token(self, expected: str = "") -> str:
        """Consume and return the next token."""
        token = self.peek()
        if expected and token != expected:
            raise ExprError(f"{expected!r} is missing")
        self.position += 1
        return token

    def expr(self, depth: int) -> Poly:
        """Parse a sum."""
        value = self.term(depth)
        while self.peek() in ("+", "-"):
            plus = self.next_token() == "+"
            operand = self.term(depth)
            value = self.bounded(value + operand if plus else value - operand)
        return value

    def term(self, depth: int) -> Poly:
        """Parse a product."""
        value = self.unary(depth)
        while self.peek() in ("*", "//"):
            product = self.next_token() == "*"
            operand = self.unary(depth)
            value = self.bounded(self.times(value, operand) if product else floordiv_poly(value, operand))
        return value

    def unary(self, depth: int) -> Poly:
        """Parse an operand with its signs."""
        if depth > self.depth:
            raise ExprError("nested too deeply")
        lexeme = self.next_token()
        if lexeme == "-":
            return -self.unary(depth + 1)
        if lexeme == "(":
            value = self.expr(depth + 1)
            self.next_token(")")
            return value
        if lexeme.isdigit():
            return Poly.const(int(lexeme))
        if not lexeme or not (lexeme[0].isalpha() or lexeme[0] == "_"):
            raise ExprError("an operand is missing")
        if lexeme in self.functions and self.peek() == "(":
            self.next_token()
            value = self.call(lexeme, depth + 1)
            self.next_token(")")
            return value
        return Poly.atom(lexeme)

    def call(self, name: str, depth: int) -> Poly:
        """Parse the arguments of a function and apply it."""
        value = self.expr(depth)
        if self.peek() != ",":
            raise ExprError("a maximum or minimum needs two parts")
        while self.peek() == ",":
            self.next_token()
            value = max_or_min(name == "max", value, self.expr(depth))
        return value
