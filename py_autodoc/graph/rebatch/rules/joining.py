"""Operators that join or split along an axis."""

from __future__ import annotations

from py_autodoc.graph.rebatch.layout import END_OF_AXIS, BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.sizes import PROBES
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, full_cut, rule
from py_autodoc.graph.rebatch.unfold import unfolded


@rule("Concat")
def concat(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Joins along another axis, or along the batch axis if items are its inner part or are concatenated."""
    layouts = [trace.layout(node, i) for i in range(len(node.inputs))]
    first, rank = trace.first_layout(node), len(trace.shape(node.inputs[0]))
    axis = node.attr("axis", 1 if trace.opset < 4 else 0) % rank
    if axis != first.axis:
        for i in range(len(node.inputs)):
            trace.require_layout(node, i, first)
        return [first]
    with_batch = [layout for layout in layouts if layout is not None]
    all_on_axis = len(with_batch) == len(layouts) and all(layout.axis == axis for layout in with_batch)
    same_inner = all_on_axis and all(layout.inner == first.inner for layout in with_batch)
    if same_inner and (first.inner == 1 or any(layout.outer > 1 for layout in with_batch)):
        return [Layout(axis, sum(layout.outer for layout in with_batch), first.inner)]
    if all_on_axis and all(layout.outer == 1 for layout in with_batch):
        widths = tuple(layout.inner for layout in with_batch)
        unfolded(trace, node, [*range(len(node.inputs))], axis, widths, (sum(widths),))
        return [Layout(axis, 1, sum(widths))]
    raise BatchBlocked(f"it concatenates along axis {axis}, which holds the batch")


@rule("Split", "SplitToSequence")
def split(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Splits along another axis, or along the batch axis if whole blocks before it are separated."""
    if node.op_type == "SplitToSequence":
        raise BatchBlocked("sequences of tensors are not supported")
    trace.require_equal_from(node, 1)
    layout, rank, count = trace.first_layout(node, 0), len(trace.shape(node.inputs[0])), len(node.outputs)
    axis = node.attr("axis", 0) % rank
    if axis != layout.axis:
        return [layout] * count
    sizes = trace.ints(node, 1, "split")
    if sizes is None and layout.inner == 1 and layout.outer % count == 0 and layout.outer > 1:
        return [Layout(axis, layout.outer // count, 1)] * count
    if layout.outer == 1 and layout.inner > 1 and trace.batch == 1:
        widths = tuple(sizes or [trace.shape(name)[axis] for name in node.outputs])
        unfolded(trace, node, [0], axis, (layout.inner,), widths)
        return [Layout(axis, 1, width) for width in widths]
    raise BatchBlocked(f"it splits axis {axis}, which holds the batch")


@rule("Slice")
def slices(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Slices other axes; of the batch axis takes all, or the same part of every item."""
    layout, shape = trace.layout(node, 0), trace.shape(node.inputs[0])
    if layout is None:
        raise BatchBlocked(f"{node.inputs[0]} is sliced at the batch size")
    trace.require_equal(node, 1, 3, 4)
    ends = trace.requested_sizes(node, 2, "ends")
    if ends is None:
        raise BatchBlocked("its slice bounds depend on the data")
    axes = [a % len(shape) for a in trace.ints(node, 3, "axes") or range(len(ends[1]))]
    if any(ends[p][k] != ends[1][k] for p in PROBES for k, a in enumerate(axes) if a != layout.axis):
        raise BatchBlocked("it slices another axis at the batch size")
    if layout.axis not in axes:
        return [layout]
    position, size = axes.index(layout.axis), shape[layout.axis]
    starts = trace.ints(node, 1, "starts") or []
    steps = trace.ints(node, 4) or [1] * len(axes)
    first, step = starts[position], steps[position]
    if all(full_cut(0 if first == -size else first, ends[p][position], step, layout.size(p)) for p in PROBES):
        return [layout]
    if (
        first in (0, -size)
        and step == 1
        and ends[trace.batch if trace.batch in PROBES else 1][position] >= size
    ):
        values = tuple(END_OF_AXIS if k == position else e for k, e in enumerate(ends[1]))
        new_starts = tuple(0 if k == position else s for k, s in enumerate(starts))
        _rewritten(trace, node, new_starts, values)
        return [layout]
    if (
        layout.outer == 1
        and layout.inner > 1
        and trace.batch == 1
        and node.inputs[2:3] != ()
        and len(axes) == 1
    ):
        width = trace.shape(node.outputs[0])[layout.axis]
        if width:
            unfolded(trace, node, [0], layout.axis, (layout.inner,), (width,))
            return [Layout(layout.axis, 1, width)]
    raise BatchBlocked(f"it slices along axis {layout.axis}, which holds the batch")


def _rewritten(
    trace: BatchTrace, node: StructureNode, starts: tuple[int, ...], ends: tuple[int, ...]
) -> None:
    if node.has(2):
        if node.inputs[2] in trace.sizes or trace.const(node.inputs[1]) is None:
            raise BatchBlocked(f"{node.inputs[2]} is computed with 1 for the batch", node.inputs[2])
        trace.edit("const", node, 1, starts)
        trace.edit("const", node, 2, ends)
    else:
        trace.edit("ints", node, "starts", starts)
        trace.edit("ints", node, "ends", ends)
