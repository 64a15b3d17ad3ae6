"""Operators that keep the order of elements: the batch stays at the same position in that order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.sizes import PROBES
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule


@rule("Transpose")
def transpose(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The axis moves according to the permutation."""
    layout, rank = trace.first_layout(node, 0), len(trace.shape(node.inputs[0]))
    order = list(node.attr("perm") or range(rank)[::-1])
    return [layout.on(order.index(layout.axis))]


@rule("Reshape")
def reshape(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The shape is kept if it is right at every batch size, otherwise rewritten."""
    layout = trace.layout(node, 0)
    if layout is None:
        raise BatchBlocked(f"{node.inputs[1]} holds the batch size, {node.inputs[0]} does not hold the batch")
    shape, out = trace.shape(node.inputs[0]), trace.shape(node.outputs[0])
    requested = trace.requested_sizes(node, 1, "shape")
    candidates = layouts_after(trace, layout, shape, out)
    keep_zero = bool(node.attr("allowzero", 0))
    free = requested[1].index(-1) if requested and requested[1].count(-1) == 1 else -1

    def is_valid_for(c: Layout) -> bool:
        return requested is not None and all(
            _result(requested[p], shape, layout, p, keep_zero) == _item_shape(out, c, p) for p in PROBES
        )

    def order(c: Layout) -> tuple[bool, ...]:
        unmoved = c.axis == layout.axis and layout.is_batch_only
        return (not unmoved, not c.is_batch_only, c.axis != layout.axis, c.axis != free, c.outer != 1)

    if node.has(1) and node.inputs[1] in trace.sizes:
        candidates = [c for c in candidates if is_valid_for(c)] or candidates
    if not candidates:
        raise BatchBlocked(f"no axis of {list(out)} corresponds to the batch in the order of elements")
    pick, choices = trace.choose(node.outputs[0], sorted(candidates, key=order))
    if requested is None:
        raise BatchBlocked(f"the shape {node.inputs[1] if node.has(1) else ''} is computed from data")
    if not is_valid_for(pick):
        fixed = trace.const(node.inputs[1]) is not None if node.has(1) else True
        _rewrite_shape(trace, node, pick, requested[1] if fixed else None, layout, out)
    return [replace(pick, choices=choices)]


def layouts_after(
    trace: BatchTrace, layout: Layout, shape: Sequence[int], out: Sequence[int]
) -> list[Layout]:
    """Return every axis of ``out`` that can hold the batch by the order of elements. Raises: BatchBlocked."""
    if 0 in shape:
        raise BatchBlocked("its input has no elements")
    before, candidates, passed = math.prod(shape[: layout.axis]) * layout.outer, [], 1
    for axis, size in enumerate(out):
        if before % passed:
            break
        outer = before // passed
        if size % (outer * trace.batch) == 0:
            candidates.append(Layout(axis, outer, size // (outer * trace.batch)))
        passed *= size
    return candidates


def _item_shape(shape: Sequence[int], layout: Layout, batch: int) -> list[int]:
    return [layout.size(batch) if axis == layout.axis else size for axis, size in enumerate(shape)]


def _result(
    requested: Sequence[int], shape: Sequence[int], layout: Layout, batch: int, keep_zero: bool
) -> list[int]:
    """Return the result of a Reshape; an empty list if it is invalid."""
    item_shape = _item_shape(shape, layout, batch)
    out = [
        item_shape[i] if d == 0 and not keep_zero and i < len(item_shape) else d
        for i, d in enumerate(requested)
    ]
    total, remaining = math.prod(item_shape), math.prod(d for d in out if d != -1)
    if out.count(-1) == 1 and remaining > 0 and total % remaining == 0:
        out = [total // remaining if d == -1 else d for d in out]
    return out if math.prod(out) == total and -1 not in out else []


def _rewrite_shape(
    trace: BatchTrace,
    node: StructureNode,
    pick: Layout,
    requested: Sequence[int] | None,
    layout: Layout,
    out: Sequence[int],
) -> None:
    """Rewrite the shape, with -1 for the batch axis.

    With symbolic dimensions an existing -1 stays and the batch becomes a number. Computed dimensions become
    numbers valid for the file; if they change with symbolic ones, ``search`` refuses.
    """
    if trace.opset < 5:
        values = tuple(-1 if a == pick.axis else d for a, d in enumerate(out))
        trace.edit("ints", node, "shape", values)
        return
    parts: list[int | None] = [None if a == pick.axis else d for a, d in enumerate(out)]
    counted = False
    if requested is not None and not node.attr("allowzero", 0):
        for a, d in enumerate(requested):
            if a == pick.axis:
                continue
            if d == 0 and a != layout.axis:
                parts[a] = 0  # copies an input dimension, valid for any symbolic value
            elif d == -1 and trace.free:
                parts[a], counted = -1, True
    trace.edit("sized" if counted else "reshape", node, tuple(parts), pick.entries_per_item)


@rule("Squeeze", "Unsqueeze", "Flatten")
def axes_of_one(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Kept, or replaced by a Reshape if it would drop the batch axis or merge it with others."""
    layout = trace.layout(node, 0)
    if layout is None:
        raise BatchBlocked(f"{node.inputs[1]} holds the batch size, {node.inputs[0]} does not hold the batch")
    trace.require_equal_from(node, 1)
    shape, out = trace.shape(node.inputs[0]), trace.shape(node.outputs[0])
    natural = _batch_axis_after(trace, node, layout, shape, out)
    candidates = layouts_after(trace, layout, shape, out)

    def order(c: Layout) -> tuple[bool, ...]:
        return (c.axis != natural, not c.is_batch_only, c.outer != 1)

    if not candidates:
        raise BatchBlocked(f"no axis of {list(out)} corresponds to the batch in the order of elements")
    pick, choices = trace.choose(node.outputs[0], sorted(candidates, key=order))
    if pick.axis != natural:
        _rewrite_shape(trace, node, pick, None, layout, out)
    return [replace(pick, choices=choices)]


def _batch_axis_after(
    trace: BatchTrace, node: StructureNode, layout: Layout, shape: Sequence[int], out: Sequence[int]
) -> int | None:
    """Return the batch axis after the operator itself; None if it drops the axis."""
    rank = len(shape)
    if node.op_type == "Flatten":
        axis = node.attr("axis", 1)
        return 0 if layout.axis < (axis + rank if axis < 0 else axis) else 1
    axes = trace.ints(node, 1, "axes")
    if node.op_type == "Squeeze":
        removed = {a for a, d in enumerate(shape) if d == 1} if axes is None else {a % rank for a in axes}
        if axes is None and layout.axis in removed and layout.is_batch_only and trace.batch == 1:
            return None
        return None if layout.axis in removed else layout.axis - sum(a < layout.axis for a in removed)
    new = {a % len(out) for a in axes or ()}
    return [a for a in range(len(out)) if a not in new][layout.axis]
