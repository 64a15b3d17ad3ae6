"""Operators that gather and scatter by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import moves, new_size, old_size, steady
from py_autodoc.graph.resize.rules.cutting import place
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule


@rule("Gather")
def gather(walk: SizePass, node: Node) -> None:
    """Indexes a table by data, or stored positions of a changing axis."""
    data, index = node.inputs[:2]
    axes, spots = walk.at(data), walk.at(index)
    a = node.attributes.get("axis", 0) % len(axes)
    consts: dict[int, list[int] | int] = {}
    given: list[int] | None = None
    wanted: list[int] = []
    if moves(axes[a]) and walk.stored(index) and index not in walk.moved:
        given = walk.were(index)
        if given is None:
            raise SizeBlocked(f"it picks stored places of {old_size(axes[a])}", walk.name(index))
        if len(walk.was(index)) > 1:
            raise SizeBlocked(f"it picks a stored table of places of {old_size(axes[a])}", walk.name(index))
        wanted = _places(walk, node, given)
        if wanted != given:
            if not walk.was(index):
                _point(walk, node, wanted[0])
                return
            consts[1] = wanted
    elif moves(axes[a]) and len(axes[a]) > 1:
        raise SizeBlocked("its places count through several axes at once", walk.name(index))
    _require_rows(walk, node, a)
    walk.infer(node, consts=consts)
    if given is not None and len(wanted) != len(given):
        spots = (axes[a],)
    walk.put(node, 0, [*axes[:a], *spots, *axes[a + 1 :]])


def _places(walk: SizePass, node: Node, given: list[int]) -> list[int]:
    axis = walk.at(node.inputs[0])[node.attributes.get("axis", 0) % len(walk.at(node.inputs[0]))]
    size = old_size(axis)
    if len(given) == size > 1 and given == list(range(size)):
        return list(range(new_size(axis)))
    if len(given) == size > 1 and given == list(range(size))[::-1]:
        raise SizeBlocked("it turns an axis round by stored places")
    wanted = [place(axis, k) for k in given]
    if any(new < 0 <= k for new, k in zip(wanted, given, strict=True)):
        walk.note(node, f"place {given[0]} of {size} is counted from the end")
    return wanted


def _point(walk: SizePass, node: Node, k: int) -> None:
    """A single position, as a tensor without axes."""
    a = node.attributes.get("axis", 0)
    axes = walk.at(node.inputs[0])
    walk.infer(node, consts={1: k})
    walk.put(node, 0, [axis for i, axis in enumerate(axes) if i != a % len(axes)])


def _require_rows(walk: SizePass, node: Node, a: int) -> None:
    """Raises: SizeBlocked if a stored table has no row for a position computed from sizes."""
    data, index = node.inputs[:2]
    if index not in walk.moved or index in walk.fed:
        return
    rows = walk.now(data)[a]
    value = walk.state.values.get(index)
    longest = max(walk.now(index), default=0)
    top = longest - 1 if value is None else int(np.max(np.asarray(value), initial=0))
    if top >= rows:
        raise SizeBlocked(
            f"the stored table {walk.name(data)} {list(walk.was(data))} ends at {rows} entries, and"
            f" {top + 1} are wanted",
            walk.name(data),
        )


@rule("GatherElements")
def gather_elements(walk: SizePass, node: Node) -> None:
    """Stored positions per element are cut to those of the remaining elements."""
    data, index = node.inputs[:2]
    axes, spots = walk.at(data), list(walk.at(index))
    a = node.attributes.get("axis", 0) % len(axes)
    if moves(axes[a]) and walk.stored(index):
        raise SizeBlocked(f"it picks stored places of {old_size(axes[a])}", walk.name(index))
    cuts: dict[int, dict[int, int]] = {}
    if walk.stored(index) and index not in walk.moved:
        for axis, mine in enumerate(spots):
            wanted = axes[axis]
            if axis != a and moves(wanted) and old_size(mine) == old_size(wanted):
                cuts.setdefault(1, {})[axis] = walk.fit(node, 1, axis, wanted)
                spots[axis] = wanted
            elif axis == a and old_size(mine) in walk.spans:
                other = [x for x in axes if moves(x) and old_size(x) == old_size(mine)]
                reading = walk.choose(node, [other[0], mine] if other else [mine])
                if moves(reading):
                    cuts.setdefault(1, {})[axis] = walk.fit(node, 1, axis, reading)
                    spots[axis] = reading
    walk.infer(node, cuts=cuts)
    walk.put(node, 0, spots)


@rule("GatherND")
def gather_nd(walk: SizePass, node: Node) -> None:
    """Stored positions that run through a whole axis are extended or cut with it."""
    data, index = node.inputs[:2]
    if not walk.stored(index) or index in walk.moved:
        walk.plain(node)
        return
    value = walk.old.values.get(index)
    if value is None or node.attributes.get("batch_dims", 0):
        raise SizeBlocked("its places are stored", walk.name(index))
    axes, spots = walk.at(data), list(walk.at(index))
    table = np.asarray(value)
    for part in range(table.shape[-1]):
        if not moves(axes[part]):
            continue
        size, new = old_size(axes[part]), new_size(axes[part])
        along = next((j for j in range(table.ndim - 1) if _is_full_range(table[..., part], j, size)), None)
        if along is None:
            raise SizeBlocked(f"it picks stored places of {size}", walk.name(index))
        table = np.take(table, np.arange(new) % size, axis=along)
        shape = [new if j == along else 1 for j in range(table.ndim - 1)]
        table[..., part] = np.arange(new).reshape(shape)
        spots[along] = axes[part]
    walk.infer(node, consts={1: table} if table.shape != np.shape(value) else None)
    walk.put(node, 0, [*spots[:-1], *axes[table.shape[-1] :]])


def _is_full_range(table: Any, along: int, size: int) -> bool:
    """True if the positions are 0, 1, … to the end along one axis of the table."""
    if table.shape[along] != size:
        return False
    shape = [size if j == along else 1 for j in range(table.ndim)]
    return bool(np.all(table == np.arange(size).reshape(shape)))


@rule("ScatterND", "ScatterElements", "Scatter", "TensorScatter")
def by_number(walk: SizePass, node: Node) -> None:
    """Positions from data or sizes; stored ones belong to the old sizes."""
    index = node.inputs[1]
    if walk.stored(index) and index not in walk.moved:
        raise SizeBlocked("its places are stored", walk.name(index))
    walk.plain(node)


@rule("GatherBlockQuantized", domain="com.microsoft")
def gather_quantized(walk: SizePass, node: Node) -> None:
    """A stored table."""
    walk.plain(node)


@rule("OneHot")
def one_hot(walk: SizePass, node: Node) -> None:
    """The number of classes is stored."""
    axes = list(walk.at(node.inputs[0]))
    walk.infer(node)
    rank = len(axes) + 1
    a = node.attributes.get("axis", -1) % rank
    axes.insert(a, steady(walk.was(node.outputs[0])[a]))
    walk.put(node, 0, axes)


@rule("TopK")
def top(walk: SizePass, node: Node) -> None:
    """The number is stored, unless it was the whole axis."""
    axes = list(walk.at(node.inputs[0]))
    a = node.attributes.get("axis", -1) % len(axes)
    count = walk.was(node.outputs[0])[a]
    if moves(axes[a]) and (count >= new_size(axes[a]) or count == old_size(axes[a])):
        raise SizeBlocked(f"it takes {count} of {old_size(axes[a])} entries")
    walk.infer(node)
    axes[a] = steady(count)
    walk.put(node, 0, axes)
    walk.put(node, 1, axes)
