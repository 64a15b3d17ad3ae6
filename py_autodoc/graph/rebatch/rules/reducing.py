"""Operators along an axis that keep the other axes."""

from __future__ import annotations

from py_autodoc.graph.operators.reductions import REDUCTIONS
from py_autodoc.graph.rebatch.layout import BatchBlocked
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule


@rule(*REDUCTIONS, "ArgMax", "ArgMin")
def reduce(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Reduced axes must not hold the batch."""
    trace.require_equal_from(node, 1)
    layout, rank = trace.first_layout(node, 0), len(trace.shape(node.inputs[0]))
    axes = [node.attr("axis", 0)] if node.op_type.startswith("Arg") else trace.ints(node, 1, "axes")
    if not axes:
        if node.attr("noop_with_empty_axes", 0):
            return [layout]
        axes = list(range(rank))
    trace.require_no_batch_on(node, layout, axes)
    removed = [] if node.attr("keepdims", 1) else [a % rank for a in axes]
    return [layout.on(layout.axis - sum(a < layout.axis for a in removed))]


@rule("Trilu")
@rule("Trilu", domain="com.microsoft")
def trilu(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Uses the last two axes."""
    trace.require_equal_from(node, 1)
    layout = trace.first_layout(node, 0)
    trace.require_no_batch_on(node, layout, [-1, -2])
    return [layout]


@rule("Det")
@rule("Inverse", domain="com.microsoft")
def det(trace: BatchTrace, node: StructureNode) -> Layouts:
    """A matrix on the last two axes."""
    layout = trace.first_layout(node, 0)
    trace.require_no_batch_on(node, layout, [-1, -2])
    return [layout]


@rule("LpNormalization", "TopK")
def along_axis(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Along one axis, given by an attribute."""
    trace.require_equal_from(node, 1)
    layout = trace.first_layout(node, 0)
    trace.require_no_batch_on(node, layout, [node.attr("axis", -1)])
    return [layout] * len(node.outputs)


@rule("CumSum", "CumProd")
def cumulative(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Along one axis, given by an input."""
    trace.require_equal_from(node, 1)
    layout = trace.first_layout(node, 0)
    trace.require_no_batch_on(node, layout, trace.ints(node, 1) or [0])
    return [layout]


@rule("MeanVarianceNormalization")
def mean_variance(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Statistics over axes that by default include the first."""
    layout = trace.first_layout(node, 0)
    trace.require_no_batch_on(node, layout, node.attr("axes", [0, 2, 3]))
    return [layout]


@rule("DFT")
def dft(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Along one axis, besides the axis of real and imaginary parts."""
    trace.require_equal_from(node, 1)
    layout, rank = trace.first_layout(node, 0), len(trace.shape(node.inputs[0]))
    axis_value = trace.ints(node, 2) if node.has(2) else None
    axis = axis_value[0] if axis_value else node.attr("axis", 1 if trace.opset < 20 else -2)
    if node.attr("onesided", 0) and node.attr("inverse", 0) and rank < 2:
        raise BatchBlocked("it has no axis for the batch")
    trace.require_no_batch_on(node, layout, [axis, rank - 1])
    return [layout]


@rule("STFT")
def stft(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Signals are on the first axis."""
    trace.require_equal_from(node, 1)
    layout = trace.first_layout(node, 0)
    if layout.axis:
        raise BatchBlocked(f"it uses axis 0 as the batch, which is on axis {layout.axis}")
    return [layout]


@rule("ReverseSequence")
def reverse_sequence(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The operator's attributes define the batch axis."""
    layout = trace.first_layout(node)
    if layout.axis != node.attr("batch_axis", 1):
        raise BatchBlocked(
            f"the batch is on axis {layout.axis}, but its batch axis is {node.attr('batch_axis', 1)}"
        )
    trace.require_layout(node, 0, layout)
    trace.require_layout(node, 1, layout.on(0))
    return [layout]
