"""Softmax and normalization over the last axes."""

from __future__ import annotations

from py_autodoc.graph.rebatch.layout import BatchBlocked
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule

MS = "com.microsoft"


@rule("Softmax", "LogSoftmax", "Hardmax")
def softmax(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Along one axis; before opset 13 along that axis and all later ones."""
    layout, rank = trace.first_layout(node, 0), len(trace.shape(node.inputs[0]))
    old = trace.opset < 13
    axis = node.attr("axis", 1 if old else -1) % rank
    if layout.axis == axis or (old and layout.axis > axis):
        raise BatchBlocked(f"{node.op_type} works along axis {layout.axis}, which holds the batch")
    return [layout]


@rule("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
@rule("SimplifiedLayerNormalization", domain=MS)
def layer_norm(trace: BatchTrace, node: StructureNode) -> Layouts:
    """From an axis to the last."""
    trace.require_equal_from(node, 1)
    layout, rank = trace.first_layout(node, 0), len(trace.shape(node.inputs[0]))
    if layout.axis >= node.attr("axis", -1) % rank:
        raise BatchBlocked(f"{node.op_type} works along axis {layout.axis}, which holds the batch")
    return [layout] * len(node.outputs)


@rule("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS)
def skip_layer_norm(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Two inputs are added first."""
    trace.require_equal_from(node, 2)
    layout, rank = trace.broadcast(node, [0, 1]), len(trace.shape(node.inputs[0]))
    if layout is None or layout.axis == rank - 1:
        raise BatchBlocked(f"{node.op_type} works along the last axis, which holds the batch")
    return [layout] * len(node.outputs)


@rule("EmbedLayerNormalization", domain=MS)
def embed_layer_norm(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs: ids, segments, tables, and a mask with one row per item."""
    trace.require_equal(node, 2, 3, 4, 5, 6)
    layout = trace.first_layout(node, 0, 1, 7, 8)
    if layout.axis:
        raise BatchBlocked(f"it uses axis 0 as the batch, which is on axis {layout.axis}")
    for i in (0, 1, 7):
        trace.require_layout(node, i, layout)
    if node.has(8) and trace.layout(node, 8):
        trace.require_layout(node, 8, layout)
    return [layout, layout, layout]
