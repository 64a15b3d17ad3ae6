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


class LabelNumbering:
    """Assigns integers to keys; one instance for all compared models."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable) -> int:
        """Return the integer for a key."""
        return self._numbers.setdefault(key, len(self._numbers))


class Surroundings:
    """Consumers of units, and labels by surroundings. ``labels`` are those of the units by themselves."""

    def __init__(
        self, graph: ContractedGraph, labels: Labels, numbering: LabelNumbering, leaves: list[Hashable]
    ) -> None:
        self.graph = graph
        self.labels = labels
        self.numbering = numbering
        self.leaf_labels = [-2 - numbering.number(("outer", key)) for key in leaves]
        self.sources = [unit.sources for unit in graph.units]
        self.commutative = [unit.core in COMMUTATIVE for unit in graph.units]
        self.readers = readers(graph)

    def forward(self) -> Labels:
        """Return labels by everything upstream of a unit."""
        number, leaf_labels = self.numbering.number, self.leaf_labels
        labels: Labels = []
        for unit, sources in enumerate(self.sources):
            source_labels = [
                labels[i] if 0 <= i < unit else -1 if i >= 0 else leaf_labels[-2 - i] for i in sources
            ]
            if self.commutative[unit]:
                source_labels.sort()
            labels.append(number((self.labels[unit], *source_labels)))
        return labels

    def backward(self) -> Labels:
        """Return labels by everything downstream of a unit."""
        number = self.numbering.number
        labels: Labels = [-1] * len(self.sources)
        for unit in range(len(self.sources) - 1, -1, -1):
            reader_labels = sorted([(operand, labels[reader]) for operand, reader in self.readers[unit]])
            labels[unit] = number((self.labels[unit], "leads", *reader_labels))
        return labels

    def neighbourhoods(self, rounds: int = ROUNDS, by_operand: bool = False) -> list[Labels]:
        """Return labels by the units within 1, 2 … ``rounds`` edges in both directions.

        ``by_operand``: also by which operand of its consumers a unit is.
        """
        number, leaf_labels = self.numbering.number, self.leaf_labels
        previous, by_radius = self.labels, []
        for _ in range(rounds):
            labels: Labels = []
            for unit, sources in enumerate(self.sources):
                source_labels = [previous[i] if i >= 0 else leaf_labels[-2 - i] for i in sources]
                if self.commutative[unit]:
                    source_labels.sort()
                reader_labels = [
                    number((operand, previous[reader])) if by_operand else previous[reader]
                    for operand, reader in self.readers[unit]
                ]
                if len(reader_labels) > 1:
                    reader_labels.sort()
                labels.append(number((previous[unit], *source_labels, -1, *reader_labels)))
            by_radius.append(labels)
            previous = labels
        return by_radius


def readers(graph: ContractedGraph) -> list[list[tuple[int, int]]]:
    """Return (operand, consumer) per unit; operands of commutative operators count as one."""
    readers_of: list[list[tuple[int, int]]] = [[] for _ in graph.units]
    for reader, unit in enumerate(graph.units):
        commutative = unit.core in COMMUTATIVE
        for operand, source in enumerate(unit.sources):
            if source >= 0:
                readers_of[source].append((0 if commutative else operand, reader))
    return readers_of


def operator_labels(graph: ContractedGraph, numbering: LabelNumbering) -> Labels:
    """Return labels by operator and dimensions of its stored matrix."""
    return [numbering.number((unit.core, unit.weight)) for unit in graph.units]


def leaf_kinds(graph: ContractedGraph) -> list[Hashable]:
    """Return external inputs by their kind alone."""
    return [kind for kind, _ in graph.leaves]


def leaf_positions(graph: ContractedGraph) -> list[Hashable]:
    """Return external inputs by their kind and position."""
    return list(graph.leaves)
