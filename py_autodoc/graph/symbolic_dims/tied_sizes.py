"""Linear ties between dimensions, required for the model to run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from py_autodoc.graph.symbolic_dims.poly import Poly
from py_autodoc.graph.symbolic_dims.size_search import Constraint

_TOTAL = re.compile(r"total.*(seq|len)", re.I)
_PAST = re.compile(r"past.*(seq|len)", re.I)
_NEW = re.compile(r"^(seq|sequence)(_?len(gth)?)?$", re.I)


@dataclass(frozen=True, slots=True)
class TiedSizes:
    """The model runs only if ``symbol`` equals ``plus`` and the sum of sizes times their factors."""

    symbol: str
    factors: Mapping[str, int]
    plus: int = 0

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """True if the tie holds for these sizes, which include all its symbols."""
        return sizes[self.symbol] == self.plus + sum(f * sizes[name] for name, f in self.factors.items())

    def missing(self, sizes: Mapping[str, int]) -> tuple[str, int] | None:
        """Return (symbol, size) of the only symbol without a size, if the result is a valid size."""
        factors = {self.symbol: -1, **self.factors}
        open_ = [name for name in factors if name not in sizes]
        if len(open_) != 1:
            return None
        factor = factors.pop(open_[0])
        total = self.plus + sum(f * sizes[name] for name, f in factors.items())
        size = -total // factor
        return (open_[0], size) if size >= 0 and size * factor == -total else None


def ties(constraints: Sequence[Constraint], symbols: Iterable[str]) -> list[TiedSizes]:
    """Solve linear equations between symbols; the symbol of a tie does not occur in other ties' sums."""
    order = {name: index for index, name in enumerate(symbols)}
    solved: dict[str, Poly] = {}
    for constraint in constraints:
        p = constraint.zero[0] if constraint.zero else None
        if p is None or not _is_linear(p):
            continue
        p = _substituted(p, solved)
        pivot = _pivot(p, order)
        if not pivot:
            continue
        if len(constraint.zero) > 1 and len(p.names()) < 2:
            continue  # the size may also be broadcast
        coef = p.terms[(pivot,)]
        value = Poly({m: -c * coef for m, c in p.terms.items() if m != (pivot,)})
        solved = {name: _substituted(q, {pivot: value}) for name, q in solved.items()}
        solved[pivot] = value
    return [
        TiedSizes(
            name, {m[0]: c for m, c in p.terms.items() if m and isinstance(m[0], str)}, p.terms.get((), 0)
        )
        for name, p in solved.items()
    ]


def _is_linear(p: Poly) -> bool:
    return all(len(m) <= 1 and (not m or isinstance(m[0], str)) for m in p.terms) and bool(p.names())


def _substituted(p: Poly, solved: Mapping[str, Poly]) -> Poly:
    total = Poly({})
    for m, c in p.terms.items():
        replacement = solved.get(m[0]) if m and isinstance(m[0], str) else None
        total = total + (Poly.const(c) * replacement if replacement is not None else Poly({m: c}))
    return total


def by_name(symbols: Iterable[str]) -> list[TiedSizes]:
    """Tie ``total_sequence_length`` to past and new tokens, if operators do not state it."""
    names = list(symbols)
    totals = [name for name in names if _TOTAL.search(name)]
    past = [name for name in names if _PAST.search(name) and name not in totals]
    new = [name for name in names if _NEW.search(name) and name not in (*totals, *past)]
    if len(past) != 1 or len(new) != 1:
        return []
    return [TiedSizes(name, {past[0]: 1, new[0]: 1}) for name in totals]


def probe_ties(
    alike: Sequence[str], sizes: Mapping[str, int], runs: Callable[[Mapping[str, int]], bool]
) -> list[TiedSizes]:
    """Find symbols of equal meaning that only run with the same size, by varying the sizes."""
    tied: list[TiedSizes] = []
    candidates = list(alike)
    while len(candidates) > 1:
        first = candidates.pop(0)
        changed_size = sizes[first] + 1
        together = {**sizes, **dict.fromkeys([first, *candidates], changed_size)}
        if runs({**sizes, first: changed_size}) or not runs(together):
            continue
        moving = [name for name in candidates if not runs({**together, name: sizes[name]})]
        tied += [TiedSizes(name, {first: 1}) for name in moving]
        candidates = [name for name in candidates if name not in moving]
    return tied


def _pivot(p: Poly, order: Mapping[str, int]) -> str:
    """Return the symbol to solve for: prefer a sum of others to a difference, and late symbols to early."""
    names = [m[0] for m, c in p.terms.items() if m and isinstance(m[0], str) and abs(c) == 1]

    def rank(name: str) -> tuple[int, int]:
        coef = p.terms[(name,)]
        negative = sum(1 for m, c in p.terms.items() if m and m != (name,) and -c * coef < 0)
        return negative, -order.get(name, 0)

    return min(names, key=rank, default="")
