"""A repeat in the places of one wiring, and what makes parts worth the name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from py_autodoc.blocks.repetition.canonical_graph import CanonicalGraph

MIN_PART_NODES = 8
"""Nodes of a part that is worth showing even without a layer in it."""


@dataclass(slots=True)
class IsomorphicRun:
    """``parts[i][k]`` corresponds to ``parts[j][k]``."""

    parts: list[list[int]]
    scopes: tuple[tuple[str, ...], ...] = ()
    type: str = ""

    @property
    def covers(self) -> int:
        """Nodes in all parts."""
        return len(self.parts) * len(self.parts[0])


def is_module_repeat(wiring: CanonicalGraph, parts: Sequence[Sequence[int]], chain: bool) -> bool:
    """Whether modules are large enough to be called a repeat.

    Three nodes, or two with a weight where each feeds the next. Modules that do not feed each other
    need a weight as well: what lies side by side without one is plumbing.
    """
    weight = any(wiring.label[node] in wiring.weighted_labels for node in parts[0])
    size = len(parts[0])
    return (size >= 3 and (weight or chain)) or (size == 2 and weight and chain)


def is_chain_repeat(wiring: CanonicalGraph, parts: Sequence[Sequence[int]]) -> bool:
    """The same for chains without names: two nodes with a layer's weight, or ``MIN_PART_NODES`` nodes."""
    size = len(parts[0])
    return size >= MIN_PART_NODES or (
        size >= 2 and any(wiring.label[node] in wiring.layer_labels for node in parts[0])
    )


def is_chain(wiring: CanonicalGraph, parts: Sequence[Sequence[int]]) -> bool:
    """True when each part reads something that the one before it makes."""
    for before, part in pairwise(parts):
        made = set(before)
        if all(made.isdisjoint(wiring.producers(node)) for node in part):
            return False
    return True


def nodes_between(wiring: CanonicalGraph, run: IsomorphicRun) -> list[int]:
    """Nodes outside a run that lie on a way from one of its nodes to another."""
    inside = {node for part in run.parts for node in part}
    first, last = min(inside), max(inside)
    makers = wiring.producers
    after = set(inside)
    for node in range(first, last):
        if node not in inside and not after.isdisjoint(makers(node)):
            after.add(node)
    before: set[int] = set()
    for node in range(last, first - 1, -1):
        if node in inside or node in before:
            before.update(makers(node))
    return sorted(node for node in after & before if node not in inside)
