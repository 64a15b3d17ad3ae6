"""Runs of isomorphic parts in a canonical graph, and minimum sizes of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from py_autodoc.blocks.repetition.canonical_graph import CanonicalGraph

MIN_PART_NODES = 8
"""Minimum nodes of a part without a layer."""


@dataclass(slots=True)
class IsomorphicRun:
    """``parts[i][k]`` corresponds to ``parts[j][k]``."""

    parts: list[list[int]]
    scopes: tuple[tuple[str, ...], ...] = ()
    type: str = ""

    @property
    def covers(self) -> int:
        """Number of nodes in all parts."""
        return len(self.parts) * len(self.parts[0])


def is_module_repeat(canonical: CanonicalGraph, parts: Sequence[Sequence[int]], chain: bool) -> bool:
    """True if modules are large enough to be shown as a repeat.

    They need three nodes, or two with a weight if each module feeds the next. Modules that do not feed each
    other also need a weight: without one, they are auxiliary code.
    """
    weight = any(canonical.label[node] in canonical.weighted_labels for node in parts[0])
    size = len(parts[0])
    return (size >= 3 and (weight or chain)) or (size == 2 and weight and chain)


def is_chain_repeat(canonical: CanonicalGraph, parts: Sequence[Sequence[int]]) -> bool:
    """True if parts of an unnamed chain have 2 nodes and a layer's weight, or ``MIN_PART_NODES`` nodes."""
    size = len(parts[0])
    return size >= MIN_PART_NODES or (
        size >= 2 and any(canonical.label[node] in canonical.layer_labels for node in parts[0])
    )


def is_chain(canonical: CanonicalGraph, parts: Sequence[Sequence[int]]) -> bool:
    """True if each part reads an output of the part before."""
    for before, part in pairwise(parts):
        previous = set(before)
        if all(previous.isdisjoint(canonical.producers(node)) for node in part):
            return False
    return True


def nodes_between(canonical: CanonicalGraph, run: IsomorphicRun) -> list[int]:
    """Return nodes outside a run that lie on a path between two of its nodes."""
    inside = {node for part in run.parts for node in part}
    first, last = min(inside), max(inside)
    producers = canonical.producers
    after = set(inside)
    for node in range(first, last):
        if node not in inside and not after.isdisjoint(producers(node)):
            after.add(node)
    before: set[int] = set()
    for node in range(last, first - 1, -1):
        if node in inside or node in before:
            before.update(producers(node))
    return sorted(node for node in after & before if node not in inside)
