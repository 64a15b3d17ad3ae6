"""Symbolic numbers on which cost rules run as they do on integers.

A ``Symbolic`` wraps a polynomial of ``symbolic_dims.poly``. ``+ - * // %`` follow Python's integers.
Comparisons return a result that holds for all sizes >= 1 and otherwise raise ``UndecidedComparison``, so that
a rule never takes a branch that is wrong for some sizes. A result without symbols is an ``int``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from py_autodoc.graph.symbolic_dims import poly_bounds
from py_autodoc.graph.symbolic_dims.poly import ExprError, Poly, floordiv_poly
from py_autodoc.graph.symbolic_dims.poly_values import EvaluationError, PolyValues

__all__ = [
    "EvaluationError",
    "Number",
    "Symbolic",
    "UndecidedComparison",
    "UnknownSize",
    "as_int",
    "ceil_quotient",
    "evaluate",
    "extreme",
    "symbol",
    "times",
    "to_poly",
    "wrap",
]

MAX_TERMS = 256
"""Maximum terms of an expression; larger expressions are unknown."""
MAX_DEGREE = 16
MAX_COEFFICIENT = 1 << 127


class UnknownSize(Exception):
    """A cost cannot be computed; the text gives the reason."""


class UndecidedComparison(UnknownSize):
    """An expression does not exist, or would differ between sizes."""


class Symbolic:
    """An integer that depends on symbolic sizes. Immutable."""

    __slots__ = ("poly",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, poly: Poly) -> None:
        self.poly = poly

    def __add__(self, other: Number) -> Number:
        if not isinstance(other, (int, Symbolic)):
            return NotImplemented
        return wrap(self.poly + to_poly(other))

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        return wrap(self.poly - to_poly(other))

    def __rsub__(self, other: Number) -> Number:
        return wrap(to_poly(other) - self.poly)

    def __mul__(self, other: Number) -> Number:
        if not isinstance(other, (int, Symbolic)):
            return NotImplemented
        return wrap(times(self.poly, to_poly(other)))

    __rmul__ = __mul__

    def __neg__(self) -> Number:
        return wrap(-self.poly)

    def __floordiv__(self, other: Number) -> Number:
        return quotient(self.poly, to_poly(other))

    def __rfloordiv__(self, other: Number) -> Number:
        return quotient(to_poly(other), self.poly)

    def __mod__(self, other: Number) -> Number:
        return wrap(self.poly - times(to_poly(self // other), to_poly(other)))

    def __rmod__(self, other: Number) -> Number:
        return wrap(to_poly(other) - times(to_poly(other // self), self.poly))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, Symbolic)):
            return NotImplemented
        gap = self.poly - to_poly(other)
        if not gap.terms:
            return True
        if poly_bounds.never_zero(gap):
            return False
        raise self._undecided("=", other)

    def __ne__(self, other: object) -> bool:
        answer = self.__eq__(other)
        return answer if answer is NotImplemented else not answer

    def __lt__(self, other: Number) -> bool:
        return not self.__ge__(other)

    def __gt__(self, other: Number) -> bool:
        return not self.__le__(other)

    def __ge__(self, other: Number) -> bool:
        gap = self.poly - to_poly(other)
        low, high = poly_bounds.lower(gap), poly_bounds.upper(gap)
        if low is not None and low >= 0:
            return True
        if high is not None and high < 0:
            return False
        raise self._undecided("≥", other)

    def __le__(self, other: Number) -> bool:
        gap = to_poly(other) - self.poly
        low, high = poly_bounds.lower(gap), poly_bounds.upper(gap)
        if low is not None and low >= 0:
            return True
        if high is not None and high < 0:
            return False
        raise self._undecided("≤", other)

    def __bool__(self) -> bool:
        return self.__ne__(0)

    def __repr__(self) -> str:
        return f"Symbolic({self.poly.text})"

    def _undecided(self, relation: str, other: object) -> UndecidedComparison:
        right = other.poly.text if isinstance(other, Symbolic) else str(other)
        return UndecidedComparison(
            f"it depends on the sizes whether {self.poly.text[:60]} {relation} {right[:60]}"
        )

    def names(self) -> set[str]:
        """Return the symbols it depends on."""
        return self.poly.names()

    def evaluate(self, bindings: Mapping[str, int]) -> int:
        """Return the number for sizes >= 1.

        Raises: EvaluationError for a missing or smaller size, or a division by 0.
        """
        return evaluate(self, bindings)


Number = int | Symbolic


def to_poly(value: Number) -> Poly:
    """Return the polynomial of a number."""
    return value.poly if isinstance(value, Symbolic) else Poly.const(int(value))


def wrap(p: Poly) -> Number:
    """Return a polynomial as a number. Raises: UndecidedComparison if it is too large."""
    value = p.as_int()
    if value is not None:
        return value
    if len(p.terms) > MAX_TERMS:
        raise UndecidedComparison(f"the expression has more than {MAX_TERMS} terms")
    for mono, coef in p.terms.items():
        if len(mono) > MAX_DEGREE or not -MAX_COEFFICIENT < coef < MAX_COEFFICIENT:
            raise UndecidedComparison("the expression is too large")
    return Symbolic(p)


def symbol(name: str) -> Symbolic:
    """Return a symbolic size."""
    return Symbolic(Poly.atom(name))


def times(a: Poly, b: Poly) -> Poly:
    """Return the product. Raises: UndecidedComparison if the expansion has too many terms."""
    if len(a.terms) * len(b.terms) > 16 * MAX_TERMS:
        raise UndecidedComparison(f"the expression has more than {MAX_TERMS} terms")
    return a * b


def quotient(num: Poly, den: Poly) -> Number:
    """Return ``num // den``. Raises: UndecidedComparison for a divisor that may be 0 or have either sign."""
    d = den.as_int()
    if d is None:
        low = poly_bounds.lower(den)
        if low is None or low < 1:
            raise UndecidedComparison(f"the divisor {den.text[:60]} may be 0")
    try:
        return wrap(floordiv_poly(num, den))
    except ExprError:
        raise ZeroDivisionError("division by zero") from None


def extreme(largest: bool, a: Number, b: Number) -> Number:
    """Return ``max(a, b)`` or ``min(a, b)``, without arguments that another always covers."""
    try:
        return wrap(poly_bounds.max_or_min(largest, to_poly(a), to_poly(b)))
    except ExprError as error:
        raise UndecidedComparison(str(error)) from None


def ceil_quotient(a: Number, b: Number) -> Number:
    """Return ``a / b`` rounded up, in the canonical form ``(a + b - 1) // b``; ``b`` must be positive."""
    if not b > 0:
        return -(-a // b)
    return (a + b - 1) // b


def evaluate(value: Number, bindings: Mapping[str, int]) -> int:
    """Return the number for sizes >= 1. Raises: EvaluationError."""
    if not isinstance(value, Symbolic):
        return value
    return PolyValues(bindings).of(value.poly)


def as_int(value: Number) -> int:
    """Cast for rules, whose annotations say ``int`` but which may also run on symbolic numbers."""
    return cast(int, value)
