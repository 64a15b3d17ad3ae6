"""Operators that gather and scatter by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import changes_size, fixed_axis, new_size, old_size
from py_autodoc.graph.resize.rules.cutting import new_position
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule


@rule("Gather")
def gather(walk: SizePass, node: Node) -> None:
    """Indexes a table by data, or stored positions of a changing axis."""
    data, index = node.inputs[:2]
    axes, index_axes = walk.axes_of(data), walk.axes_of(index)
    a = node.attributes.get("axis", 0) % len(axes)
    consts: dict[int, list[int] | int] = {}
    old_indices: list[int] | None = None
    new_indices: list[int] = []
    if changes_size(axes[a]) and walk.is_stored(index) and index not in walk.changing_values:
        old_indices = walk.old_numbers(index)
        if old_indices is None:
            raise SizeBlocked(
                f"it uses stored indices into an axis of {old_size(axes[a])} entries", walk.name(index)
            )
        if len(walk.old_shape(index)) > 1:
            raise SizeBlocked(
                f"it uses a stored table of indices into an axis of {old_size(axes[a])} entries",
                walk.name(index),
            )
        new_indices = _new_indices(walk, node, old_indices)
        if new_indices != old_indices:
            if not walk.old_shape(index):
                _point(walk, node, new_indices[0])
                return
            consts[1] = new_indices
    elif changes_size(axes[a]) and len(axes[a]) > 1:
        raise SizeBlocked("its indices run over several merged axes", walk.name(index))
    _require_rows(walk, node, a)
    walk.infer(node, consts=consts)
    if old_indices is not None and len(new_indices) != len(old_indices):
        index_axes = (axes[a],)
    walk.put(node, 0, [*axes[:a], *index_axes, *axes[a + 1 :]])


def _new_indices(walk: SizePass, node: Node, old_indices: list[int]) -> list[int]:
    axis = walk.axes_of(node.inputs[0])[node.attributes.get("axis", 0) % len(walk.axes_of(node.inputs[0]))]
    size = old_size(axis)
    if len(old_indices) == size > 1 and old_indices == list(range(size)):
        return list(range(new_size(axis)))
    if len(old_indices) == size > 1 and old_indices == list(range(size))[::-1]:
        raise SizeBlocked("it reverses an axis with stored indices")
    new_indices = [new_position(axis, k) for k in old_indices]
    if any(new < 0 <= k for new, k in zip(new_indices, old_indices, strict=True)):
        walk.note(node, f"index {old_indices[0]} of {size} is counted from the end")
    return new_indices


def _point(walk: SizePass, node: Node, k: int) -> None:
    """A single position, as a tensor without axes."""
    a = node.attributes.get("axis", 0)
    axes = walk.axes_of(node.inputs[0])
    walk.infer(node, consts={1: k})
    walk.put(node, 0, [axis for i, axis in enumerate(axes) if i != a % len(axes)])


def _require_rows(walk: SizePass, node: Node, a: int) -> None:
    """Raises: SizeBlocked if a stored table has no row for a position computed from sizes."""
    data, index = node.inputs[:2]
    if index not in walk.changing_values or index in walk.data_dependent:
        return
    rows = walk.new_shape(data)[a]
    value = walk.state.values.get(index)
    longest = max(walk.new_shape(index), default=0)
    top = longest - 1 if value is None else int(np.max(np.asarray(value), initial=0))
    if top >= rows:
        raise SizeBlocked(
            f"the stored table {walk.name(data)} {list(walk.old_shape(data))} has only {rows} entries, but"
            f" {top + 1} are needed",
            walk.name(data),
        )


@rule("GatherElements")
def gather_elements(walk: SizePass, node: Node) -> None:
    """Stored positions per element are cut to those of the remaining elements."""
    data, index = node.inputs[:2]
    axes, index_axes = walk.axes_of(data), list(walk.axes_of(index))
    a = node.attributes.get("axis", 0) % len(axes)
    if changes_size(axes[a]) and walk.is_stored(index):
        raise SizeBlocked(
            f"it uses stored indices into an axis of {old_size(axes[a])} entries", walk.name(index)
        )
    cuts: dict[int, dict[int, int]] = {}
    if walk.is_stored(index) and index not in walk.changing_values:
        for axis, index_axis in enumerate(index_axes):
            data_axis = axes[axis]
            if axis != a and changes_size(data_axis) and old_size(index_axis) == old_size(data_axis):
                cuts.setdefault(1, {})[axis] = walk.fit(node, 1, axis, data_axis)
                index_axes[axis] = data_axis
            elif axis == a and old_size(index_axis) in walk.spans:
                matching_axes = [x for x in axes if changes_size(x) and old_size(x) == old_size(index_axis)]
                reading = walk.choose(node, [matching_axes[0], index_axis] if matching_axes else [index_axis])
                if changes_size(reading):
                    cuts.setdefault(1, {})[axis] = walk.fit(node, 1, axis, reading)
                    index_axes[axis] = reading
    walk.infer(node, cuts=cuts)
    walk.put(node, 0, index_axes)


@rule("GatherND")
def gather_nd(walk: SizePass, node: Node) -> None:
    """Stored positions that run through a whole axis are extended or cut with it."""
    data, index = node.inputs[:2]
    if not walk.is_stored(index) or index in walk.changing_values:
        walk.unchanged(node)
        return
    value = walk.old.values.get(index)
    if value is None or node.attributes.get("batch_dims", 0):
        raise SizeBlocked("its indices are stored", walk.name(index))
    axes, index_axes = walk.axes_of(data), list(walk.axes_of(index))
    table = np.asarray(value)
    for component in range(table.shape[-1]):
        if not changes_size(axes[component]):
            continue
        size, new = old_size(axes[component]), new_size(axes[component])
        range_axis = next(
            (j for j in range(table.ndim - 1) if _is_full_range(table[..., component], j, size)), None
        )
        if range_axis is None:
            raise SizeBlocked(f"it uses stored indices into an axis of {size} entries", walk.name(index))
        table = np.take(table, np.arange(new) % size, axis=range_axis)
        shape = [new if j == range_axis else 1 for j in range(table.ndim - 1)]
        table[..., component] = np.arange(new).reshape(shape)
        index_axes[range_axis] = axes[component]
    walk.infer(node, consts={1: table} if table.shape != np.shape(value) else None)
    walk.put(node, 0, [*index_axes[:-1], *axes[table.shape[-1] :]])


def _is_full_range(table: Any, axis: int, size: int) -> bool:
    """True if the positions are 0, 1, … to the end along one axis of the table."""
    if table.shape[axis] != size:
        return False
    shape = [size if j == axis else 1 for j in range(table.ndim)]
    return bool(np.all(table == np.arange(size).reshape(shape)))


@rule("ScatterND", "ScatterElements", "Scatter", "TensorScatter")
def by_number(walk: SizePass, node: Node) -> None:
    """Positions from data or sizes; stored ones belong to the old sizes."""
    index = node.inputs[1]
    if walk.is_stored(index) and index not in walk.changing_values:
        raise SizeBlocked("its indices are stored", walk.name(index))
    walk.unchanged(node)


@rule("GatherBlockQuantized", domain="com.microsoft")
def gather_quantized(walk: SizePass, node: Node) -> None:
    """A stored table."""
    walk.unchanged(node)


@rule("OneHot")
def one_hot(walk: SizePass, node: Node) -> None:
    """The number of classes is stored."""
    axes = list(walk.axes_of(node.inputs[0]))
    walk.infer(node)
    rank = len(axes) + 1
    a = node.attributes.get("axis", -1) % rank
    axes.insert(a, fixed_axis(walk.old_shape(node.outputs[0])[a]))
    walk.put(node, 0, axes)


@rule("TopK")
def top(walk: SizePass, node: Node) -> None:
    """The number is stored, unless it was the whole axis."""
    axes = list(walk.axes_of(node.inputs[0]))
    a = node.attributes.get("axis", -1) % len(axes)
    count = walk.old_shape(node.outputs[0])[a]
    if changes_size(axes[a]) and (count >= new_size(axes[a]) or count == old_size(axes[a])):
        raise SizeBlocked(f"it selects {count} of {old_size(axes[a])} entries")
    walk.infer(node)
    axes[a] = fixed_axis(count)
    walk.put(node, 0, axes)
    walk.put(node, 1, axes)
