"""Pairs of core operators → pairs of nodes: the work of one fused node is in one pair."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.compare.changes import ComparedSide
from py_autodoc.compare.labels import readers
from py_autodoc.compare.meaning import MERGED, WEIGHTED
from py_autodoc.compare.units import ContractedGraph

Joined = tuple[tuple[int, int], ...]


def groups(
    sides: tuple[ComparedSide, ComparedSide], to_right: list[int]
) -> Iterator[tuple[Joined, tuple[int, ...], tuple[int, ...]]]:
    """Yield (pairs of units, left nodes, right nodes) for groups that cannot be separated."""
    root = list(range(len(to_right)))

    def find(unit: int) -> int:
        while root[unit] != unit:
            root[unit] = unit = root[root[unit]]
        return unit

    to_left = {right_unit: left_unit for left_unit, right_unit in enumerate(to_right) if right_unit >= 0}
    fused = [[u for u in owners if to_right[u] >= 0] for owners in sides[0].graph.owner]
    fused += [[to_left[u] for u in owners if u in to_left] for owners in sides[1].graph.owner]
    for left_units in fused:
        for left_unit in left_units[1:]:
            root[find(left_unit)] = find(left_units[0])
    groups_by_root: dict[int, list[tuple[int, int]]] = {}
    for left_unit, right_unit in enumerate(to_right):
        if right_unit >= 0:
            groups_by_root.setdefault(find(left_unit), []).append((left_unit, right_unit))
    absorbed = [_absorbed(sides, side, to_right if side == 0 else to_left) for side in (0, 1)]
    assigned_nodes: tuple[set[int], set[int]] = set(), set()
    for unit_pairs in groups_by_root.values():
        nodes: list[list[int]] = []
        for side in (0, 1):
            graph = sides[side].graph
            units = [u for pair in unit_pairs for u in (pair[side], *absorbed[side].get(pair[side], ()))]
            numbers = sorted({n for u in units for n in graph.units[u].nodes} - assigned_nodes[side])
            assigned_nodes[side].update(numbers)
            nodes.append(numbers)
        yield tuple(unit_pairs), tuple(nodes[0]), tuple(nodes[1])


def _absorbed(
    sides: tuple[ComparedSide, ComparedSide], side: int, counterparts: list[int] | dict[int, int]
) -> dict[int, list[int]]:
    """Map units to unmatched units that only serve them, if a fused node is on the other side.

    For example the mask computation that a fused attention includes.
    """
    graph, other_side = sides[side].graph, sides[1 - side]

    def counterpart(unit: int) -> int:
        return counterparts[unit] if isinstance(counterparts, list) else counterparts.get(unit, -1)

    if not any(other_side.operator(unit) in MERGED for unit in other_side.graph.units):
        return {}
    readers_by_unit = readers(graph)
    assigned: dict[int, int] = {}
    absorbed: dict[int, list[int]] = {}
    for unit in range(len(graph.units) - 1, -1, -1):
        if counterpart(unit) >= 0 or not _is_weightless(graph, unit) or not readers_by_unit[unit]:
            continue
        targets = []
        for _, reader in readers_by_unit[unit]:
            target = assigned.get(reader, reader)
            match = counterpart(target)
            if match < 0 or other_side.operator(other_side.graph.units[match]) not in MERGED:
                break
            targets.append(target)
        else:
            assigned[unit] = targets[0]
            absorbed.setdefault(targets[0], []).append(unit)
    return absorbed


def _is_weightless(graph: ContractedGraph, index: int) -> bool:
    """Return whether a unit has no learned matrix, which no other operator can replace."""
    unit = graph.units[index]
    return not (unit.core in WEIGHTED and unit.weight)
