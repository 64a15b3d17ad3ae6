"""Polynomials with integer coefficients whose atoms are names, floor divisions, maxima and minima.

Equal sizes become the same polynomial, as far as ring arithmetic and exact division can show it.
``dim_arithmetic`` adds the grammar of dimensions, ``costs.symbolic`` the arithmetic of costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

MAX_STEPS = 24
"""Maximum steps of a polynomial division."""


class FloorDiv:
    """The atom ``num // den``."""

    __slots__ = ("_hash", "den", "num", "text")

    def __init__(self, num: Poly, den: Poly) -> None:
        self.num = num
        self.den = den
        self.text = f"{operand(num, num.text)}//{operand(den, den.text)}"
        self._hash = hash(self.text)

    @property
    def args(self) -> tuple[Poly, ...]:
        """The inner polynomials."""
        return (self.num, self.den)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FloorDiv) and self.text == other.text

    def __hash__(self) -> int:
        return self._hash


class Extreme:
    """The atom ``max(…)`` or ``min(…)`` of two or more polynomials, sorted by their text."""

    __slots__ = ("_hash", "args", "largest", "text")

    def __init__(self, largest: bool, args: Sequence[Poly]) -> None:
        self.largest = largest
        self.args = tuple(sorted(args, key=lambda p: p.text))
        self.text = f"{'max' if largest else 'min'}({', '.join(p.text for p in self.args)})"
        self._hash = hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Extreme) and self.text == other.text

    def __hash__(self) -> int:
        return self._hash


Atom = str | FloorDiv | Extreme
Monomial = tuple[Atom, ...]


class Poly:
    """A polynomial; ``terms`` maps a sorted tuple of atoms to its coefficient (never 0)."""

    __slots__ = ("_text", "terms")

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms
        self._text: str | None = None

    @staticmethod
    def const(value: int) -> Poly:
        """Return a constant."""
        return Poly({(): value} if value else {})

    @staticmethod
    def atom(a: Atom) -> Poly:
        """Return a single name, floor division, maximum or minimum."""
        return Poly({(a,): 1})

    def as_int(self) -> int | None:
        """Return the value if there are no symbols, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    def names(self) -> set[str]:
        """Return all symbols."""
        symbols: set[str] = set()
        for atom in self.atoms():
            if isinstance(atom, str):
                symbols.add(atom)
            else:
                for arg in atom.args:
                    symbols |= arg.names()
        return symbols

    def atoms(self) -> Iterator[Atom]:
        """Yield the atoms of every term, with repetitions."""
        for mono in self.terms:
            yield from mono

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
                mono = tuple(sorted(m1 + m2, key=atom_text)) if m1 and m2 else m1 or m2
                terms[mono] = terms.get(mono, 0) + c1 * c2
        return Poly({m: c for m, c in terms.items() if c})

    @property
    def text(self) -> str:
        """Return a readable text that can be parsed, highest degree first."""
        if self._text is None:
            self._text = sum_text(self, atom_text, _is_quotient)
        return self._text


class ExprError(ValueError):
    """The text violates the grammar, or the result would be too large."""


def atom_text(a: Atom) -> str:
    """Return the text of an atom."""
    return a if isinstance(a, str) else a.text


def ordered(p: Poly) -> list[tuple[Monomial, int]]:
    """Return the terms in written order: highest degree first, starting with a positive one."""

    def key(item: tuple[Monomial, int]) -> tuple[int, list[str]]:
        return -len(item[0]), [atom_text(a) for a in item[0]]

    items = sorted(p.terms.items(), key=key)
    if items:
        positive = next((i for i, (_, c) in enumerate(items) if c > 0), 0)
        items.insert(0, items.pop(positive))
    return items


def operand(p: Poly, written: str) -> str:
    """Return the text of ``p`` as an operand of ``//`` or ``/``."""
    name = len(p.terms) == 1 and _is_name(p)
    return written if name or p.as_int() is not None else f"({written})"


def _is_name(p: Poly) -> bool:
    ((mono, coef),) = p.terms.items()
    return coef == 1 and len(mono) == 1 and isinstance(mono[0], str)


def sum_text(p: Poly, atom: Callable[[Atom], str], quotient: Callable[[Atom], bool]) -> str:
    """Join the terms in order, with spaces around ``+`` and ``-``.

    Args:
        p: polynomial to write.
        atom: converts an atom to text.
        quotient: true for atoms written with ``//``, which has the precedence of a product: they need
            parentheses in a product, and after a leading sign, because ``-a//b`` is ``(-a)//b``.
    """
    out: list[str] = []
    for mono, coef in ordered(p):
        alone = len(mono) == 1 and (coef == 1 or (coef == -1 and bool(out)))
        parts = [f"({atom(a)})" if not alone and quotient(a) else atom(a) for a in mono]
        if abs(coef) != 1 or not parts:
            parts.insert(0, str(abs(coef)))
        sign = "-" if coef < 0 else "+"
        out.append((f" {sign} " if out else "-" if coef < 0 else "") + "*".join(parts))
    return "".join(out) or "0"


def _is_quotient(a: Atom) -> bool:
    return isinstance(a, FloorDiv)


def floordiv_poly(num: Poly, den: Poly) -> Poly:
    """Return ``num // den``, simplified where that is exact. Raises: ExprError for a zero divisor."""
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
    quotient = Poly({m: c // d for m, c in num.terms.items() if c % d == 0})
    remainder = Poly({m: c for m, c in num.terms.items() if c % d})
    if not remainder.terms:
        return quotient
    value = remainder.as_int()
    if value is not None:
        return quotient + Poly.const(value // d)
    constant = remainder.terms.get((), 0)
    if constant and not 0 <= constant < d:
        quotient = quotient + Poly.const(constant // d)
        remainder = remainder + Poly.const(constant % d - constant)
    return quotient + _nested(remainder, d)


def _nested(remainder: Poly, d: int) -> Poly:
    """Apply ``(x//a + r) // d == (x + a*r) // (a*d)``, which shortens chains of strided layers."""
    atoms = [m for m in remainder.terms if m]
    if len(atoms) == 1 and remainder.terms[atoms[0]] == 1 and len(atoms[0]) == 1:
        inner = atoms[0][0]
        if isinstance(inner, FloorDiv):
            a = inner.den.as_int()
            if a is not None and a > 0:
                shifted = inner.num + Poly.const(a * remainder.terms.get((), 0))
                return _floordiv_int(shifted, a * d)
    return Poly.atom(FloorDiv(remainder, Poly.const(d)))


def _lead(p: Poly) -> tuple[Monomial, int]:
    return max(p.terms.items(), key=lambda i: (len(i[0]), [atom_text(a) for a in i[0]]))


def _divide_exactly(num: Poly, den: Poly) -> Poly | None:
    """Divide polynomials; None if there is a remainder."""
    if not den.terms:
        raise ExprError("division by zero")
    quotient = Poly({})
    mono_d, coef_d = _lead(den)
    for _ in range(MAX_STEPS):
        if not num.terms:
            return quotient
        mono_n, coef_n = _lead(num)
        factors = list(mono_n)
        for a in mono_d:
            if a not in factors:
                return None
            factors.remove(a)
        if coef_n % coef_d:
            return None
        step = Poly({tuple(factors): coef_n // coef_d})
        quotient = quotient + step
        num = num - step * den
    return None
