"""Pass-through nodes at the edge of removed parts: they stay with their consumer.

A unit includes the conversions and reshapes after it. If it has no counterpart, those before a graph output
or before a matched consumer may still exist on both sides.
"""

from __future__ import annotations

from py_autodoc.compare.changes import ComparedSide
from py_autodoc.compare.meaning import GLUE


def pair_boundary_nodes(
    sides: tuple[ComparedSide, ComparedSide], to_right: list[int]
) -> list[tuple[int, int]]:
    """Return pairs (left, right) of such nodes with equal operators, next to units without a counterpart."""
    to_left = [-1] * len(sides[1].graph.units)
    for left_unit, right_unit in enumerate(to_right):
        if right_unit >= 0:
            to_left[right_unit] = left_unit
    if -1 not in to_right and -1 not in to_left:
        return []
    pairs: list[tuple[int, int]] = []
    paired_nodes: tuple[set[int], set[int]] = set(), set()
    edges = _outputs(sides)
    for left_unit, right_unit in enumerate(to_right):
        if right_unit >= 0:
            left = sides[0].node(sides[0].graph.units[left_unit].nodes[0])
            right = sides[1].node(sides[1].graph.units[right_unit].nodes[0])
            if left.op_type == right.op_type and len(left.inputs) == len(right.inputs):
                edges += zip(left.inputs, right.inputs, strict=True)
    for left_tensor, right_tensor in edges:
        while left_tensor >= 0 and right_tensor >= 0:
            left_node = sides[0].model.tensors[left_tensor].producer
            right_node = sides[1].model.tensors[right_tensor].producer
            if (
                min(left_node, right_node) < 0
                or left_node in paired_nodes[0]
                or right_node in paired_nodes[1]
            ):
                break
            left_producer, right_producer = sides[0].node(left_node), sides[1].node(right_node)
            if left_producer.op_type not in GLUE or left_producer.op_type != right_producer.op_type:
                break
            left_owners, right_owners = sides[0].graph.owner[left_node], sides[1].graph.owner[right_node]
            if not left_owners or not right_owners or to_right[left_owners[0]] == right_owners[0]:
                break
            if to_right[left_owners[0]] >= 0 and to_left[right_owners[0]] >= 0:
                break
            pairs.append((left_node, right_node))
            paired_nodes[0].add(left_node)
            paired_nodes[1].add(right_node)
            left_tensor = left_producer.inputs[0] if left_producer.inputs else -1
            right_tensor = right_producer.inputs[0] if right_producer.inputs else -1
    return pairs


def _outputs(sides: tuple[ComparedSide, ComparedSide]) -> list[tuple[int, int]]:
    """Return corresponding graph outputs: by name, else by position if the counts are equal."""
    left, right = (side.model.graphs[0].outputs for side in sides)
    if len(left) == len(right):
        return list(zip(left, right, strict=True))
    by_name = {sides[1].model.tensors[t].name: t for t in right}
    return [(t, by_name[name]) for t in left if (name := sides[0].model.tensors[t].name) in by_name]
