"""Quantization, and broadcasting operators on quantized tensors."""

from __future__ import annotations

import math

from py_autodoc.graph.rebatch.layout import BatchBlocked
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import SHARED_RANGE, BatchTrace, Layouts, rule

MS = "com.microsoft"


@rule("QuantizeLinear", "DequantizeLinear")
@rule("QuantizeLinear", "DequantizeLinear", domain=MS)
def quantize(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Scales are shared by all items; scales per axis must not be along the batch."""
    trace.require_equal_from(node, 1)
    layout = trace.first_layout(node, 0)
    scale = trace.shape(node.inputs[1])
    if math.prod(scale) > 1:
        if len(scale) > 1:
            raise BatchBlocked("its scales are for blocks of a tensor that holds the batch", node.inputs[1])
        trace.require_no_batch_on(node, layout, [node.attr("axis", 1)])
    return [layout]


@rule("DynamicQuantizeLinear")
def dynamic_quantize(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Uses one range for all values that run together."""
    trace.note(node, SHARED_RANGE)
    return [trace.first_layout(node, 0), None, None]


@rule("QLinearAdd", "QLinearMul", domain=MS)
def binary(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: a with scale and zero point, b with scale and zero point, result scale and zero point."""
    trace.require_equal(node, 1, 2, 4, 5, 6, 7)
    return [trace.broadcast(node, [0, 3])]


@rule("QLinearSigmoid", "QLinearLeakyRelu", domain=MS)
def single(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: X and scales."""
    trace.require_equal_from(node, 1)
    return [trace.first_layout(node, 0)]


@rule("QLinearSoftmax", domain=MS)
def softmax(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Like Softmax of the opset named by the attribute."""
    trace.require_equal_from(node, 1)
    layout, rank = trace.first_layout(node, 0), len(trace.shape(node.inputs[0]))
    axis = node.attr("axis", -1) % rank
    if layout.axis == axis or (node.attr("opset", 13) < 13 and layout.axis > axis):
        raise BatchBlocked(f"QLinearSoftmax works along axis {layout.axis}, which holds the batch")
    return [layout]


@rule("QLinearConcat", domain=MS)
def concat(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: scale and zero point of the result, then three inputs per part."""
    parts = range(2, len(node.inputs), 3)
    trace.require_equal(node, *(i for i in range(len(node.inputs)) if i not in parts))
    layout = trace.first_layout(node, *parts)
    trace.require_no_batch_on(node, layout, [node.attr("axis", 0)], len(trace.shape(node.inputs[2])))
    for i in parts:
        trace.require_layout(node, i, layout)
    return [layout]


@rule("QLinearWhere", domain=MS)
def where(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: condition, x with scales, y with scales."""
    trace.require_equal(node, 2, 3, 5, 6, 7, 8)
    return [trace.broadcast(node, [0, 1, 4])]
