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

_MOST = 256
"""Maximum number of sources followed; with more, the source counts as unknown."""
_ANY = -1
"""An unknown source, which may be any."""
_NEW = -(2**30)
"""Inputs that only one model has are numbered downwards from here."""

_Reach = frozenset[int]
_Source = tuple[int, int]
"""An entry of ``Unit.ins``, and the output index of its node."""


class _Wires:
    """Units of one model mapped to the right model: a unit, ``-2 - leaf``, or ``_ANY``."""

    def __init__(self, graph: ContractedGraph, units: Sequence[int], leaves: Sequence[int]) -> None:
        self.graph = graph
        self._units = units
        self._leaves = leaves
        self._through: list[_Reach] = []
        for at, unit in enumerate(graph.units):
            reach: set[int] = set()
            if units[at] < 0:
                for source in unit.ins:
                    # Units are in order except for cycles through subgraphs.
                    reach |= self.reach(source) if source < at else {_ANY}
            self._through.append(frozenset(reach) if len(reach) <= _MOST else frozenset({_ANY}))

    def known(self, source: int) -> int | None:
        """Return the mapped source of an operand; None if only this model has it."""
        if source < 0:
            return self._leaves[-2 - source]
        found = self._units[source]
        return found if found >= 0 else None

    def reach(self, source: int) -> _Reach:
        """Return the sources, skipping operators that only this model has."""
        known = self.known(source)
        return self._through[source] if known is None else frozenset({known})


def rewired(sides: tuple[ComparedSide, ComparedSide], to: Sequence[int]) -> dict[int, Detail]:
    """Map left units to inputs that differ from their counterpart's."""
    left, right = sides[0].graph, sides[1].graph
    leaves = _leaves(sides)
    here = _Wires(left, to, leaves[0])
    paired_right = set(to)
    there = _Wires(right, [at if at in paired_right else -1 for at in range(len(right.units))], leaves[1])
    found: dict[int, Detail] = {}
    for one, other in enumerate(to):
        if other < 0:
            continue
        lost = _lost(sides, (here, there), left.units[one], right.units[other])
        if lost is not None:
            told = (_named(sides[0], lost[0]), _named(sides[1], lost[1]))
            found[one] = Detail(Change.INPUTS, "reads", *told)
    return found


def ends(sides: tuple[ComparedSide, ComparedSide], to: Sequence[int]) -> list[Detail]:
    """Return graph outputs produced by operators that are not counterparts."""
    found = []
    makers = [_makers(side) for side in sides]
    back = {other: one for one, other in enumerate(to) if other >= 0}
    for one, other in paired(declared(sides[0], "output"), declared(sides[1], "output")):
        if one is None or other is None:
            continue
        first, second = makers[0].get(one.name), makers[1].get(other.name)
        if first is None or second is None or to[first[0]] < 0 or second[0] not in back:
            continue
        if to[first[0]] == second[0] and (
            first[1] == second[1]
            or len({_operator(*pair) for pair in zip(sides, (first, second), strict=True)}) > 1
        ):
            continue
        told = (_named(sides[0], [first]), _named(sides[1], [second]))
        found.append(Detail(Change.INPUTS, f"output {one.name} from", *told))
    return found


def _operator(side: ComparedSide, source: _Source) -> str:
    return side.operator(side.graph.units[source[0]])


def _makers(side: ComparedSide) -> dict[str, _Source]:
    """Map graph output names to their source, if a single operator produces them."""
    found = {}
    for tensor in side.model.graphs[0].outputs:
        about = side.model.tensors[tensor]
        owners = side.graph.owner[about.producer] if about.producer >= 0 else []
        if len(owners) == 1:
            found[about.name] = owners[0], side.node(about.producer).outputs.index(tensor)
    return found


def _lost(
    sides: tuple[ComparedSide, ComparedSide], wires: tuple[_Wires, _Wires], one: Unit, other: Unit
) -> tuple[list[_Source], list[_Source]] | None:
    """Return the sources that a unit and its counterpart do not share; None if they read the same."""
    known = [wires[0].known(source) for source in one.ins], [wires[1].known(source) for source in other.ins]
    every = (*known[0], *known[1])
    if _ANY in every:
        return None
    slots = one.slots, other.slots
    if len(one.ins) == len(other.ins) and slots[0] is not None and slots[1] is not None and None not in every:
        first = list(zip(known[0], slots[0], strict=True))
        second = list(zip(known[1], slots[1], strict=True))
        free = one.core in COMMUTATIVE or sides[0].operator(one) != sides[1].operator(other)
        if first == second or (free and Counter(first) == Counter(second)):
            return None
        if Counter(first) == Counter(second):  # the same ones in another order
            return list(zip(one.ins, slots[0], strict=True)), list(zip(other.ins, slots[1], strict=True))
        # Sources that occur equally often on both sides are no difference.
        rest = Counter(first) - Counter(second), Counter(second) - Counter(first)
        return _those(one.ins, first, rest[0]), _those(other.ins, second, rest[1])
    reach = [
        frozenset().union(*(wire.reach(source) for source in unit.ins))
        for wire, unit in zip(wires, (one, other), strict=True)
    ]
    if _ANY in reach[0] or _ANY in reach[1]:
        return None
    lost = (
        [(s, 0) for s, k in zip(one.ins, known[0], strict=True) if k is not None and k not in reach[1]],
        [(s, 0) for s, k in zip(other.ins, known[1], strict=True) if k is not None and k not in reach[0]],
    )
    return lost if lost[0] or lost[1] else None


def _those(
    sources: list[int], keys: list[tuple[int | None, int]], rest: Counter[tuple[int | None, int]]
) -> list[_Source]:
    rest = rest.copy()
    found = []
    for source, key in zip(sources, keys, strict=True):
        if rest[key] > 0:
            rest[key] -= 1
            found.append((source, key[1]))
    return found


def _leaves(sides: tuple[ComparedSide, ComparedSide]) -> tuple[list[int], list[int]]:
    """Return, by leaf of each side, a number that is equal for counterparts."""
    numbers: dict[tuple[str, int], int] = {}
    found: list[list[int]] = []
    inputs = [declared(side, "input") for side in sides]
    twin = {b.name: a.name for a, b in paired(*inputs) if a is not None and b is not None}
    places = {sides[0].model.tensors[t].name: at for at, t in enumerate(sides[0].model.graphs[0].inputs)}
    for number, side in enumerate(sides):
        made = []
        for kind, place in side.graph.leaves:
            if kind == "other":
                made.append(_ANY)
                continue
            key = (kind, place)
            if kind == "in" and number == 1:
                name = side.model.tensors[side.model.graphs[0].inputs[place]].name
                key = (kind, places[twin[name]] if name in twin else _NEW - place)
            made.append(numbers.setdefault(key, -2 - len(numbers)))
        found.append(made)
    return found[0], found[1]


def _named(side: ComparedSide, sources: Sequence[_Source]) -> str:
    """Name sources by their nodes or inputs, plus the output index if there are several."""
    names = []
    for source, slot in sources:
        if source >= 0:
            node = side.node(side.graph.units[source].node)
            which = f" output {slot}" if len(node.outputs) > 1 else ""
            names.append(node_label(node) + which)
        else:
            kind, place = side.graph.leaves[-2 - source]
            graph = side.model.graphs[0]
            names.append(side.model.tensors[graph.inputs[place]].name if kind == "in" else "an outer value")
    return ", ".join(names) or "–"
