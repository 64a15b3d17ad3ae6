"""Operators that use axis 0 as the batch and combine the other axes."""

from __future__ import annotations

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule

MS = "com.microsoft"


def _first_axis(trace: BatchTrace, node: StructureNode, *inputs: int) -> Layout:
    layout = trace.first_layout(node, *inputs)
    if layout.axis:
        raise BatchBlocked(f"{node.op_type} uses axis 0 as the batch, which is on axis {layout.axis}")
    trace.confirmed = True
    return layout


@rule(
    "AveragePool",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "DepthToSpace",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "GroupNormalization",
    "InstanceNormalization",
    "LRN",
    "LpPool",
    "QLinearConv",
    "SpaceToDepth",
    "Col2Im",
)
@rule(
    "QLinearConv",
    "QLinearGlobalAveragePool",
    "QLinearAveragePool",
    "NhwcConv",
    "GroupNorm",
    "ConvTransposeWithDynamicPads",
    domain=MS,
)
def images(trace: BatchTrace, node: StructureNode) -> Layouts:
    """One data tensor; the other inputs are weights."""
    trace.require_equal_from(node, 1)
    layout = _first_axis(trace, node, 0)
    return [layout] + [None] * (len(node.outputs) - 1)


@rule("MaxPool")
def max_pool(trace: BatchTrace, node: StructureNode) -> Layouts:
    """The second output counts through all items."""
    layout = _first_axis(trace, node, 0)
    if len(node.outputs) > 1 and node.outputs[1] in trace.structure.read:
        raise BatchBlocked("its indices run over all items", node.outputs[1])
    return [layout]


@rule("BatchNormalization")
def batch_norm(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Statistics are stored, except in training mode."""
    statistics = [name for name in node.outputs[1:] if name]
    if node.attr("training_mode", 0) or (trace.opset < 14 and statistics):
        raise BatchBlocked("it computes statistics over the whole batch")
    trace.require_equal_from(node, 1)
    return [_first_axis(trace, node, 0)]


@rule("FusedConv", domain=MS)
def fused_conv(trace: BatchTrace, node: StructureNode) -> Layouts:
    """A convolution, and a tensor added to its result."""
    trace.require_equal(node, 1, 2)
    layout = _first_axis(trace, node, 0, 3)
    trace.require_layout(node, 0, layout)
    trace.require_layout(node, 3, layout)
    return [layout]


@rule("SkipGroupNorm", domain=MS)
def skip_group_norm(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Two inputs are added first."""
    trace.require_equal(node, 1, 2, 4)
    layout = _first_axis(trace, node, 0, 3)
    trace.require_layout(node, 0, layout)
    trace.require_layout(node, 3, layout)
    return [layout] * len(node.outputs)


@rule("GridSample")
@rule("GridSample", domain=MS)
def grid_sample(trace: BatchTrace, node: StructureNode) -> Layouts:
    """One grid per image."""
    layout = _first_axis(trace, node)
    trace.require_layout(node, 0, layout)
    trace.require_layout(node, 1, layout)
    return [layout]


@rule("DeformConv")
def deform_conv(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Offsets and mask per image; weights and bias shared."""
    trace.require_equal(node, 1, 3)
    layout = _first_axis(trace, node, 0, 2, 4)
    for i in (0, 2, 4):
        trace.require_layout(node, i, layout)
    return [layout]
