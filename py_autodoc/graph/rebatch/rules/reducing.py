"""Operators along an axis that keep the other axes."""

from __future__ import annotations

from py_autodoc.graph.rebatch.layout import Blocked
from py_autodoc.graph.rebatch.prepare import Node
from py_autodoc.graph.rebatch.trace import Found, Trace, rule


@rule(
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceProd", "ReduceSum", "ReduceSumSquare", "ArgMax", "ArgMin",
)  # fmt: skip
def reduce(trace: Trace, node: Node) -> Found:
    """Axes that are reduced must not hold the batch."""
    trace.beyond(node, 1)
    at, rank = trace.first(node, 0), len(trace.shape(node.inputs[0]))
    axes = [node.attr("axis", 0)] if node.op_type.startswith("Arg") else trace.ints(node, 1, "axes")
    if not axes:
        if node.attr("noop_with_empty_axes", 0):
            return [at]
        axes = list(range(rank))
    trace.clear(node, at, axes)
    gone = [] if node.attr("keepdims", 1) else [a % rank for a in axes]
    return [at.on(at.axis - sum(a < at.axis for a in gone))]


@rule("Trilu")
@rule("Trilu", domain="com.microsoft")
def triangle(trace: Trace, node: Node) -> Found:
    """The last two axes."""
    trace.beyond(node, 1)
    at = trace.first(node, 0)
    trace.clear(node, at, [-1, -2])
    return [at]


@rule("Det")
@rule("Inverse", domain="com.microsoft")
def matrices(trace: Trace, node: Node) -> Found:
    """A matrix in the last two axes."""
    at = trace.first(node, 0)
    trace.clear(node, at, [-1, -2])
    return [at]


@rule("LpNormalization", "TopK")
def along(trace: Trace, node: Node) -> Found:
    """One axis, given as an attribute."""
    trace.beyond(node, 1)
    at = trace.first(node, 0)
    trace.clear(node, at, [node.attr("axis", -1)])
    return [at] * len(node.outputs)


@rule("CumSum", "CumProd")
def cumulative(trace: Trace, node: Node) -> Found:
    """One axis, given as an input."""
    trace.beyond(node, 1)
    at = trace.first(node, 0)
    trace.clear(node, at, trace.ints(node, 1) or [0])
    return [at]


@rule("MeanVarianceNormalization")
def mean_variance(trace: Trace, node: Node) -> Found:
    """Statistics over the axes, which by default include the first."""
    at = trace.first(node, 0)
    trace.clear(node, at, node.attr("axes", [0, 2, 3]))
    return [at]


@rule("DFT")
def fourier(trace: Trace, node: Node) -> Found:
    """One axis, besides that of the parts of a number."""
    trace.beyond(node, 1)
    at, rank = trace.first(node, 0), len(trace.shape(node.inputs[0]))
    given = trace.ints(node, 2) if node.has(2) else None
    axis = given[0] if given else node.attr("axis", 1 if trace.opset < 20 else -2)
    if node.attr("onesided", 0) and node.attr("inverse", 0) and rank < 2:
        raise Blocked("it has no axis for the batch")
    trace.clear(node, at, [axis, rank - 1])
    return [at]


@rule("STFT")
def short_fourier(trace: Trace, node: Node) -> Found:
    """Signals on the first axis."""
    trace.beyond(node, 1)
    at = trace.first(node, 0)
    if at.axis:
        raise Blocked(f"it takes axis 0 for the batch, here it is axis {at.axis}")
    return [at]


@rule("ReverseSequence")
def reverse(trace: Trace, node: Node) -> Found:
    """Its own attributes say which axis is the batch."""
    at = trace.first(node)
    if at.axis != node.attr("batch_axis", 1):
        raise Blocked(f"the batch is on axis {at.axis}, it wants it on axis {node.attr('batch_axis', 1)}")
    trace.need(node, 0, at)
    trace.need(node, 1, at.on(0))
    return [at]
