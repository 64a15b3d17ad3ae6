"""If, Loop and Scan: all items must take the same path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from py_autodoc.graph.rebatch.layout import BatchBlocked, Layout
from py_autodoc.graph.rebatch.prepare import StructureGraph, StructureNode
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule

_ROUNDS = 4


@rule("If")
def branches(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Both branches must agree, unless the file determines which is taken."""
    trace.require_equal(node, 0)
    condition = trace.const(node.inputs[0])
    names = ["then_branch", "else_branch"]
    if condition is not None:
        names = names[:1] if bool(np.ravel(condition)[0]) else names[1:]
    branch_layouts = [trace.body(node.bodies[name], []) for name in names]
    for other_layouts in branch_layouts[1:]:
        for a, b in zip(branch_layouts[0], other_layouts, strict=True):
            if (a and a.key) != (b and b.key):
                raise BatchBlocked("its branches hold the batch on different axes")
    return branch_layouts[0]


@rule("Loop")
def loop(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Carried values must hold the batch in the same position in every iteration."""
    trace.require_equal(node, 0, 1)
    body, count = node.bodies["body"], len(node.inputs) - 2

    def run_body(layouts: Sequence[Layout | None]) -> Sequence[Layout | None]:
        outs = trace.body(body, [None, None, *layouts])
        if outs[0]:
            raise BatchBlocked("its number of iterations differs between items")
        return outs[1:]

    outs = _fixed_point(trace, node, body, run_body, list(range(2, len(node.inputs))))
    return [*outs[:count], *[layout and layout.on(layout.axis + 1) for layout in outs[count:]]]


@rule("Scan")
def scan(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Like Loop; scanned inputs are also split along an axis, which must not hold the batch."""
    if trace.opset < 9:
        raise BatchBlocked("Scan before opset 9 is not supported")
    body, parts = node.bodies["body"], node.attr("num_scan_inputs")
    count = len(node.inputs) - parts
    axes = list(node.attr("scan_input_axes") or [0] * parts)
    slices: list[Layout | None] = []
    for k in range(parts):
        layout = trace.layout(node, count + k)
        if layout is not None:
            axis = axes[k] % len(trace.shape(node.inputs[count + k]))
            if layout.axis == axis:
                raise BatchBlocked(f"it scans along axis {axis}, which holds the batch")
            layout = layout.on(layout.axis - (axis < layout.axis))
        slices.append(layout)
    outs = _fixed_point(
        trace, node, body, lambda carried: trace.body(body, [*carried, *slices]), list(range(count))
    )
    output_axes = list(node.attr("scan_output_axes") or [0] * (len(outs) - count))
    results = list(outs[:count])
    for k, layout in enumerate(outs[count:]):
        if layout is not None:
            rank = len(trace.shape(node.outputs[count + k]))
            layout = layout.on(layout.axis + (output_axes[k] % rank <= layout.axis))
        results.append(layout)
    return results


def _fixed_point(
    trace: BatchTrace,
    node: StructureNode,
    body: StructureGraph,
    run_body: Callable[[Sequence[Layout | None]], Sequence[Layout | None]],
    state_inputs: Sequence[int],
) -> Sequence[Layout | None]:
    """Follow a subgraph until the layouts of its carried values are stable. Raises: BatchBlocked."""
    layouts = [trace.layout(node, i) for i in state_inputs]
    for _ in range(_ROUNDS):
        edits, notes = len(trace.edits), len(trace.notes)
        outs = run_body(layouts)
        later = outs[: len(layouts)]
        if all((a and a.key) == (b and b.key) for a, b in zip(layouts, later, strict=True)):
            for i, layout in zip(state_inputs, layouts, strict=True):
                if layout is not None and trace.layout(node, i) is None:
                    trace.require_layout(node, i, layout)
            return outs
        del trace.edits[edits:], trace.notes[notes:]
        for a, b in zip(layouts, later, strict=True):
            if a and (b is None or a.key != b.key):
                raise BatchBlocked("a carried value holds the batch on changing axes")
        layouts = [b if a is None else a for a, b in zip(layouts, later, strict=True)]
    raise BatchBlocked("a carried value holds the batch on changing axes")
