"""Operators that gather and scatter by index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.rules.reshaping import layouts_after
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule

MS = "com.microsoft"


@rule("Gather")
def gather(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Either the data or the indices hold the batch."""
    data, index = trace.layout(node, 0), trace.layout(node, 1)
    shape, index_shape = trace.shape(node.inputs[0]), trace.shape(node.inputs[1])
    axis = node.attr("axis", 0) % len(shape)
    if data and index:
        raise BatchBlocked("data and indices both hold the batch; each item would need its own table")
    if index:
        return [index.on(axis + index.axis)]
    assert data is not None
    if data.axis != axis:
        return [data.on(data.axis + (len(index_shape) - 1 if data.axis > axis else 0))]
    if data.outer == 1 and trace.batch == 1 and data.inner > 1 and index_shape and trace.opset >= 5:
        return [_of_each(trace, node, axis, shape, index_shape)]
    if shape[axis] != 1 or trace.batch != 1:
        raise BatchBlocked(f"it gathers along axis {axis}, which holds the batch")
    if index_shape:
        raise BatchBlocked(f"it gathers items along axis {axis}")
    out = trace.shape(node.outputs[0])
    pick, choices = trace.choose(node.outputs[0], _best(layouts_after(trace, data, shape, out)))
    parts = tuple(None if a == pick.axis else d for a, d in enumerate(out))
    trace.edit("reshape", node, parts, pick.entries_per_item)
    return [replace(pick, choices=choices)]


def _best(candidates: Sequence[Layout]) -> list[Layout]:
    if not candidates:
        raise BatchBlocked("it selects the only item and removes the batch axis")
    return sorted(candidates, key=lambda c: (not c.is_batch_only, c.outer != 1))


def _of_each(
    trace: BatchTrace, node: StructureNode, axis: int, shape: tuple[int, ...], index_shape: tuple[int, ...]
) -> Layout:
    """Use the same positions for every item of an axis that folds positions after the batch."""
    single_index = len(index_shape) > 1 and index_shape[0] == 1
    inner = 1 if single_index else index_shape[0]
    out = (*shape[:axis], *index_shape, *shape[axis + 1 :])
    trace.edit("strided", node, axis, shape, index_shape, out, inner)
    return Layout(axis, 1, inner)


@rule("GatherBlockQuantized", domain=MS)
def gather_quantized(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The table is stored; the indices hold the batch."""
    trace.require_equal(node, 0, 2, 3)
    index = trace.first_layout(node, 1)
    axis = node.attr("gather_axis", 0) % len(trace.shape(node.inputs[0]))
    return [index.on(axis + index.axis)]


@rule("GatherElements", "ScatterElements", "Scatter")
def by_element(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Indexes along an axis other than the batch."""
    layout = trace.first_layout(node)
    trace.require_no_batch_on(node, layout, [node.attr("axis", 0)])
    for i in range(len(node.inputs)):
        trace.require_layout(node, i, layout)
    return [layout]


@rule("GatherND")
def gather_nd(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Indices apply to axes after the batch; an index of the only item becomes ``batch_dims``."""
    data, index = trace.layout(node, 0), trace.layout(node, 1)
    shape, index_shape = trace.shape(node.inputs[0]), trace.shape(node.inputs[1])
    ahead = node.attr("batch_dims", 0)
    if data is None and index is not None and not ahead:
        if index.axis == len(index_shape) - 1:
            raise BatchBlocked("the batch is on the last axis of the indices")
        return [index]
    if data is not None and index is None and data.axis >= ahead + index_shape[-1]:
        return (
            [data.on(data.axis - index_shape[-1] + len(index_shape) - 1 - ahead)] if not ahead else _no_rule()
        )
    layout = data or index
    assert layout is not None
    if (
        layout.axis
        or (data and index and data.key != index.key)
        or not index_shape[0] == shape[0] == layout.entries_per_item * trace.batch
    ):
        raise BatchBlocked("data and indices do not hold the batch on the same first axis")
    if ahead == 0:
        if (
            data is None
            or not layout.is_batch_only
            or trace.batch != 1
            or index_shape[-1] < 2
            or trace.opset < 12
            or len(index_shape) < 2
        ):
            raise BatchBlocked("it gathers along the axis that holds the batch")
        if index is None:
            trace.edit("repeat", node, 1, 0, len(index_shape))
        trace.edit("batch_dims", node)
        return [layout]
    trace.require_layout(node, 0, layout)
    trace.require_layout(node, 1, layout)
    return [layout]


def _no_rule() -> Layouts:
    raise BatchBlocked("data and indices do not hold the batch on the same first axis")


@rule("ScatterND")
def scatter_nd(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Indices are the same for all items and apply to axes before the batch."""
    trace.require_equal(node, 1)
    layout, index_shape = trace.layout(node, 0), trace.shape(node.inputs[1])
    rank = len(trace.shape(node.inputs[0]))
    update = trace.layout(node, 2)
    if layout is None:
        assert update is not None
        layout = update.on(update.axis - (len(index_shape) - 1) + index_shape[-1])
    if layout.axis < index_shape[-1] or layout.axis >= rank:
        return _scatter_items(trace, node, layout, index_shape)
    trace.require_layout(node, 0, layout)
    trace.require_layout(node, 2, layout.on(layout.axis - index_shape[-1] + len(index_shape) - 1))
    return [layout]


def _scatter_items(
    trace: BatchTrace, node: StructureNode, layout: Layout, index_shape: tuple[int, ...]
) -> Layouts:
    """Handle indices whose first component is the item, always 0; the others apply to every item."""
    value = trace.const(node.inputs[1])
    is_single_item = (
        layout.axis == 0 and layout.is_batch_only and trace.batch == 1 and trace.layout(node, 0) is not None
    )
    update = trace.layout(node, 2)
    if (
        not is_single_item
        or value is None
        or index_shape[-1] < 2
        or len(index_shape) < 2
        or index_shape[0] != 1
        or trace.opset < 13
    ):
        raise BatchBlocked("it scatters along the axis that holds the batch", "")
    if np.ravel(np.asarray(value)[..., 0]).any() or (update is not None and update.key != (0, 1, 1)):
        raise BatchBlocked("it scatters along the axis that holds the batch")
    trace.require_layout(node, 2, Layout(0))
    trace.edit("scatter", node, index_shape)
    return [layout]


@rule("OneHot")
def one_hot(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Adds an axis."""
    trace.require_equal_from(node, 1)
    layout, rank = trace.first_layout(node, 0), len(trace.shape(node.outputs[0]))
    axis = node.attr("axis", -1) % rank
    return [layout.on(layout.axis + (axis <= layout.axis))]


@rule("NonMaxSuppression")
def non_max_suppression(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Boxes and scores per item; the first column of the result is the item."""
    trace.require_equal_from(node, 2)
    layout = trace.first_layout(node, 0, 1)
    if layout.axis or not layout.is_batch_only:
        raise BatchBlocked(f"it uses axis 0 as the batch, which is on axis {layout.axis}")
    trace.require_layout(node, 0, layout)
    trace.require_layout(node, 1, layout)
    trace.note(node, "selects boxes of all items; the first column says of which")
    return [Layout(0, ragged=True)]
