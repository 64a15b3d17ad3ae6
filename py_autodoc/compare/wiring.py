"""Checks whether the inputs of counterparts also are counterparts.

Operators that only one model has are skipped: inserting an operator does not change the edges around it. If a
path cannot be followed, no difference is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from py_autodoc.compare.changes import Change, ComparedSide, Detail
from py_autodoc.compare.interface import declared, paired
from py_autodoc.compare.meaning import COMMUTATIVE
from py_autodoc.compare.units import ContractedGraph, Unit
from py_autodoc.report.encode.labels import node_label

_MAX_SOURCES = 256
"""Maximum number of sources followed; with more, the source counts as unknown."""
_ANY = -1
"""An unknown source, which may be any."""
_NEW = -(2**30)
"""Inputs that only one model has are numbered downwards from here."""

_Reach = frozenset[int]
_Source = tuple[int, int]
"""An entry of ``Unit.ins``, and the output index of its node."""


class _MappedSources:
    """Units of one model mapped to the right model: a unit, ``-2 - leaf``, or ``_ANY``."""

    def __init__(self, graph: ContractedGraph, units: Sequence[int], leaves: Sequence[int]) -> None:
        self.graph = graph
        self._units = units
        self._leaves = leaves
        self._reach_through: list[_Reach] = []
        for index, unit in enumerate(graph.units):
            reach: set[int] = set()
            if units[index] < 0:
                for source in unit.sources:
                    # Units are in order except for cycles through subgraphs.
                    reach |= self.reach(source) if source < index else {_ANY}
            self._reach_through.append(frozenset(reach) if len(reach) <= _MAX_SOURCES else frozenset({_ANY}))

    def mapped_source(self, source: int) -> int | None:
        """Return the mapped source of an operand; None if only this model has it."""
        if source < 0:
            return self._leaves[-2 - source]
        mapped = self._units[source]
        return mapped if mapped >= 0 else None

    def reach(self, source: int) -> _Reach:
        """Return the sources, skipping operators that only this model has."""
        mapped = self.mapped_source(source)
        return self._reach_through[source] if mapped is None else frozenset({mapped})


def changed_inputs(sides: tuple[ComparedSide, ComparedSide], to_right: Sequence[int]) -> dict[int, Detail]:
    """Map left units to inputs that differ from their counterpart's."""
    left, right = sides[0].graph, sides[1].graph
    leaves = _leaves(sides)
    left_sources = _MappedSources(left, to_right, leaves[0])
    paired_right = set(to_right)
    right_units = [unit if unit in paired_right else -1 for unit in range(len(right.units))]
    right_sources = _MappedSources(right, right_units, leaves[1])
    input_changes: dict[int, Detail] = {}
    for left_unit, right_unit in enumerate(to_right):
        if right_unit < 0:
            continue
        unshared = _unshared_sources(
            sides, (left_sources, right_sources), left.units[left_unit], right.units[right_unit]
        )
        if unshared is not None:
            texts = (_source_names(sides[0], unshared[0]), _source_names(sides[1], unshared[1]))
            input_changes[left_unit] = Detail(Change.INPUTS, "reads", *texts)
    return input_changes


def changed_output_sources(sides: tuple[ComparedSide, ComparedSide], to_right: Sequence[int]) -> list[Detail]:
    """Return graph outputs produced by operators that are not counterparts."""
    details = []
    producers = [_output_sources(side) for side in sides]
    to_left = {right_unit: left_unit for left_unit, right_unit in enumerate(to_right) if right_unit >= 0}
    for left_output, right_output in paired(declared(sides[0], "output"), declared(sides[1], "output")):
        if left_output is None or right_output is None:
            continue
        left_source, right_source = producers[0].get(left_output.name), producers[1].get(right_output.name)
        if (
            left_source is None
            or right_source is None
            or to_right[left_source[0]] < 0
            or right_source[0] not in to_left
        ):
            continue
        if to_right[left_source[0]] == right_source[0] and (
            left_source[1] == right_source[1]
            or len({_operator(*pair) for pair in zip(sides, (left_source, right_source), strict=True)}) > 1
        ):
            continue
        texts = (_source_names(sides[0], [left_source]), _source_names(sides[1], [right_source]))
        details.append(Detail(Change.INPUTS, f"output {left_output.name} from", *texts))
    return details


def _operator(side: ComparedSide, source: _Source) -> str:
    return side.operator(side.graph.units[source[0]])


def _output_sources(side: ComparedSide) -> dict[str, _Source]:
    """Map graph output names to their source, if a single operator produces them."""
    sources = {}
    for tensor in side.model.graphs[0].outputs:
        output = side.model.tensors[tensor]
        owners = side.graph.owner[output.producer] if output.producer >= 0 else []
        if len(owners) == 1:
            sources[output.name] = owners[0], side.node(output.producer).outputs.index(tensor)
    return sources


def _unshared_sources(
    sides: tuple[ComparedSide, ComparedSide],
    mapped: tuple[_MappedSources, _MappedSources],
    left_unit: Unit,
    right_unit: Unit,
) -> tuple[list[_Source], list[_Source]] | None:
    """Return the sources that a unit and its counterpart do not share; None if they read the same."""
    units = left_unit, right_unit
    mapped_sources = [
        [side_sources.mapped_source(source) for source in unit.sources]
        for side_sources, unit in zip(mapped, units, strict=True)
    ]
    all_sources = (*mapped_sources[0], *mapped_sources[1])
    if _ANY in all_sources:
        return None
    slots = left_unit.slots, right_unit.slots
    if (
        len(left_unit.sources) == len(right_unit.sources)
        and slots[0] is not None
        and slots[1] is not None
        and None not in all_sources
    ):
        left_keys = list(zip(mapped_sources[0], slots[0], strict=True))
        right_keys = list(zip(mapped_sources[1], slots[1], strict=True))
        unordered = left_unit.core in COMMUTATIVE or sides[0].operator(left_unit) != sides[1].operator(
            right_unit
        )
        if left_keys == right_keys or (unordered and Counter(left_keys) == Counter(right_keys)):
            return None
        if Counter(left_keys) == Counter(right_keys):  # the same ones in another order
            left_sources = list(zip(left_unit.sources, slots[0], strict=True))
            return left_sources, list(zip(right_unit.sources, slots[1], strict=True))
        # Sources that occur equally often on both sides are no difference.
        surplus = Counter(left_keys) - Counter(right_keys), Counter(right_keys) - Counter(left_keys)
        left_sources = _select(left_unit.sources, left_keys, surplus[0])
        return left_sources, _select(right_unit.sources, right_keys, surplus[1])
    reach = [
        frozenset().union(*(side_sources.reach(source) for source in unit.sources))
        for side_sources, unit in zip(mapped, units, strict=True)
    ]
    if _ANY in reach[0] or _ANY in reach[1]:
        return None
    unshared = (
        [
            (s, 0)
            for s, k in zip(left_unit.sources, mapped_sources[0], strict=True)
            if k is not None and k not in reach[1]
        ],
        [
            (s, 0)
            for s, k in zip(right_unit.sources, mapped_sources[1], strict=True)
            if k is not None and k not in reach[0]
        ],
    )
    return unshared if unshared[0] or unshared[1] else None


def _select(
    sources: list[int], keys: list[tuple[int | None, int]], surplus: Counter[tuple[int | None, int]]
) -> list[_Source]:
    surplus = surplus.copy()
    selected = []
    for source, key in zip(sources, keys, strict=True):
        if surplus[key] > 0:
            surplus[key] -= 1
            selected.append((source, key[1]))
    return selected


def _leaves(sides: tuple[ComparedSide, ComparedSide]) -> tuple[list[int], list[int]]:
    """Return, by leaf of each side, a number that is equal for counterparts."""
    numbers: dict[tuple[str, int], int] = {}
    numbers_by_side: list[list[int]] = []
    inputs = [declared(side, "input") for side in sides]
    left_names = {b.name: a.name for a, b in paired(*inputs) if a is not None and b is not None}
    left_model = sides[0].model
    left_positions = {left_model.tensors[t].name: i for i, t in enumerate(left_model.graphs[0].inputs)}
    for index, side in enumerate(sides):
        leaf_numbers = []
        for kind, position in side.graph.leaves:
            if kind == "other":
                leaf_numbers.append(_ANY)
                continue
            key = (kind, position)
            if kind == "in" and index == 1:
                name = side.model.tensors[side.model.graphs[0].inputs[position]].name
                key = (kind, left_positions[left_names[name]] if name in left_names else _NEW - position)
            leaf_numbers.append(numbers.setdefault(key, -2 - len(numbers)))
        numbers_by_side.append(leaf_numbers)
    return numbers_by_side[0], numbers_by_side[1]


def _source_names(side: ComparedSide, sources: Sequence[_Source]) -> str:
    """Name sources by their nodes or inputs, plus the output index if there are several."""
    names = []
    for source, slot in sources:
        if source >= 0:
            node = side.node(side.graph.units[source].node)
            suffix = f" output {slot}" if len(node.outputs) > 1 else ""
            names.append(node_label(node) + suffix)
        else:
            kind, position = side.graph.leaves[-2 - source]
            graph = side.model.graphs[0]
            names.append(
                side.model.tensors[graph.inputs[position]].name if kind == "in" else "an outer value"
            )
    return ", ".join(names) or "–"
