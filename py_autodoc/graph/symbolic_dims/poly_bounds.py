"""Proven bounds of polynomials whose symbols are all at least 1.

The proofs are simple and one-sided: ``None`` means "not shown", never "false". Every symbol ``x`` is
replaced by ``1 + x'``. If then no coefficient except the constant is negative, the constant is a lower
bound. Floor divisions are bounded by the exact quotient where necessary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import lcm

from py_autodoc.graph.symbolic_dims.poly import Atom, ExprError, Extreme, FloorDiv, Monomial, Poly, atom_text
from py_autodoc.graph.symbolic_dims.poly_values import EvaluationError, PolyValues

MAX_WORK = 4096
"""Maximum terms of an expanded shifted polynomial."""
MAX_ARGS = 32
"""Maximum arguments of a maximum or minimum."""
MAX_ROUNDS = 4
"""Maximum nesting of floor divisions that is examined."""


def lower(p: Poly) -> int | None:
    """Return a proven lower bound over all sizes >= 1; None if there is none."""
    quick = _bound_without_subtraction(p)
    if quick is not None:
        return quick
    bound = _shifted(p.terms)
    if bound is None and any(isinstance(a, FloorDiv) for a in p.atoms()):
        bounds = [_relaxed(p, everywhere) for everywhere in (False, True)]
        bound = max((b for b in bounds if b is not None), default=None)
    return bound


def upper(p: Poly) -> int | None:
    """Return a proven upper bound over all sizes >= 1; None if there is none."""
    bound = lower(-p)
    return None if bound is None else -bound


def never_zero(p: Poly) -> bool:
    """True if the value is proven to differ from 0."""
    low = lower(p)
    if low is not None and low > 0:
        return True
    high = upper(p)
    return high is not None and high < 0


def lower_of_atom(a: Atom) -> int | None:
    """Return a proven lower bound of an atom."""
    return 1 if isinstance(a, str) else _lower_inside(a)


@lru_cache(maxsize=4096)
def _lower_inside(a: FloorDiv | Extreme) -> int | None:
    if isinstance(a, FloorDiv):
        num, den = lower(a.num), a.den.as_int()
        if num is None:
            return None
        if den is not None:
            return num // den if den > 0 else None
        positive = lower(a.den)
        return 0 if num >= 0 and positive is not None and positive >= 1 else None
    bounds = [lower(arg) for arg in a.args]
    finite = [bound for bound in bounds if bound is not None]
    if a.largest:
        return max(finite, default=None)
    return min(finite) if len(finite) == len(bounds) else None


def max_or_min(largest: bool, a: Poly, b: Poly) -> Poly:
    """Return ``max(a, b)`` or ``min(a, b)``, without arguments that another always covers.

    Raises: ExprError for too many arguments.
    """
    args = remove_dominated(_nested_arguments(largest, a) + _nested_arguments(largest, b), largest)
    if len(args) == 1:
        return args[0]
    if len(args) > MAX_ARGS:
        raise ExprError(f"the maximum or minimum has more than {MAX_ARGS} parts")
    return Poly.atom(Extreme(largest, args))


def absorb_addend(p: Poly) -> Poly:
    """Rewrite ``max(0, 256 - n) + n`` as ``max(256, n)`` where the result is shorter."""
    for mono, coef in p.terms.items():
        atom = mono[0] if len(mono) == 1 else None
        if coef != 1 or not isinstance(atom, Extreme) or len(p.terms) == 1:
            continue
        addend = p - Poly.atom(atom)
        sums = [arg + addend for arg in atom.args]
        if sum(len(arg.terms) for arg in sums) < len(addend.terms) + sum(len(a.terms) for a in atom.args):
            extreme = sums[0]
            for arg in sums[1:]:
                extreme = max_or_min(atom.largest, extreme, arg)
            return extreme
    return p


def _nested_arguments(largest: bool, p: Poly) -> list[Poly]:
    """Return the arguments of a bare maximum to be nested in a maximum; otherwise the polynomial."""
    if len(p.terms) == 1:
        ((mono, coef),) = p.terms.items()
        if coef == 1 and len(mono) == 1:
            atom = mono[0]
            if isinstance(atom, Extreme) and atom.largest == largest:
                return list(atom.args)
    return [p]


def remove_dominated(polynomials: Sequence[Poly], largest: bool = True, settled: int = 0) -> list[Poly]:
    """Return the polynomials that no other is proven to cover (``>=``; ``<=`` for a minimum), in order.

    The first ``settled`` are known not to cover each other.
    """
    samples = _samples(polynomials, largest)
    sampled = [
        _SampledPoly(p if largest else -p, sample) for p, sample in zip(polynomials, samples, strict=True)
    ]
    dominating = sampled[:settled]
    for candidate in sampled[settled:]:
        if any(other.covers(candidate) for other in dominating):
            continue
        dominating = [other for other in dominating if not candidate.covers(other)]
        dominating.append(candidate)
    return [candidate.poly if largest else -candidate.poly for candidate in dominating]


class _SampledPoly:
    """A polynomial and its values at some points, which refute most claims without a proof."""

    __slots__ = ("poly", "values")

    def __init__(self, poly: Poly, values: tuple[int, ...]) -> None:
        self.poly = poly
        self.values = values

    def covers(self, other: _SampledPoly) -> bool:
        """True if it is proven to be at least ``other`` everywhere."""
        if any(a < b for a, b in zip(self.values, other.values, strict=True)):
            return False
        low = lower(self.poly - other.poly)
        return low is not None and low >= 0


def _samples(polynomials: Sequence[Poly], largest: bool) -> list[tuple[int, ...]]:
    """Return values of each polynomial (negated for a minimum) at some sizes."""
    names = sorted(set().union(*(p.names() for p in polynomials))) if polynomials else []
    assignments = [dict.fromkeys(names, size) for size in (1, 7, 1009)]
    assignments += [{**dict.fromkeys(names, 1), name: 1009} for name in names[:4]]
    columns: list[list[int]] = []
    for assignment in assignments:
        values = PolyValues(assignment)
        try:
            columns.append([values.of(p) * (1 if largest else -1) for p in polynomials])
        except EvaluationError:
            continue
    return list(zip(*columns, strict=True)) if columns else [()] * len(polynomials)


def _bound_without_subtraction(p: Poly) -> int | None:
    """Return the bound if nothing is subtracted: every atom at its minimum."""
    total = 0
    for mono, coef in p.terms.items():
        if coef < 0 and mono:
            return None
        for a in mono:
            if type(a) is not str:
                low = lower_of_atom(a)
                if low is None or low < 0:
                    return None
                coef *= low
        total += coef
    return total


def _shifted(terms: Mapping[Monomial, int]) -> int | None:
    """Return the constant of the polynomial in ``x' = x - least(x)`` if no other coefficient is negative."""
    least: dict[Atom, int] = {}
    work = 0
    for mono in terms:
        work += 1 << min(len(mono), 16)
        for a in mono:
            if a not in least:
                low = lower_of_atom(a)
                if low is None:
                    return None
                least[a] = low
    if work > MAX_WORK:
        return None
    out: dict[Monomial, int] = {}
    for mono, coef in terms.items():
        parts: list[tuple[Monomial, int]] = [((), coef)]
        for a in mono:  # from here on the atom represents a - least(a); the order is kept
            low = least[a]
            parts = [((*m, a), c) for m, c in parts] + [(m, c * low) for m, c in parts if low]
        for m, c in parts:
            out[m] = out.get(m, 0) + c
    constant = out.pop((), 0)
    return constant if all(c >= 0 for c in out.values()) else None


def _relaxed(p: Poly, everywhere: bool) -> int | None:
    """Return the bound after replacing floor divisions by quotients, on the safe side of each term.

    ``n // d`` lies between ``(n - d + 1)/d`` and ``n/d``. Subtracted terms use the upper value; added terms
    keep the atom, or use the lower value with ``everywhere``. ``scale`` keeps the coefficients
    integral.
    """
    terms, scale = p.terms, 1
    for _ in range(MAX_ROUNDS):
        quotient_index = {
            mono: _quotient(mono) if coef < 0 or everywhere else -1 for mono, coef in terms.items()
        }
        divisors = {mono: _divisor(mono[index]) for mono, index in quotient_index.items() if index >= 0}
        if not divisors:
            break
        common = lcm(*divisors.values())
        scale *= common
        out: dict[Monomial, int] = {}
        for mono, coef in terms.items():
            index = quotient_index[mono]
            if index < 0:
                out[mono] = out.get(mono, 0) + coef * common
                continue
            other_atoms = mono[:index] + mono[index + 1 :]
            if not all(map(not_negative, other_atoms)):
                return None
            d, atom = divisors[mono], mono[index]
            assert isinstance(atom, FloorDiv)
            inner = atom.num - Poly.const(d - 1) if coef > 0 else atom.num
            for m, c in inner.terms.items():
                key = tuple(sorted(m + other_atoms, key=atom_text))
                out[key] = out.get(key, 0) + coef * c * (common // d)
        terms = {m: c for m, c in out.items() if c}
        if len(terms) > MAX_WORK:
            return None
    bound = _shifted(terms)
    return None if bound is None else -(-bound // scale)


def _divisor(a: Atom) -> int:
    return (a.den.as_int() or 1) if isinstance(a, FloorDiv) else 1


def _quotient(mono: Monomial) -> int:
    """Return the index of the first floor division by a positive number in the term, -1 if none."""
    for i, a in enumerate(mono):
        if isinstance(a, FloorDiv) and (a.den.as_int() or 0) > 0:
            return i
    return -1


def not_negative(a: Atom) -> bool:
    """True if an atom is proven to be at least 0."""
    low = lower_of_atom(a)
    return low is not None and low >= 0
