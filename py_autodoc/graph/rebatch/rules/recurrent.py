"""LSTM, GRU and RNN."""

from __future__ import annotations

from py_autodoc.graph.rebatch.layout import BatchBlocked
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import SHARED_RANGE, BatchTrace, Layouts, rule


@rule("LSTM", "GRU", "RNN")
@rule("DynamicQuantizeLSTM", domain="com.microsoft")
def recurrent(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Axes are steps, then batch; reversed with ``layout`` 1."""
    states, lengths = [i for i in (5, 6) if node.has(i)], 4
    trace.require_equal(node, 1, 2, 3)
    trace.require_equal_from(node, 7)
    steps_first = node.attr("layout", 0) == 0
    batch_axis = 1 if steps_first else 0
    layout = trace.first_layout(node)
    if trace.layout(node, lengths) is layout:
        layout = layout.on(batch_axis)
    if layout.axis != batch_axis:
        raise BatchBlocked(f"the batch is on axis {layout.axis}, where the steps or features are")
    trace.confirmed = True
    for i in (0, *states):
        trace.require_layout(node, i, layout)
    if node.has(lengths):
        trace.require_layout(node, lengths, layout.on(0))
    if node.op_type == "DynamicQuantizeLSTM":
        trace.note(node, SHARED_RANGE)
    return [layout.on(2 if steps_first else 0), layout, layout]
