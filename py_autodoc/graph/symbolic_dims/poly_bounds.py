"""What can be proved of a polynomial when every symbol is a size of at least 1.

The proofs are simple and one-sided: ``None`` means "not shown", never "false". Every symbol ``x`` is
written as ``1 + x'``; when no coefficient but the constant is negative then, the constant is a lower
bound. Floor divisions are bounded by the exact quotient where that is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import lcm

from py_autodoc.graph.symbolic_dims.poly import Atom, ExprError, Extreme, FloorDiv, Monomial, Poly, atom_text
from py_autodoc.graph.symbolic_dims.poly_values import EvaluationError, PolyValues

MAX_WORK = 4096
"""Most terms that writing out the shifted polynomial may take."""
MAX_ARGS = 32
"""Most arguments of a maximum or minimum."""
MAX_ROUNDS = 4
"""How deep floor divisions inside floor divisions are looked through."""


def lower(p: Poly) -> int | None:
    """A proven lower bound over all sizes >= 1; None when there is none."""
    quick = _plain(p)
    if quick is not None:
        return quick
    bound = _shifted(p.terms)
    if bound is None and any(isinstance(a, FloorDiv) for a in p.atoms()):
        bounds = [_relaxed(p, everywhere) for everywhere in (False, True)]
        bound = max((b for b in bounds if b is not None), default=None)
    return bound


def upper(p: Poly) -> int | None:
    """A proven upper bound over all sizes >= 1; None when there is none."""
    bound = lower(-p)
    return None if bound is None else -bound


def never_zero(p: Poly) -> bool:
    """True when the value is proven to differ from 0."""
    low = lower(p)
    if low is not None and low > 0:
        return True
    high = upper(p)
    return high is not None and high < 0


def lower_of_atom(a: Atom) -> int | None:
    """A proven lower bound of one atom."""
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
    known = [lower(part) for part in a.args]
    found = [bound for bound in known if bound is not None]
    if a.largest:
        return max(found, default=None)
    return min(found) if len(found) == len(known) else None


def max_or_min(largest: bool, a: Poly, b: Poly) -> Poly:
    """``max(a, b)`` or ``min(a, b)``, without what the other one always covers.

    Raises: ExprError for one of too many parts.
    """
    kept = undominated(_flat(largest, a) + _flat(largest, b), largest)
    if len(kept) == 1:
        return kept[0]
    if len(kept) > MAX_ARGS:
        raise ExprError(f"the maximum or minimum has more than {MAX_ARGS} parts")
    return Poly.atom(Extreme(largest, kept))


def absorbed(p: Poly) -> Poly:
    """``max(0, 256 - n) + n`` as ``max(256, n)``: a sum drawn into an extreme where that is shorter."""
    for mono, coef in p.terms.items():
        atom = mono[0] if len(mono) == 1 else None
        if coef != 1 or not isinstance(atom, Extreme) or len(p.terms) == 1:
            continue
        rest = p - Poly.atom(atom)
        parts = [part + rest for part in atom.args]
        if sum(len(part.terms) for part in parts) < len(rest.terms) + sum(len(a.terms) for a in atom.args):
            drawn = parts[0]
            for part in parts[1:]:
                drawn = max_or_min(atom.largest, drawn, part)
            return drawn
    return p


def _flat(largest: bool, p: Poly) -> list[Poly]:
    """The arguments of a bare maximum, for a maximum of it; the polynomial otherwise."""
    if len(p.terms) == 1:
        ((mono, coef),) = p.terms.items()
        if coef == 1 and len(mono) == 1:
            atom = mono[0]
            if isinstance(atom, Extreme) and atom.largest == largest:
                return list(atom.args)
    return [p]


def undominated(parts: Sequence[Poly], largest: bool = True, settled: int = 0) -> list[Poly]:
    """Those that no other one is proven to cover (``>=``; ``<=`` for a minimum), in their order.

    The first ``settled`` are known not to cover each other.
    """
    samples = _samples(parts, largest)
    sampled = [_SampledPoly(p if largest else -p, at) for p, at in zip(parts, samples, strict=True)]
    kept = sampled[:settled]
    for part in sampled[settled:]:
        if any(other.covers(part) for other in kept):
            continue
        kept = [other for other in kept if not part.covers(other)]
        kept.append(part)
    return [part.poly if largest else -part.poly for part in kept]


class _SampledPoly:
    """A polynomial and its values at a few places, which refute most claims without a proof."""

    __slots__ = ("poly", "values")

    def __init__(self, poly: Poly, values: tuple[int, ...]) -> None:
        self.poly = poly
        self.values = values

    def covers(self, other: _SampledPoly) -> bool:
        """True when it is proven to be at least ``other`` everywhere."""
        if any(a < b for a, b in zip(self.values, other.values, strict=True)):
            return False
        low = lower(self.poly - other.poly)
        return low is not None and low >= 0


def _samples(parts: Sequence[Poly], largest: bool) -> list[tuple[int, ...]]:
    """Values of each polynomial (of its opposite for a minimum) at a few sizes."""
    names = sorted(set().union(*(part.names() for part in parts))) if parts else []
    places = [dict.fromkeys(names, size) for size in (1, 7, 1009)]
    places += [{**dict.fromkeys(names, 1), name: 1009} for name in names[:4]]
    columns: list[list[int]] = []
    for place in places:
        values = PolyValues(place)
        try:
            columns.append([values.of(part) * (1 if largest else -1) for part in parts])
        except EvaluationError:
            continue
    return list(zip(*columns, strict=True)) if columns else [()] * len(parts)


def _plain(p: Poly) -> int | None:
    """The bound when nothing is subtracted: every atom at its least."""
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
    """The constant of the polynomial in ``x' = x - least(x)``, when no other coefficient is negative."""
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
        for a in mono:  # the atom stands for a - least(a) from here on; the order is kept
            low = least[a]
            parts = [((*m, a), c) for m, c in parts] + [(m, c * low) for m, c in parts if low]
        for m, c in parts:
            out[m] = out.get(m, 0) + c
    constant = out.pop((), 0)
    return constant if all(c >= 0 for c in out.values()) else None


def _relaxed(p: Poly, everywhere: bool) -> int | None:
    """The bound after replacing floor divisions by quotients, on the safe side of each term.

    ``n // d`` lies between ``(n - d + 1)/d`` and ``n/d``. Terms that are subtracted take the upper
    one; terms that are added keep the atom, or take the lower one with ``everywhere``. ``scale`` keeps
    the coefficients whole.
    """
    terms, scale = p.terms, 1
    for _ in range(MAX_ROUNDS):
        places = {mono: _quotient(mono) if coef < 0 or everywhere else -1 for mono, coef in terms.items()}
        divisors = {mono: _divisor(mono[at]) for mono, at in places.items() if at >= 0}
        if not divisors:
            break
        common = lcm(*divisors.values())
        scale *= common
        out: dict[Monomial, int] = {}
        for mono, coef in terms.items():
            at = places[mono]
            if at < 0:
                out[mono] = out.get(mono, 0) + coef * common
                continue
            rest = mono[:at] + mono[at + 1 :]
            if not all(map(not_negative, rest)):
                return None
            d, atom = divisors[mono], mono[at]
            assert isinstance(atom, FloorDiv)
            inner = atom.num - Poly.const(d - 1) if coef > 0 else atom.num
            for m, c in inner.terms.items():
                key = tuple(sorted(m + rest, key=atom_text))
                out[key] = out.get(key, 0) + coef * c * (common // d)
        terms = {m: c for m, c in out.items() if c}
        if len(terms) > MAX_WORK:
            return None
    bound = _shifted(terms)
    return None if bound is None else -(-bound // scale)


def _divisor(a: Atom) -> int:
    return (a.den.as_int() or 1) if isinstance(a, FloorDiv) else 1


def _quotient(mono: Monomial) -> int:
    """The first floor division by a positive number in the term, -1 for none."""
    for i, a in enumerate(mono):
        if isinstance(a, FloorDiv) and (a.den.as_int() or 0) > 0:
            return i
    return -1


def not_negative(a: Atom) -> bool:
    """True when an atom is proven to be at least 0."""
    low = lower_of_atom(a)
    return low is not None and low >= 0
