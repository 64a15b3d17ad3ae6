"""How far queries see: sliding windows (Beltagy et al., Longformer, 2020) and chunks of keys.

Read from attributes of fused operators, from comparisons of key positions with query positions, and from
known masks. A position is visible to itself, so of the two sides of a comparison the visible one is that of
equal positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from py_autodoc.blocks.attention_layers.attention_mask import hides_keys, mask_parts
from py_autodoc.blocks.attention_layers.mask_axes import MaskAxes
from py_autodoc.blocks.attention_layers.position_comparison import (
    COMPARISONS,
    distance_threshold,
    equal_chunks,
)
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import MS
from py_autodoc.blocks.results import AttentionLayer

_LOCAL = {
    f"{MS}GroupQueryAttention": "local_window_size",
    f"{MS}PagedAttention": "local_window_size",
}
"""Attributes with the number of visible keys, the query's own included."""
_ONE_SIDED = {f"{MS}LongformerAttention": "window"}
"""Attributes with the number of visible keys on each side."""
_MAX_NODES = 96


@dataclass(frozen=True, slots=True)
class _Reach:
    """Visible keys by their distance, key − query; None: not limited."""

    low: int | None = None
    high: int | None = None
    chunk: int | None = None
    """Keys of a query's own chunk only."""

    def within(self, other: _Reach) -> _Reach:
        """Return what both show."""
        return _Reach(
            _known(max, self.low, other.low),
            _known(min, self.high, other.high),
            _known(min, self.chunk, other.chunk),
        )


def _known(choose: Any, one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else choose(one, other)


def attention_window(flow: DataflowGraph, layer: AttentionLayer) -> int | None:
    """Return the most keys that a query of a layer sees, its own included; None if all, or unknown."""
    op, attributes = flow.qualified_op_types[layer.anchor], flow.nodes[layer.anchor].attributes
    size = attributes.get(_LOCAL.get(op, ""))
    if isinstance(size, int) and size > 0:
        return size
    side = attributes.get(_ONE_SIDED.get(op, ""))
    if isinstance(side, int) and side > 0:
        return 2 * side + 1
    if layer.kind == "cross":
        return None
    reach = _Reach()
    for tensor in layer.masks:
        cache = flow.memo.setdefault(attention_window, {})  # layers share masks
        if tensor not in cache:
            cache[tensor] = _reach(flow, tensor)
        reach = reach.within(cache[tensor])
    if reach.chunk is not None:
        return reach.chunk
    last = reach.high if reach.high is not None else 0 if layer.causal else None
    if reach.low is None or last is None or last - reach.low < 1:
        return None
    return last - reach.low + 1


def _reach(flow: DataflowGraph, tensor: int) -> _Reach:
    """Return the reach of a mask, from all its parts. Bounded."""
    reach = _Reach()
    queue, seen, index = [MaskAxes(tensor)], {tensor}, 0
    while index < len(queue) and index < _MAX_NODES:
        axes, index = queue[index], index + 1
        found = _part_reach(flow, axes)
        if found is not None:
            reach = reach.within(found)
            continue
        for part in mask_parts(flow, axes):
            if part.tensor not in seen:
                seen.add(part.tensor)
                queue.append(part)
    return reach


def _part_reach(flow: DataflowGraph, axes: MaskAxes) -> _Reach | None:
    """Return the reach of a tensor that needs no decomposition, else None."""
    value = flow.value(axes.tensor)
    if isinstance(value, np.ndarray) and value.ndim > 1 and axes.query is not None and axes.key is not None:
        if max(-axes.query, -axes.key) > value.ndim:
            return _Reach()
        return _table_reach(np.moveaxis(value, (axes.query, axes.key), (-2, -1)))
    number = flow.producers[axes.tensor]
    if number < 0:
        return None
    op, node = flow.qualified_op_types[number], flow.nodes[number]
    if op == "Trilu":
        return _of_threshold(_diagonal(flow, number))
    if op not in COMPARISONS or len(node.inputs) != 2 or min(node.inputs) < 0:
        return None
    if op == "Equal":
        chunk = equal_chunks(flow, number)
        return None if chunk is None else _Reach(chunk=chunk)
    threshold = distance_threshold(flow, number)
    if threshold is None:
        return None
    distance, both_sides = threshold
    if both_sides:
        return _Reach(1 - distance, distance - 1) if distance > 1 else _Reach()
    return _of_threshold(distance)


def _of_threshold(distance: int | None) -> _Reach:
    """Return the visible distances: below ``distance``, or from it on, whichever side has 0."""
    if distance is None:
        return _Reach()
    return _Reach(low=distance) if distance <= 0 else _Reach(high=distance - 1)


def _diagonal(flow: DataflowGraph, number: int) -> int | None:
    """Return the distance from which a Trilu keeps (upper) or drops values; None if unknown."""
    node = flow.nodes[number]
    value = flow.value(node.inputs[1]) if len(node.inputs) > 1 and node.inputs[1] >= 0 else np.zeros(1)
    if not isinstance(value, np.ndarray) or value.size != 1:
        return None
    diagonal = int(value.reshape(-1)[0])
    return diagonal if node.attributes.get("upper", 1) else diagonal + 1


def _table_reach(table: np.ndarray[Any, Any]) -> _Reach:
    """Return the reach of a known mask: equal for all queries up to the first and last key, or in chunks."""
    matrices = table.reshape(-1, *table.shape[-2:])
    rows, columns = matrices.shape[-2:]
    if rows < 2 or columns < rows or not (matrices == matrices[:1]).all():
        return _Reach()
    hidden = hides_keys(matrices[0])
    if hidden is None:
        return _Reach()
    for shift in dict.fromkeys((columns - rows, 0)):
        own = np.arange(rows) + shift
        visible = ~hidden
        if not visible[np.arange(rows), own].all():
            continue
        first = np.argmax(visible, axis=1)
        last = columns - 1 - np.argmax(visible[:, ::-1], axis=1)
        if (last - first + 1 != visible.sum(axis=1)).any():
            continue
        low, high = int((first - own).max()), int((last - own).min())
        back, ahead = int((first - own).min()), int((last - own).max())
        if (first == np.maximum(0, own + back)).all() and (
            last == np.minimum(columns - 1, own + ahead)
        ).all():
            return _Reach(back if first.any() else None, ahead if (last < columns - 1).any() else None)
        jumps = np.flatnonzero(np.diff(first))
        chunk = int(np.diff(first)[jumps[0]]) if jumps.size else 0
        if (
            chunk > 1
            and low == 0
            and high >= 0
            and (first % chunk == 0).all()
            and (own - first < chunk).all()
        ):
            return _Reach(chunk=chunk)
    return _Reach()
