"""Pairs of core operators → pairs of nodes: the work of one fused node is in one pair."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.compare.changes import ComparedSide
from py_autodoc.compare.labels import readers
from py_autodoc.compare.meaning import MERGED, WEIGHTED
from py_autodoc.compare.units import ContractedGraph

Joined = tuple[tuple[int, int], ...]


def groups(
    sides: tuple[ComparedSide, ComparedSide], to: list[int]
) -> Iterator[tuple[Joined, tuple[int, ...], tuple[int, ...]]]:
    """Yield (pairs of units, left nodes, right nodes) for groups that cannot be separated."""
    root = list(range(len(to)))

    def find(one: int) -> int:
        while root[one] != one:
            root[one] = one = root[root[one]]
        return one

    back = {other: one for one, other in enumerate(to) if other >= 0}
    fused = [[u for u in owners if to[u] >= 0] for owners in sides[0].graph.owner]
    fused += [[back[u] for u in owners if u in back] for owners in sides[1].graph.owner]
    for paired in fused:
        for one in paired[1:]:
            root[find(one)] = find(paired[0])
    found: dict[int, list[tuple[int, int]]] = {}
    for one, other in enumerate(to):
        if other >= 0:
            found.setdefault(find(one), []).append((one, other))
    extra = [_absorbed(sides, side, to if side == 0 else back) for side in (0, 1)]
    taken: tuple[set[int], set[int]] = set(), set()
    for joined in found.values():
        nodes: list[list[int]] = []
        for side in (0, 1):
            graph = sides[side].graph
            mine = [u for pair in joined for u in (pair[side], *extra[side].get(pair[side], ()))]
            numbers = sorted({n for u in mine for n in graph.units[u].nodes} - taken[side])
            taken[side].update(numbers)
            nodes.append(numbers)
        yield tuple(joined), tuple(nodes[0]), tuple(nodes[1])


def _absorbed(
    sides: tuple[ComparedSide, ComparedSide], side: int, to: list[int] | dict[int, int]
) -> dict[int, list[int]]:
    """Map units to unmatched units that only serve them, if a fused node is on the other side.

    For example the mask computation that a fused attention includes.
    """
    here, there = sides[side].graph, sides[1 - side]

    def other(unit: int) -> int:
        return to[unit] if isinstance(to, list) else to.get(unit, -1)

    if not any(there.operator(unit) in MERGED for unit in there.graph.units):
        return {}
    led = readers(here)
    home: dict[int, int] = {}
    found: dict[int, list[int]] = {}
    for at in range(len(here.units) - 1, -1, -1):
        if other(at) >= 0 or not _free(here, at) or not led[at]:
            continue
        goals = []
        for _, reader in led[at]:
            goal = home.get(reader, reader)
            match = other(goal)
            if match < 0 or there.operator(there.graph.units[match]) not in MERGED:
                break
            goals.append(goal)
        else:
            home[at] = goals[0]
            found.setdefault(goals[0], []).append(at)
    return found


def _free(graph: ContractedGraph, at: int) -> bool:
    """Return whether a unit has no learned matrix, which no other operator can replace."""
    unit = graph.units[at]
    return not (unit.core in WEIGHTED and unit.weight)
