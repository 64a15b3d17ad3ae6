"""Operators that repeat, pad or resize."""

from __future__ import annotations

import numpy as np

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.sizes import PROBES
from py_autodoc.graph.rebatch.trace import BatchTrace, Found, rule


@rule("Expand", "Tile", "ConstantOfShape")
def spread(trace: BatchTrace, node: StructureNode) -> Found:
    """Tensors with the batch may be expanded along other axes; others may be expanded over the batch."""
    made = node.op_type == "ConstantOfShape"
    at = None if made else trace.at(node, 0)
    if node.op_type == "Tile" and trace.opset < 6:
        raise BatchBlocked("Tile has another form before opset 6")
    asked = trace.asked(node, 0 if made else 1)
    if asked is None:
        raise BatchBlocked("the shape it makes is computed from data")
    one, two = asked[PROBES[0]], asked[PROBES[1]]
    grown = [a for a in range(len(one)) if one[a] != two[a]]
    if len(grown) > 1 or any(asked[p][a] != p * one[a] for a in grown for p in PROBES):
        raise BatchBlocked("the shape it makes does not grow with the batch")
    if any(asked[p][a] != one[a] for p in PROBES for a in range(len(one)) if a not in grown):
        raise BatchBlocked("the shape it makes does not grow with the batch")
    if at is None:
        return [_over_batch(trace, node, grown[0], one)]
    shape, rank = trace.shape(node.inputs[0]), len(one)
    axis = at.axis + rank - len(shape)
    if node.op_type == "Tile":
        if grown:
            raise BatchBlocked("it repeats a tensor that already holds the batch")
        return [Layout(at.axis, at.outer * one[axis], at.inner)]
    if grown and (grown[0] != axis or one[axis] != at.many):
        raise BatchBlocked("it spreads another axis with the batch size")
    if not grown and axis >= 0 and one[axis] != 1:
        if one[axis] != shape[at.axis]:
            raise BatchBlocked("it expands the axis that holds the batch")
        if trace.const(node.inputs[1]) is None:
            raise BatchBlocked(f"{node.inputs[1]} is computed with 1 for the batch", node.inputs[1])
        trace.edit("const", node, 1, tuple(1 if a == axis else d for a, d in enumerate(one)))
    return [at.on(at.axis + max(rank - len(shape), 0))]


def _over_batch(trace: BatchTrace, node: StructureNode, grown: int, asked: list[int]) -> Layout:
    """Return the layout of a tensor, equal for all items, after expansion over the batch."""
    shape = trace.shape(node.outputs[0])
    axis = grown + len(shape) - len(asked)
    if node.op_type == "Expand":
        given = trace.shape(node.inputs[0])
        place = axis - len(shape) + len(given)
        if place >= 0 and given[place] != 1:
            raise BatchBlocked(f"it spreads {list(given)} over the batch, of which axis {place} is not 1")
    return Layout(axis, 1, shape[axis] // trace.batch)


@rule("Pad")
def pad(trace: BatchTrace, node: StructureNode) -> Found:
    """Nothing is padded along the batch."""
    at, rank = trace.first(node, 0), len(trace.shape(node.inputs[0]))
    trace.never(node, 2, 3)
    pads = trace.asked(node, 1, "pads" if trace.opset > 1 else "paddings")
    if pads is None:
        raise BatchBlocked("its pads are computed from data")
    axes = [a % rank for a in (trace.ints(node, 3) or range(rank))]
    for k, axis in enumerate(axes):
        if any(pads[p][k] != pads[1][k] or pads[p][k + len(axes)] != pads[1][k + len(axes)] for p in PROBES):
            raise BatchBlocked("it adds as many as the batch size says")
        if axis == at.axis and (pads[1][k] or pads[1][k + len(axes)]):
            raise BatchBlocked(f"it adds to axis {axis}, which holds the batch")
    return [at]


@rule("Resize", "Upsample")
def resize(trace: BatchTrace, node: StructureNode) -> Found:
    """Nothing is resized along the batch."""
    at = trace.first(node, 0)
    shape, out = trace.shape(node.inputs[0]), trace.shape(node.outputs[0])
    if shape[at.axis] != out[at.axis]:
        raise BatchBlocked(f"it resizes axis {at.axis}, which holds the batch")
    old = node.op_type == "Upsample" or trace.opset < 11
    trace.never(node, *([1] if old else [1, 2]))
    rank = len(shape)
    axes = [a % rank for a in node.attr("axes") or range(rank)]
    if at.axis not in axes:
        return [at]
    place = axes.index(at.axis)
    if not old and node.has(3):
        asked = trace.asked(node, 3)
        if asked is None:
            raise BatchBlocked("its sizes are computed from data", node.inputs[3])
        if _policy(node) != b"stretch":
            raise BatchBlocked("it keeps the aspect ratio over an axis that holds the batch")
        steady = all(asked[p][k] == asked[1][k] for p in PROBES for k in range(len(axes)) if k != place)
        if not steady:
            raise BatchBlocked("it resizes other axes with the batch size")
        if any(asked[p][place] != at.size(p) for p in PROBES):
            parts = tuple(None if k == place else int(out[a]) for k, a in enumerate(axes))
            trace.edit("sizes", node, 3, parts, at.many)
        return [at]
    given = node.attr("scales")
    if given is None:
        i = 1 if old else 2
        given = trace.const(node.inputs[i]) if node.has(i) else None
    if given is None or float(np.ravel(given)[place]) != 1.0:
        raise BatchBlocked(f"its scale is not 1 along axis {at.axis}, which holds the batch")
    return [at]


def _policy(node: StructureNode) -> bytes:
    found: bytes = node.attr("keep_aspect_ratio_policy", b"stretch")
    return found
