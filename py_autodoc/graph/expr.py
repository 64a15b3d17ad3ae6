"""Arithmetic on dimensions: integers, symbols and readable expressions such as ``"seq + 1"``.

A dimension is an ``int``, a ``str`` in a small grammar, or ``None`` (unknown). Expressions are
kept as polynomials with integer coefficients whose atoms are names or floor divisions, so that two
ways of writing the same size compare equal as text::

    expr  := term (("+" | "-") term)*          term := unary (("*" | "//") unary)*
    unary := "-" unary | atom                  atom := integer | name | "(" expr ")"
    name  := [A-Za-z_][A-Za-z0-9_.]*

Text is never evaluated by Python: there is a tokenizer and a parser of bounded depth, and no power.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from py_autodoc.graph.model import Dim

MAX_TEXT = 64
"""Longest expression accepted from a file."""
MAX_DERIVED = 120
"""Longest expression we write ourselves; beyond it a dimension gets a name of its own."""
MAX_DEPTH = 12
MAX_TERMS = 24
MAX_INT = 1 << 62

_TOKEN = re.compile(r"\s*(?:(\d{1,19})|([A-Za-z_][A-Za-z0-9_.]*)|(//|[-+*()]))")


class FloorDiv:
    """The atom ``num // den``."""

    __slots__ = ("den", "num", "text")

    def __init__(self, num: Poly, den: Poly) -> None:
        self.num = num
        self.den = den
        self.text = f"{_wrap(num)}//{_wrap(den)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FloorDiv) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


Monomial = tuple["str | FloorDiv", ...]


class Poly:
    """A polynomial; ``terms`` maps a sorted tuple of atoms to its coefficient (never 0)."""

    __slots__ = ("_text", "terms")

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms
        self._text: str | None = None

    @staticmethod
    def const(value: int) -> Poly:
        """A number."""
        return Poly({(): value} if value else {})

    @staticmethod
    def atom(a: str | FloorDiv) -> Poly:
        """One name or floor division."""
        return Poly({(a,): 1})

    def as_int(self) -> int | None:
        """The value when it holds no symbol."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.text)

    def __add__(self, other: Poly) -> Poly:
        terms = dict(self.terms)
        for mono, coef in other.terms.items():
            total = terms.get(mono, 0) + coef
            if total:
                terms[mono] = total
            else:
                terms.pop(mono, None)
        return Poly(terms)

    def __neg__(self) -> Poly:
        return Poly({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + (-other)

    def __mul__(self, other: Poly) -> Poly:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in other.terms.items():
                mono = tuple(sorted(m1 + m2, key=_atom_text)) if m1 and m2 else m1 or m2
                terms[mono] = terms.get(mono, 0) + c1 * c2
        return Poly({m: c for m, c in terms.items() if c})

    @property
    def text(self) -> str:
        """Readable and parseable form, highest degree first."""
        if self._text is None:
            self._text = _format(self)
        return self._text


class ExprError(ValueError):
    """The text is not in the grammar, or the result would be too large to handle."""


def _atom_text(a: str | FloorDiv) -> str:
    return a if isinstance(a, str) else a.text


def _wrap(p: Poly) -> str:
    """Text that can stand as an operand of ``//``."""
    if p.as_int() is not None or (len(p.terms) == 1 and _is_name(p)):
        return p.text
    return f"({p.text})"


def _is_name(p: Poly) -> bool:
    ((mono, coef),) = p.terms.items()
    return coef == 1 and len(mono) == 1 and isinstance(mono[0], str)


def _term(mono: Monomial, coef: int) -> str:
    if not mono:
        return str(coef)
    single = coef == 1 and len(mono) == 1
    parts = [a if isinstance(a, str) else a.text if single else f"({a.text})" for a in mono]
    return "*".join(parts if coef == 1 else [str(coef), *parts])


def _format(p: Poly) -> str:
    def key(item: tuple[Monomial, int]) -> tuple[int, list[str]]:
        return -len(item[0]), [_atom_text(a) for a in item[0]]

    items = sorted(p.terms.items(), key=key)
    if not items:
        return "0"
    positive = next((i for i, (_, c) in enumerate(items) if c > 0), 0)
    items.insert(0, items.pop(positive))
    out = []
    for i, (mono, coef) in enumerate(items):
        body = _term(mono, abs(coef))
        if i == 0:
            out.append(f"-{body}" if coef < 0 else body)
        else:
            out.append(f" - {body}" if coef < 0 else f" + {body}")
    return "".join(out)


def floordiv_poly(num: Poly, den: Poly) -> Poly:
    """``num // den``, simplified where that is exact. Raises: ExprError for a zero divisor."""
    d = den.as_int()
    if d is not None:
        return _floordiv_int(num, d)
    exact = _divide_exactly(num, den)
    return exact if exact is not None else Poly.atom(FloorDiv(num, den))


def _floordiv_int(num: Poly, d: int) -> Poly:
    if d == 0:
        raise ExprError("division by zero")
    if d < 0:
        num, d = -num, -d
    whole = Poly({m: c // d for m, c in num.terms.items() if c % d == 0})
    rest = Poly({m: c for m, c in num.terms.items() if c % d})
    if not rest.terms:
        return whole
    value = rest.as_int()
    if value is not None:
        return whole + Poly.const(value // d)
    constant = rest.terms.get((), 0)
    if constant and not 0 <= constant < d:
        whole = whole + Poly.const(constant // d)
        rest = rest + Poly.const(constant % d - constant)
    return whole + _nested(rest, d)


def _nested(rest: Poly, d: int) -> Poly:
    """``(x//a + r) // d == (x + a*r) // (a*d)`` keeps towers of strided layers short."""
    atoms = [m for m in rest.terms if m]
    if len(atoms) == 1 and rest.terms[atoms[0]] == 1 and len(atoms[0]) == 1:
        inner = atoms[0][0]
        if isinstance(inner, FloorDiv):
            a = inner.den.as_int()
            if a is not None and a > 0:
                shifted = inner.num + Poly.const(a * rest.terms.get((), 0))
                return _floordiv_int(shifted, a * d)
    return Poly.atom(FloorDiv(rest, Poly.const(d)))


def _lead(p: Poly) -> tuple[Monomial, int]:
    return max(p.terms.items(), key=lambda i: (len(i[0]), [_atom_text(a) for a in i[0]]))


def _divide_exactly(num: Poly, den: Poly) -> Poly | None:
    """Polynomial long division; None when it leaves a remainder."""
    if not den.terms:
        raise ExprError("division by zero")
    quotient = Poly({})
    mono_d, coef_d = _lead(den)
    for _ in range(MAX_TERMS):
        if not num.terms:
            return quotient
        mono_n, coef_n = _lead(num)
        rest = list(mono_n)
        for a in mono_d:
            if a not in rest:
                return None
            rest.remove(a)
        if coef_n % coef_d:
            return None
        step = Poly({tuple(rest): coef_n // coef_d})
        quotient = quotient + step
        num = num - step * den
    return None


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        pos = 0
        text = text.rstrip()
        while pos < len(text):
            found = _TOKEN.match(text, pos)
            if found is None:
                raise ExprError(f"not a dimension expression: {text[:40]!r}")
            self.tokens.append(found.group().strip())
            pos = found.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expr(self, depth: int) -> Poly:
        value = self.term(depth)
        while self.peek() in ("+", "-"):
            op = self.take()
            other = self.term(depth)
            value = _bounded(value + other if op == "+" else value - other)
        return value

    def term(self, depth: int) -> Poly:
        value = self.unary(depth)
        while self.peek() in ("*", "//"):
            op = self.take()
            other = self.unary(depth)
            value = _bounded(value * other if op == "*" else floordiv_poly(value, other))
        return value

    def unary(self, depth: int) -> Poly:
        if depth > MAX_DEPTH:
            raise ExprError("nested too deeply")
        found = self.take()
        if found == "-":
            return -self.unary(depth + 1)
        if found == "(":
            value = self.expr(depth + 1)
            if self.take() != ")":
                raise ExprError("a parenthesis is not closed")
            return value
        if found.isdigit():
            return Poly.const(int(found))
        if found and (found[0].isalpha() or found[0] == "_"):
            return Poly.atom(found)
        raise ExprError("an operand is missing")


def _bounded(p: Poly) -> Poly:
    if len(p.terms) > MAX_TERMS or any(len(m) > 8 or abs(c) > MAX_INT for m, c in p.terms.items()):
        raise ExprError("too many terms")
    return p


@lru_cache(maxsize=8192)
def parse(text: str) -> Poly:
    """Parse an expression. Raises: ExprError when it is not in the grammar."""
    if len(text) > 4 * MAX_DERIVED:
        raise ExprError("too long")
    parser = _Parser(text)
    value = parser.expr(0)
    if parser.at != len(parser.tokens):
        raise ExprError("something follows the expression")
    return value


def to_dim(p: Poly) -> Dim:
    """A polynomial as a dimension; None when its text would be too long."""
    value = p.as_int()
    if value is not None:
        return value
    return p.text if len(p.text) <= MAX_DERIVED else None


def poly(d: int | str) -> Poly:
    """The polynomial of a known dimension. Raises: ExprError."""
    return Poly.const(d) if isinstance(d, int) else parse(d)


@lru_cache(maxsize=8192)
def _binary(op: str, a: int | str, b: int | str) -> Dim:
    try:
        x, y = poly(a), poly(b)
        if op == "+":
            return to_dim(_bounded(x + y))
        if op == "-":
            return to_dim(_bounded(x - y))
        if op == "*":
            return to_dim(_bounded(x * y))
        return to_dim(_bounded(floordiv_poly(x, y)))
    except ExprError:
        return None


def add(a: Dim, b: Dim) -> Dim:
    """Sum; None when either is unknown."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return None if a is None or b is None else _binary("+", a, b)


def sub(a: Dim, b: Dim) -> Dim:
    """Difference; None when either is unknown."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return None if a is None or b is None else _binary("-", a, b)


def mul(a: Dim, b: Dim) -> Dim:
    """Product; 0 times anything is 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else _binary("*", a, b)


def floordiv(a: Dim, b: Dim) -> Dim:
    """Quotient rounded down; None when either is unknown or b is 0."""
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    return None if a is None or b is None else _binary("//", a, b)


def ceildiv(a: Dim, b: int) -> Dim:
    """Quotient rounded up; ``b`` > 0."""
    if isinstance(a, int):
        return -(-a // b)
    return floordiv(add(a, b - 1), b)


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    """Product of dimensions; 1 for a scalar, None when one is unknown."""
    total: Dim = 1
    for d in dims:
        total = mul(total, d)
    return total


@lru_cache(maxsize=8192)
def symbols_of(text: str) -> tuple[str, ...]:
    """Names in an expression in order of appearance; the text itself when it is no expression."""
    try:
        parse(text)
    except ExprError:
        return (text,)
    return tuple(dict.fromkeys(re.findall(r"[A-Za-z_][A-Za-z0-9_.]*", text)))


def substitute(dim: Dim, bindings: Mapping[str, int]) -> Dim:
    """Replace bound symbols by their values, keep the others."""
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
            if isinstance(a, FloorDiv):
                term = term * floordiv_poly(_subst_poly(a.num, bindings), _subst_poly(a.den, bindings))
            elif a in bindings:
                term = term * Poly.const(bindings[a])
            else:
                term = term * Poly.atom(a)
        total = _bounded(total + term)
    return total
