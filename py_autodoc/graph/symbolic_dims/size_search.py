"""Backtracking search, with bounded work, for symbol values that satisfy equations.

Symbols try their proposals in order; a symbol determined by an equation takes its solutions. After a
failure, the search returns to the latest choice that the failure depends on, not simply the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from py_autodoc.graph.symbolic_dims.poly import Poly
from py_autodoc.graph.symbolic_dims.poly_values import EvaluationError, PolyValues

MAX_SIZE = 1 << 22
"""Maximum size for which an equation is solved."""
MAX_STEPS = 20_000
"""Maximum sizes tried in one search."""
Conflict = frozenset[str]
Check = Callable[[Mapping[str, int]], Conflict | None]
"""None if the model runs at these sizes, else the symbols with wrong sizes."""


class SearchStopped(Exception):
    """Raised by a check to end the search."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """One of ``zero`` is 0, or ``positive`` is at least 1 (the other is empty or None)."""

    names: frozenset[str]
    zero: tuple[Poly, ...] = ()
    positive: Poly | None = None

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """True if the constraint holds for these sizes, which include all its names."""
        values = PolyValues(sizes, 0)
        try:
            if self.positive is not None:
                return values.of(self.positive) >= 1
            return any(values.of(p) == 0 for p in self.zero)
        except EvaluationError:
            return False


def equal(*zero: Poly) -> Constraint:
    """Require one of the polynomials to be 0."""
    return Constraint(frozenset().union(*(p.names() for p in zero)), zero)


def at_least_one(p: Poly) -> Constraint:
    """Require the polynomial to be at least 1."""
    return Constraint(frozenset(p.names()), (), p)


class SizeSearch:
    """A search. ``proposals`` maps symbols, in the order of choosing, to sizes, best first."""

    def __init__(
        self,
        proposals: Mapping[str, Sequence[int]],
        constraints: Iterable[Constraint],
        fixed: Mapping[str, int],
        check: Check,
    ) -> None:
        self.proposals = proposals
        self.sizes = dict(fixed)
        self.check = check
        self.steps = MAX_STEPS
        self.constraints_by_name: dict[str, list[Constraint]] = {name: [] for name in proposals}
        names = set(proposals) | set(fixed)
        for constraint in constraints:
            if constraint.names <= names:
                for name in constraint.names & set(proposals):
                    self.constraints_by_name[name].append(constraint)

    def run(self) -> dict[str, int] | None:
        """Return sizes that pass the check, or None. Propagates exceptions of the check."""
        return dict(self.sizes) if self._choose() is None else None

    def _choose(self) -> Conflict | None:
        """Return None if all symbols have fitting sizes, else the symbols responsible."""
        name, deciding = self._next()
        if not name:
            return self.check(self.sizes)
        candidates = self._solved(name, deciding) if deciding else self.proposals[name]
        conflicting: set[str] = set()
        for constraint in deciding:
            conflicting |= constraint.names
        for size in candidates:
            self.steps -= 1
            if self.steps < 0:
                break
            self.sizes[name] = size
            broken = self._violated_names(name)
            if broken:
                conflicting |= broken
                continue
            conflict = self._choose()
            if conflict is None:
                return None
            if name not in conflict:
                del self.sizes[name]
                return conflict
            conflicting |= conflict
        self.sizes.pop(name, None)
        return frozenset(conflicting - {name})

    def _next(self) -> tuple[str, list[Constraint]]:
        """Return the next symbol and the equations that determine it; "" if all have sizes."""
        first = ""
        for name in self.proposals:
            if name in self.sizes:
                continue
            first = first or name
            deciding = [c for c in self.constraints_by_name[name] if c.zero and self._last(c, name)]
            if deciding:
                return name, deciding
        return first, []

    def _last(self, constraint: Constraint, name: str) -> bool:
        return all(n == name or n in self.sizes for n in constraint.names)

    def _solved(self, name: str, deciding: list[Constraint]) -> list[int]:
        """Return solutions of the equation with the fewest; the proposals if any size satisfies them all."""
        best: list[int] | None = None
        for constraint in deciding:
            roots = self._roots(name, constraint)
            if roots is not None and (best is None or len(roots) < len(best)):
                best = roots
        return list(self.proposals[name]) if best is None else best

    def _roots(self, name: str, constraint: Constraint) -> list[int] | None:
        """Return sizes that satisfy an equation, typical ones first; None if all do."""
        roots: dict[int, None] = {}
        proposed = self.proposals[name]
        for p in constraint.zero:
            exact_roots = linear_root(p, name, self.sizes)
            if exact_roots is None:
                fitting = [size for size in proposed if self._is_root(p, name, size)]
                if len(fitting) == len(proposed):
                    return None
                roots.update(dict.fromkeys(fitting))
                exact_roots = root_range(p, name, self.sizes)
            roots.update(dict.fromkeys(exact_roots))
        return list(roots)

    def _is_root(self, p: Poly, name: str, size: int) -> bool:
        try:
            return PolyValues({**self.sizes, name: size}, 0).of(p) == 0
        except EvaluationError:
            return False

    def _violated_names(self, name: str) -> Conflict:
        """Return the names of a constraint violated by the newest size; empty if none."""
        for constraint in self.constraints_by_name[name]:
            if self._last(constraint, name) and not constraint.holds(self.sizes):
                return constraint.names
        return frozenset()


def linear_root(p: Poly, name: str, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the size for which ``p`` is 0 (empty if none); None if ``p`` is not linear in ``name``."""
    factor: dict[tuple[object, ...], int] = {}
    constant_terms = dict(p.terms)
    for mono, coef in p.terms.items():
        occurrences = [a for a in mono if a == name]
        inside = any(not isinstance(a, str) and name in Poly.atom(a).names() for a in mono)
        if inside or len(occurrences) > 1:
            return None
        if occurrences:
            factor[tuple(a for a in mono if a != name)] = coef
            del constant_terms[mono]
    values = PolyValues(sizes, 0)
    try:
        slope, shift = values.of(Poly(factor)), values.of(Poly(constant_terms))  # type: ignore[arg-type]
    except EvaluationError:
        return ()
    if slope == 0:
        return None if shift == 0 else ()
    size = -shift // slope
    return (size,) if size * slope == -shift and 0 <= size <= MAX_SIZE else ()


def root_range(p: Poly, name: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return sizes where ``p``, assumed to be monotonic, is 0: the roundest, the first and the last."""

    def value(size: int) -> int:
        return PolyValues({**sizes, name: size}, 0).of(p)

    try:
        start, end = value(1), value(MAX_SIZE)
        if start == end or ((start > 0) == (end > 0) and start and end):
            return ()
        sign = 1 if end > start else -1
        first = _first(lambda size: sign * value(size) >= 0)
        after = _first(lambda size: sign * value(size) > 0)
        if first >= after or value(first) != 0:
            return ()
        return tuple(dict.fromkeys((roundest(first, after - 1), first, after - 1)))
    except EvaluationError:
        return ()


def _first(condition: Callable[[int], bool]) -> int:
    """Return the smallest size in 1…``MAX_SIZE`` + 1 that satisfies a monotonic condition."""
    low, high = 1, MAX_SIZE + 1
    while low < high:
        middle = (low + high) // 2
        if condition(middle):
            high = middle
        else:
            low = middle + 1
    return low


def roundest(low: int, high: int) -> int:
    """Return the number in a range divisible by the highest power of 2, smallest first."""
    step = 1
    while -(-low // (2 * step)) * 2 * step <= high:
        step *= 2
    return -(-low // step) * step
