"""Peak memory as an expression: the maximum of the live sums that no other sum always covers.

The sweep is that of ``costs.liveness``, but collects sums instead of comparing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from py_autodoc.costs.liveness import GraphLifetimes, LivenessSweep
from py_autodoc.costs.symbolic import Number, Symbolic, UndecidedComparison, UnknownSize, to_poly, wrap
from py_autodoc.graph.ir.model import Model, Node
from py_autodoc.graph.symbolic_dims.poly import Extreme, Poly
from py_autodoc.graph.symbolic_dims.poly_bounds import MAX_ARGS, not_negative, remove_dominated

PEAKS = ("simple", "inplace")
MAX_DIFFER = 16
"""Maximum conditions on the sizes for the in-place peak."""
MAX_PENDING = 8
"""Number of new candidates kept before covered ones are dropped."""


@dataclass(slots=True)
class Peaks:
    """The peaks by name (``PEAKS``), reasons for missing ones, and values that must not be 0 in place."""

    values: dict[str, Number | None]
    reasons: dict[str, str]
    differ: list[Poly] = field(default_factory=list)


def peaks(model: Model, sizes: Sequence[Number | None]) -> Peaks:
    """Return the peak memory from the bytes of every tensor, by tensor id."""
    for tensor in model.tensors:
        if sizes[tensor.id] is None and not tensor.is_constant:
            why = f"the size of {tensor.name or f'tensor {tensor.id}'} is not an expression"
            return Peaks(dict.fromkeys(PEAKS), dict.fromkeys(PEAKS, why))
    result = Peaks({}, {})
    size: list[Any] = [
        0 if n is None else n if isinstance(n, int) else _Size(n.poly, result.differ) for n in sizes
    ]
    plans = [GraphLifetimes(model, graph) for graph in model.graphs]
    for name in PEAKS:
        try:
            result.values[name] = _peak(plans, size, in_place=name == "inplace")
            if len(result.differ) > MAX_DIFFER:
                raise UndecidedComparison(
                    f"who takes over whose memory depends on more than {MAX_DIFFER} conditions"
                )
        except UnknownSize as error:
            result.values[name], result.reasons[name] = None, str(error)
            result.differ.clear()
    return result


class _Size(Symbolic):
    """A size that compares unequal to any other expression.

    A broadcast operand and its result have equal sizes only if the broadcast dimensions are 1. The
    differences are recorded as polynomials that must not be 0.
    """

    __slots__ = ("differ",)
    __hash__ = None

    def __init__(self, poly: Poly, differ: list[Poly]) -> None:
        super().__init__(poly)
        self.differ = differ

    def __eq__(self, other: object) -> bool:
        try:
            return super().__eq__(other)
        except UndecidedComparison:
            if not isinstance(other, (int, Symbolic)):
                raise
            gap = self.poly - to_poly(other)
            if gap not in self.differ and -gap not in self.differ and len(self.differ) <= MAX_DIFFER:
                self.differ.append(gap)
            return False


def _peak(plans: list[GraphLifetimes], size: list[Any], in_place: bool) -> Number:
    """Return one peak. Raises: UndecidedComparison."""
    fronts: list[Any] = [[] for _ in plans]
    """By graph: the sums whose maximum is its peak."""
    for graph in reversed(range(len(plans))):  # subgraphs before their owner
        candidates = PeakCandidates()
        if in_place:
            plans[graph].inplace(size, fronts, {}, candidates)
        else:
            plans[graph].simple(size, fronts, candidates)
        fronts[graph] = candidates.pruned()
    parts = fronts[0]
    return wrap(parts[0]) if len(parts) == 1 else Symbolic(Poly.atom(Extreme(True, parts)))


class PeakCandidates(LivenessSweep):
    """Collects the sums whose maximum is the peak."""

    def __init__(self) -> None:
        super().__init__()
        self.settled: list[Poly] = []
        """Sums that do not cover each other."""
        self.parts: list[Poly] = []
        """New candidates."""

    def begin(self, live: Number) -> None:
        """Start with ``live`` bytes before the first node."""
        self.parts.append(to_poly(live))

    def record(self, live: Number, step: int, node: int) -> None:
        """Record ``live`` bytes with the outputs of ``node`` allocated and its inputs not yet freed."""
        self._offer(to_poly(live))

    def inside(self, live: Number, step: int, node: Node, bodies: Sequence[Any]) -> None:
        """Record every sum inside the subgraphs of ``node``, in addition to ``live`` outer bytes."""
        outside = to_poly(live)
        for _, graph in node.subgraphs:
            for inner in bodies[graph]:
                self._offer(outside + inner)

    def _offer(self, candidate: Poly) -> None:
        for parts in (self.settled, self.parts):
            for index, sum_so_far in enumerate(parts):
                if termwise_covers(sum_so_far, candidate):
                    if index:  # a sum that covers one step often covers the next
                        parts.insert(0, parts.pop(index))
                    return
                if termwise_covers(candidate, sum_so_far):
                    parts[index] = candidate
                    return
        self.parts.append(candidate)
        if len(self.parts) > MAX_PENDING + len(self.settled):
            self.pruned()

    def pruned(self) -> list[Poly]:
        """Return the sums that no other always covers. Raises: UndecidedComparison if there are too many."""
        self.settled = remove_dominated(self.settled + self.parts, settled=len(self.settled))
        self.parts = []
        if len(self.settled) > MAX_ARGS:
            raise UndecidedComparison(f"the peak is the maximum of more than {MAX_ARGS} sums")
        return self.settled


def termwise_covers(a: Poly, b: Poly) -> bool:
    """True if no coefficient of ``a - b`` is negative and no atom can be: a cheap proof of ``a >= b``."""
    a_terms, b_terms = a.terms, b.terms
    for mono, coef in b_terms.items():
        if a_terms.get(mono, 0) < coef:
            return False
    uncovered = [mono for mono, coef in a_terms.items() if coef != b_terms.get(mono, 0)]
    if any(a_terms[mono] < b_terms.get(mono, 0) for mono in uncovered):
        return False
    return all(type(atom) is str or not_negative(atom) for mono in uncovered for atom in mono)
