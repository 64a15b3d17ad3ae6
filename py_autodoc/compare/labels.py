"""Labels of units from the operator itself and its surroundings, without names.

Labels are small integers shared by two models: equal labels mean equal keys, without hash collisions.
"""

from __future__ import annotations

from collections.abc import Hashable

from py_autodoc.compare.meaning import COMMUTATIVE
from py_autodoc.compare.units import ContractedGraph

ROUNDS = 6
"""Radius of the neighbourhood labels."""
Labels = list[int]


class Book:
    """Assigns integers to keys; one instance for all compared models."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def number(self, key: Hashable) -> int:
        """Return the integer for a key."""
        return self._known.setdefault(key, len(self._known))


class Around:
    """Consumers of units, and labels by surroundings. ``own`` is each unit's label by itself."""

    def __init__(self, graph: ContractedGraph, own: Labels, book: Book, outer: list[Hashable]) -> None:
        self.graph = graph
        self.own = own
        self.book = book
        self.outer = [-2 - book.number(("outer", key)) for key in outer]
        self.ins = [unit.ins for unit in graph.units]
        self.sorted = [unit.core in COMMUTATIVE for unit in graph.units]
        self.readers = readers(graph)

    def forward(self) -> Labels:
        """Return labels by everything upstream of a unit."""
        number, outer = self.book.number, self.outer
        found: Labels = []
        for at, ins in enumerate(self.ins):
            made = [found[i] if 0 <= i < at else -1 if i >= 0 else outer[-2 - i] for i in ins]
            if self.sorted[at]:
                made.sort()
            found.append(number((self.own[at], *made)))
        return found

    def backward(self) -> Labels:
        """Return labels by everything downstream of a unit."""
        number = self.book.number
        found: Labels = [-1] * len(self.ins)
        for at in range(len(self.ins) - 1, -1, -1):
            led = sorted([(place, found[reader]) for place, reader in self.readers[at]])
            found[at] = number((self.own[at], "leads", *led))
        return found

    def near(self, rounds: int = ROUNDS) -> list[Labels]:
        """Return labels by the units within 1, 2 … ``rounds`` edges in both directions."""
        number, outer = self.book.number, self.outer
        last, found = self.own, []
        for _ in range(rounds):
            made: Labels = []
            for at, ins in enumerate(self.ins):
                read = [last[i] if i >= 0 else outer[-2 - i] for i in ins]
                if self.sorted[at]:
                    read.sort()
                led = [last[reader] for _, reader in self.readers[at]]
                if len(led) > 1:
                    led.sort()
                made.append(number((last[at], *read, -1, *led)))
            found.append(made)
            last = made
        return found


def readers(graph: ContractedGraph) -> list[list[tuple[int, int]]]:
    """Return (operand, consumer) per unit; operands of commutative operators count as one."""
    found: list[list[tuple[int, int]]] = [[] for _ in graph.units]
    for at, unit in enumerate(graph.units):
        free = unit.core in COMMUTATIVE
        for place, made in enumerate(unit.ins):
            if made >= 0:
                found[made].append((0 if free else place, at))
    return found


def plain_labels(graph: ContractedGraph, book: Book) -> Labels:
    """Return labels by operator and dimensions of its stored matrix."""
    return [book.number((unit.core, unit.weight)) for unit in graph.units]


def kinds(graph: ContractedGraph) -> list[Hashable]:
    """Return external inputs by their kind alone."""
    return [kind for kind, _ in graph.leaves]


def places(graph: ContractedGraph) -> list[Hashable]:
    """Return the same including the position among the inputs."""
    return list(graph.leaves)
