"""Labels of units: what a unit is by itself, and by what lies around it, with no name in them.

Labels are small numbers that two models share: equal labels mean equal, whatever hashes do.
"""

from __future__ import annotations

from collections.abc import Hashable

from py_autodoc.compare.meaning import COMMUTATIVE
from py_autodoc.compare.units import ContractedGraph

ROUNDS = 6
"""How far a label sees."""
Labels = list[int]


class Book:
    """Numbers for keys; one book for all models that are compared."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def number(self, key: Hashable) -> int:
        """The number of a key."""
        return self._known.setdefault(key, len(self._known))


class Around:
    """Who reads whom, and the labels by what lies around a unit. ``own`` is the label of each by itself."""

    def __init__(self, graph: ContractedGraph, own: Labels, book: Book, outer: list[Hashable]) -> None:
        self.graph = graph
        self.own = own
        self.book = book
        self.outer = [-2 - book.number(("outer", key)) for key in outer]
        self.ins = [unit.ins for unit in graph.units]
        self.sorted = [unit.core in COMMUTATIVE for unit in graph.units]
        self.readers = readers(graph)

    def forward(self) -> Labels:
        """By everything that leads to a unit."""
        number, outer = self.book.number, self.outer
        found: Labels = []
        for at, ins in enumerate(self.ins):
            made = [found[i] if 0 <= i < at else -1 if i >= 0 else outer[-2 - i] for i in ins]
            if self.sorted[at]:
                made.sort()
            found.append(number((self.own[at], *made)))
        return found

    def backward(self) -> Labels:
        """By everything that a unit leads to."""
        number = self.book.number
        found: Labels = [-1] * len(self.ins)
        for at in range(len(self.ins) - 1, -1, -1):
            led = sorted([(place, found[reader]) for place, reader in self.readers[at]])
            found[at] = number((self.own[at], "leads", *led))
        return found

    def near(self, rounds: int = ROUNDS) -> list[Labels]:
        """By what lies within 1, 2 … ``rounds`` wires, in both directions."""
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
    """Unit → (operand, reader) of those that read it; operands of commutative operators count as one."""
    found: list[list[tuple[int, int]]] = [[] for _ in graph.units]
    for at, unit in enumerate(graph.units):
        free = unit.core in COMMUTATIVE
        for place, made in enumerate(unit.ins):
            if made >= 0:
                found[made].append((0 if free else place, at))
    return found


def plain_labels(graph: ContractedGraph, book: Book) -> Labels:
    """The operator and the sizes of its stored matrix."""
    return [book.number((unit.core, unit.weight)) for unit in graph.units]


def kinds(graph: ContractedGraph) -> list[Hashable]:
    """What comes from outside, by its kind alone."""
    return [kind for kind, _ in graph.leaves]


def places(graph: ContractedGraph) -> list[Hashable]:
    """The same with the place among the inputs."""
    return list(graph.leaves)
