"""Query and key axes of the tensors behind attention scores.

Exporters compute masks and relative scores in various layouts (queries and keys first, heads last, or
both on one axis) and transpose them before adding. Axes count from the end.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.graph.ir.model import Shape

_RESHAPED = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})


class MaskAxes(NamedTuple):
    """A tensor and its query and key axes; None for an axis that is no longer known."""

    tensor: int
    query: int | None = -2
    key: int | None = -1

    @property
    def ordered(self) -> bool:
        """True if queries and keys are the last two axes, in this order."""
        return (self.query, self.key) == (-2, -1)


def axes_of_input(flow: DataflowGraph, number: int, axes: MaskAxes, tensor: int) -> MaskAxes:
    """Return the axes of ``tensor``, an input of the producer of ``at.tensor``."""
    op = flow.qualified_op_types[number]
    move: dict[int, int] | None
    if op == "Transpose":
        move = _transposed_axes(flow, number, axes.tensor)
    elif op == "Einsum":
        move = _einsum_axes(flow.nodes[number].attributes.get("equation"))
    elif op in _RESHAPED:
        move = _reshaped_axes(flow.shapes[tensor], flow.shapes[axes.tensor])
    elif op == "Gather":
        move = _gathered_axes(flow, number, tensor)
    elif op == "GatherND":
        move = {}
    else:
        return MaskAxes(tensor, axes.query, axes.key)
    if move is None:
        return MaskAxes(tensor, axes.query, axes.key)
    return MaskAxes(tensor, _get(move, axes.query), _get(move, axes.key))


def _get(move: dict[int, int], axis: int | None) -> int | None:
    return None if axis is None else move.get(axis)


def _transposed_axes(flow: DataflowGraph, number: int, output: int) -> dict[int, int]:
    perm: Any = flow.nodes[number].attributes.get("perm")
    shape = flow.shapes[output]
    if perm is None and shape is not None:
        perm = list(range(len(shape)))[::-1]
    if not isinstance(perm, list | tuple):
        return {}
    rank = len(perm)
    return {new_axis - rank: axis - rank for new_axis, axis in enumerate(perm) if isinstance(axis, int)}


def _einsum_axes(equation: object) -> dict[int, int]:
    """Map the axes that an Einsum with one operand permutes."""
    left, arrow, out = str(equation).replace(" ", "").replace("...", "").partition("->")
    if not arrow or "," in left:
        return {}
    return {out.index(i) - len(out): left.index(i) - len(left) for i in out if i in left}


def _reshaped_axes(old_shape: Shape | None, new_shape: Shape | None) -> dict[int, int] | None:
    """Map the axes that a reshape preserves: those of equal size followed by equally many elements.

    None if, as far as known, the last axes stay unchanged.
    """
    if old_shape is None or new_shape is None:
        return None
    move: dict[int, int] = {}
    for new_axis, axis in ((i, j) for i in range(len(new_shape)) for j in range(len(old_shape))):
        if new_shape[new_axis] == old_shape[axis] and new_shape[new_axis] not in (1, None):
            inner_counts = _count(new_shape[new_axis + 1 :]), _count(old_shape[axis + 1 :])
            if inner_counts[0] == inner_counts[1]:
                move[new_axis - len(new_shape)] = axis - len(old_shape)
    for new_axis in range(1, min(len(new_shape), len(old_shape)) + 1):
        # A size of 1 stays 1: all queries, or all keys, share the values.
        if new_shape[-new_axis] != old_shape[-new_axis]:
            break
        move.setdefault(-new_axis, -new_axis)
    return move


def _count(shape: Shape) -> object:
    """Return the number of elements, or the symbolic sizes in order."""
    return prod(d for d in shape if isinstance(d, int)), tuple(d for d in shape if not isinstance(d, int))


def _gathered_axes(flow: DataflowGraph, number: int, tensor: int) -> dict[int, int]:
    """Map the axes that a lookup preserves, including its own axis if the indices are a list."""
    node = flow.nodes[number]
    data, indices = flow.shapes[tensor], flow.shapes[node.inputs[1]]
    axis = node.attributes.get("axis", 0)
    if data is None or indices is None or not isinstance(axis, int):
        return {}
    axis %= max(1, len(data))
    rank = len(data) + len(indices) - 1
    move = {}
    for new_axis in range(rank):
        if new_axis < axis:
            source = new_axis
        elif new_axis >= axis + len(indices):
            source = new_axis - len(indices) + 1
        elif len(indices) == 1:
            source = axis
        else:
            continue
        move[new_axis - rank] = source - len(data)
    return move
