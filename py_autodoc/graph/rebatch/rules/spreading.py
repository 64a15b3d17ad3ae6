"""Operators that repeat, pad or resize."""

from __future__ import annotations

import numpy as np

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.sizes import PROBES
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule


@rule("Expand", "Tile", "ConstantOfShape")
def expand(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Tensors with the batch may be expanded along other axes; others may be expanded over the batch."""
    is_fill = node.op_type == "ConstantOfShape"
    layout = None if is_fill else trace.layout(node, 0)
    if node.op_type == "Tile" and trace.opset < 6:
        raise BatchBlocked("Tile before opset 6 is not supported")
    requested = trace.requested_sizes(node, 0 if is_fill else 1)
    if requested is None:
        raise BatchBlocked("its output shape is computed from data")
    first_shape, second_shape = requested[PROBES[0]], requested[PROBES[1]]
    grown = [a for a in range(len(first_shape)) if first_shape[a] != second_shape[a]]
    if len(grown) > 1 or any(requested[p][a] != p * first_shape[a] for a in grown for p in PROBES):
        raise BatchBlocked("its output shape does not grow with the batch")
    if any(
        requested[p][a] != first_shape[a] for p in PROBES for a in range(len(first_shape)) if a not in grown
    ):
        raise BatchBlocked("its output shape does not grow with the batch")
    if layout is None:
        return [_over_batch(trace, node, grown[0], first_shape)]
    shape, rank = trace.shape(node.inputs[0]), len(first_shape)
    axis = layout.axis + rank - len(shape)
    if node.op_type == "Tile":
        if grown:
            raise BatchBlocked("it repeats a tensor that already holds the batch")
        return [Layout(layout.axis, layout.outer * first_shape[axis], layout.inner)]
    if grown and (grown[0] != axis or first_shape[axis] != layout.entries_per_item):
        raise BatchBlocked("it expands another axis with the batch size")
    if not grown and axis >= 0 and first_shape[axis] != 1:
        if first_shape[axis] != shape[layout.axis]:
            raise BatchBlocked("it expands the axis that holds the batch")
        if trace.const(node.inputs[1]) is None:
            raise BatchBlocked(f"{node.inputs[1]} is computed with 1 for the batch", node.inputs[1])
        trace.edit("const", node, 1, tuple(1 if a == axis else d for a, d in enumerate(first_shape)))
    return [layout.on(layout.axis + max(rank - len(shape), 0))]


def _over_batch(trace: BatchTrace, node: StructureNode, grown: int, requested: list[int]) -> Layout:
    """Return the layout of a tensor, equal for all items, after expansion over the batch."""
    shape = trace.shape(node.outputs[0])
    axis = grown + len(shape) - len(requested)
    if node.op_type == "Expand":
        input_shape = trace.shape(node.inputs[0])
        input_axis = axis - len(shape) + len(input_shape)
        if input_axis >= 0 and input_shape[input_axis] != 1:
            raise BatchBlocked(
                f"it expands {list(input_shape)} over the batch, but axis {input_axis} is not 1"
            )
    return Layout(axis, 1, shape[axis] // trace.batch)


@rule("Pad")
def pad(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Nothing is padded along the batch."""
    layout, rank = trace.first_layout(node, 0), len(trace.shape(node.inputs[0]))
    trace.require_equal(node, 2, 3)
    pads = trace.requested_sizes(node, 1, "pads" if trace.opset > 1 else "paddings")
    if pads is None:
        raise BatchBlocked("its padding is computed from data")
    axes = [a % rank for a in (trace.ints(node, 3) or range(rank))]
    for k, axis in enumerate(axes):
        if any(pads[p][k] != pads[1][k] or pads[p][k + len(axes)] != pads[1][k + len(axes)] for p in PROBES):
            raise BatchBlocked("its padding depends on the batch size")
        if axis == layout.axis and (pads[1][k] or pads[1][k + len(axes)]):
            raise BatchBlocked(f"it pads axis {axis}, which holds the batch")
    return [layout]


@rule("Resize", "Upsample")
def resize(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Nothing is resized along the batch."""
    layout = trace.first_layout(node, 0)
    shape, out = trace.shape(node.inputs[0]), trace.shape(node.outputs[0])
    if shape[layout.axis] != out[layout.axis]:
        raise BatchBlocked(f"it resizes axis {layout.axis}, which holds the batch")
    old = node.op_type == "Upsample" or trace.opset < 11
    trace.require_equal(node, *([1] if old else [1, 2]))
    rank = len(shape)
    axes = [a % rank for a in node.attr("axes") or range(rank)]
    if layout.axis not in axes:
        return [layout]
    position = axes.index(layout.axis)
    if not old and node.has(3):
        requested = trace.requested_sizes(node, 3)
        if requested is None:
            raise BatchBlocked("its sizes are computed from data", node.inputs[3])
        if _policy(node) != b"stretch":
            raise BatchBlocked("it keeps the aspect ratio over an axis that holds the batch")
        steady = all(
            requested[p][k] == requested[1][k] for p in PROBES for k in range(len(axes)) if k != position
        )
        if not steady:
            raise BatchBlocked("it resizes other axes with the batch size")
        if any(requested[p][position] != layout.size(p) for p in PROBES):
            parts = tuple(None if k == position else int(out[a]) for k, a in enumerate(axes))
            trace.edit("sizes", node, 3, parts, layout.entries_per_item)
        return [layout]
    scales = node.attr("scales")
    if scales is None:
        i = 1 if old else 2
        scales = trace.const(node.inputs[i]) if node.has(i) else None
    if scales is None or float(np.ravel(scales)[position]) != 1.0:
        raise BatchBlocked(f"its scale is not 1 along axis {layout.axis}, which holds the batch")
    return [layout]


def _policy(node: StructureNode) -> bytes:
    policy: bytes = node.attr("keep_aspect_ratio_policy", b"stretch")
    return policy
