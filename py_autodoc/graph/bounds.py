"""What can be proved of a polynomial when every symbol is a size of at least 1.

The proofs are simple and one-sided: ``None`` means "not shown", never "false". Every symbol ``x`` is
written as ``1 + x'``; when no coefficient but the constant is negative then, the constant is a lower
bound. Floor divisions are bounded by the exact quotient where that is needed.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from py_autodoc.graph.poly import Atom, FloorDiv, Monomial, Poly, atom_text

MAX_WORK = 4096
"""Most terms that writing out the shifted polynomial may take."""
MAX_ROUNDS = 4
"""How deep floor divisions inside floor divisions are looked through."""

Terms = dict[Monomial, int | Fraction]


def lower(p: Poly) -> int | None:
    """A proven lower bound over all sizes >= 1; None when there is none."""
    quick = _plain(p)
    if quick is not None:
        return quick
    bound = _shifted(dict(p.terms))
    if bound is None and any(isinstance(a, FloorDiv) for a in p.atoms()):
        bounds = [_relaxed(p, everywhere) for everywhere in (False, True)]
        bound = max((b for b in bounds if b is not None), default=None)
    return None if bound is None else ceil(bound)


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
    if isinstance(a, str):
        return 1
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


def _shifted(terms: Terms) -> int | Fraction | None:
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
    out: Terms = {}
    for mono, coef in terms.items():
        parts: list[tuple[Monomial, int | Fraction]] = [((), coef)]
        for a in mono:  # the atom stands for a - least(a) from here on; the order is kept
            low = least[a]
            parts = [((*m, a), c) for m, c in parts] + [(m, c * low) for m, c in parts if low]
        for m, c in parts:
            out[m] = out.get(m, 0) + c
    constant = out.pop((), 0)
    return constant if all(c >= 0 for c in out.values()) else None


def _relaxed(p: Poly, everywhere: bool) -> int | Fraction | None:
    """The bound after replacing floor divisions by quotients, on the safe side of each term.

    ``n // d`` lies between ``(n - d + 1)/d`` and ``n/d``. Terms that are subtracted take the upper
    one; terms that are added keep the atom, or take the lower one with ``everywhere``.
    """
    terms: Terms = dict(p.terms)
    for _ in range(MAX_ROUNDS):
        replaced = False
        out: Terms = {}
        for mono, coef in terms.items():
            at = _quotient(mono) if coef < 0 or everywhere else -1
            if at < 0:
                out[mono] = out.get(mono, 0) + coef
                continue
            atom = mono[at]
            assert isinstance(atom, FloorDiv)
            rest = mono[:at] + mono[at + 1 :]
            if not all(map(_not_negative, rest)):
                return None
            d = atom.den.as_int() or 1
            inner = dict(atom.num.terms)
            if coef > 0:
                inner[()] = inner.get((), 0) - (d - 1)
            replaced = True
            for m, c in inner.items():
                key = tuple(sorted(m + rest, key=atom_text))
                out[key] = out.get(key, 0) + Fraction(coef * c) / d
        terms = {m: c for m, c in out.items() if c}
        if len(terms) > MAX_WORK:
            return None
        if not replaced:
            break
    return _shifted(terms)


def _quotient(mono: Monomial) -> int:
    """The first floor division by a positive number in the term, -1 for none."""
    for i, a in enumerate(mono):
        if isinstance(a, FloorDiv) and (a.den.as_int() or 0) > 0:
            return i
    return -1


def _not_negative(a: Atom) -> bool:
    low = lower_of_atom(a)
    return low is not None and low >= 0
