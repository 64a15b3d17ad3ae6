"""Operators that gather and scatter by index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.rules.reshaping import places
from py_autodoc.graph.rebatch.trace import BatchTrace, Found, rule

MS = "com.microsoft"


@rule("Gather")
def gather(trace: BatchTrace, node: StructureNode) -> Found:
    """Either the data or the indices hold the batch."""
    data, index = trace.at(node, 0), trace.at(node, 1)
    shape, spots = trace.shape(node.inputs[0]), trace.shape(node.inputs[1])
    axis = node.attr("axis", 0) % len(shape)
    if data and index:
        raise BatchBlocked("data and indices both hold the batch; each item would need its own table")
    if index:
        return [index.on(axis + index.axis)]
    assert data is not None
    if data.axis != axis:
        return [data.on(data.axis + (len(spots) - 1 if data.axis > axis else 0))]
    if data.outer == 1 and trace.batch == 1 and data.inner > 1 and spots and trace.opset >= 5:
        return [_of_each(trace, node, axis, shape, spots)]
    if shape[axis] != 1 or trace.batch != 1:
        raise BatchBlocked(f"it gathers along axis {axis}, which holds the batch")
    if spots:
        raise BatchBlocked(f"it gathers items along axis {axis}")
    out = trace.shape(node.outputs[0])
    pick, via = trace.choose(node.outputs[0], _best(places(trace, data, shape, out)))
    parts = tuple(None if a == pick.axis else d for a, d in enumerate(out))
    trace.edit("reshape", node, parts, pick.many)
    return [replace(pick, via=via)]


def _best(found: Sequence[Layout]) -> list[Layout]:
    if not found:
        raise BatchBlocked("it picks the only item and leaves no axis for the batch")
    return sorted(found, key=lambda c: (not c.whole, c.outer != 1))


def _of_each(
    trace: BatchTrace, node: StructureNode, axis: int, shape: tuple[int, ...], spots: tuple[int, ...]
) -> Layout:
    """Use the same positions for every item of an axis that folds positions after the batch."""
    alone = len(spots) > 1 and spots[0] == 1
    inner = 1 if alone else spots[0]
    out = (*shape[:axis], *spots, *shape[axis + 1 :])
    trace.edit("strided", node, axis, shape, spots, out, inner)
    return Layout(axis, 1, inner)


@rule("GatherBlockQuantized", domain=MS)
def gather_quantized(trace: BatchTrace, node: StructureNode) -> Found:
    """The table is stored; the indices hold the batch."""
    trace.never(node, 0, 2, 3)
    index = trace.first(node, 1)
    axis = node.attr("gather_axis", 0) % len(trace.shape(node.inputs[0]))
    return [index.on(axis + index.axis)]


@rule("GatherElements", "ScatterElements", "Scatter")
def by_element(trace: BatchTrace, node: StructureNode) -> Found:
    """Indexes along an axis other than the batch."""
    at = trace.first(node)
    trace.clear(node, at, [node.attr("axis", 0)])
    for i in range(len(node.inputs)):
        trace.need(node, i, at)
    return [at]


@rule("GatherND")
def gather_nd(trace: BatchTrace, node: StructureNode) -> Found:
    """Indices apply to axes after the batch; an index of the only item becomes ``batch_dims``."""
    data, index = trace.at(node, 0), trace.at(node, 1)
    shape, spots = trace.shape(node.inputs[0]), trace.shape(node.inputs[1])
    ahead = node.attr("batch_dims", 0)
    if data is None and index is not None and not ahead:
        if index.axis == len(spots) - 1:
            raise BatchBlocked("the batch is on the axis of the indices' parts")
        return [index]
    if data is not None and index is None and data.axis >= ahead + spots[-1]:
        return [data.on(data.axis - spots[-1] + len(spots) - 1 - ahead)] if not ahead else _no_rule()
    at = data or index
    assert at is not None
    if (
        at.axis
        or (data and index and data.place != index.place)
        or not spots[0] == shape[0] == at.many * trace.batch
    ):
        raise BatchBlocked("data and indices do not hold the batch on the same first axis")
    if ahead == 0:
        if (
            data is None
            or not at.whole
            or trace.batch != 1
            or spots[-1] < 2
            or trace.opset < 12
            or len(spots) < 2
        ):
            raise BatchBlocked("it gathers along the axis that holds the batch")
        if index is None:
            trace.edit("repeat", node, 1, 0, len(spots))
        trace.edit("own", node)
        return [at]
    trace.need(node, 0, at)
    trace.need(node, 1, at)
    return [at]


def _no_rule() -> Found:
    raise BatchBlocked("data and indices do not hold the batch on the same first axis")


@rule("ScatterND")
def scatter_nd(trace: BatchTrace, node: StructureNode) -> Found:
    """Indices are the same for all items and apply to axes before the batch."""
    trace.never(node, 1)
    at, spots = trace.at(node, 0), trace.shape(node.inputs[1])
    rank = len(trace.shape(node.inputs[0]))
    update = trace.at(node, 2)
    if at is None:
        assert update is not None
        at = update.on(update.axis - (len(spots) - 1) + spots[-1])
    if at.axis < spots[-1] or at.axis >= rank:
        return _scatter_items(trace, node, at, spots)
    trace.need(node, 0, at)
    trace.need(node, 2, at.on(at.axis - spots[-1] + len(spots) - 1))
    return [at]


def _scatter_items(trace: BatchTrace, node: StructureNode, at: Layout, spots: tuple[int, ...]) -> Found:
    """Handle indices whose first component is the item, always 0; the others apply to every item."""
    value = trace.const(node.inputs[1])
    whole = at.axis == 0 and at.whole and trace.batch == 1 and trace.at(node, 0) is not None
    update = trace.at(node, 2)
    if not whole or value is None or spots[-1] < 2 or len(spots) < 2 or spots[0] != 1 or trace.opset < 13:
        raise BatchBlocked("it scatters along the axis that holds the batch", "")
    if np.ravel(np.asarray(value)[..., 0]).any() or (update is not None and update.place != (0, 1, 1)):
        raise BatchBlocked("it scatters along the axis that holds the batch")
    trace.need(node, 2, Layout(0))
    trace.edit("scatter", node, spots)
    return [at]


@rule("OneHot")
def one_hot(trace: BatchTrace, node: StructureNode) -> Found:
    """Adds an axis."""
    trace.beyond(node, 1)
    at, rank = trace.first(node, 0), len(trace.shape(node.outputs[0]))
    axis = node.attr("axis", -1) % rank
    return [at.on(at.axis + (axis <= at.axis))]


@rule("NonMaxSuppression")
def suppress(trace: BatchTrace, node: StructureNode) -> Found:
    """Boxes and scores per item; the first column of the result is the item."""
    trace.beyond(node, 2)
    at = trace.first(node, 0, 1)
    if at.axis or not at.whole:
        raise BatchBlocked(f"it uses axis 0 as the batch, which is on axis {at.axis}")
    trace.need(node, 0, at)
    trace.need(node, 1, at)
    trace.note(node, "selects boxes of all items; the first column says of which")
    return [Layout(0, ragged=True)]
