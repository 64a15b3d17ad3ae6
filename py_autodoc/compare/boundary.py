"""Pass-through nodes at the edge of removed parts: they stay with their consumer.

A unit includes the conversions and reshapes after it. If it has no counterpart, those before a graph output
or before a matched consumer may still exist on both sides.
"""

from __future__ import annotations

from py_autodoc.compare.changes import ComparedSide
from py_autodoc.compare.meaning import GLUE


def hand_over(sides: tuple[ComparedSide, ComparedSide], to: list[int]) -> list[tuple[int, int]]:
    """Return pairs (left, right) of such nodes with equal operators, next to units without a counterpart."""
    back = [-1] * len(sides[1].graph.units)
    for one, other in enumerate(to):
        if other >= 0:
            back[other] = one
    if -1 not in to and -1 not in back:
        return []
    found: list[tuple[int, int]] = []
    done: tuple[set[int], set[int]] = set(), set()
    edges = _outputs(sides)
    for one, other in enumerate(to):
        if other >= 0:
            first, second = sides[0].graph.units[one], sides[1].graph.units[other]
            read = sides[0].node(first.nodes[0]), sides[1].node(second.nodes[0])
            if read[0].op_type == read[1].op_type and len(read[0].inputs) == len(read[1].inputs):
                edges += zip(read[0].inputs, read[1].inputs, strict=True)
    for x, y in edges:
        while x >= 0 and y >= 0:
            a, b = (side.model.tensors[t].producer for side, t in zip(sides, (x, y), strict=True))
            if min(a, b) < 0 or a in done[0] or b in done[1]:
                break
            here, there = sides[0].node(a), sides[1].node(b)
            if here.op_type not in GLUE or here.op_type != there.op_type:
                break
            mine, theirs = sides[0].graph.owner[a], sides[1].graph.owner[b]
            if not mine or not theirs or to[mine[0]] == theirs[0]:
                break
            if to[mine[0]] >= 0 and back[theirs[0]] >= 0:
                break
            found.append((a, b))
            done[0].add(a)
            done[1].add(b)
            x, y = (node.inputs[0] if node.inputs else -1 for node in (here, there))
    return found


def _outputs(sides: tuple[ComparedSide, ComparedSide]) -> list[tuple[int, int]]:
    """Return corresponding graph outputs: by name, else by position if the counts are equal."""
    first, second = (side.model.graphs[0].outputs for side in sides)
    if len(first) == len(second):
        return list(zip(first, second, strict=True))
    named = {sides[1].model.tensors[t].name: t for t in second}
    return [(t, named[name]) for t in first if (name := sides[0].model.tensors[t].name) in named]
