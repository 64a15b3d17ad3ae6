"""Operators that reduce along axes."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.operators.reductions import REDUCTIONS
from py_autodoc.graph.resize.axes import changes_size, fixed_axis, old_size
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule

_COUNTED = frozenset(
    {"ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"}
)


@rule(*REDUCTIONS, "ArgMax", "ArgMin")
def reduce(walk: SizePass, node: Node) -> None:
    """Any number of entries per axis."""
    t = node.inputs[0]
    if not walk.is_changed(t):
        walk.infer(node)  # shape arithmetic
        walk.require_rest_steady(node, 0)
        return
    axes = walk.axes_of(t)
    if node.op_type.startswith("Arg"):
        reduced_axes = [int(node.attributes.get("axis", 0))]
    elif walk.has(node, 1):
        axes_input = walk.numbers(node.inputs[1])
        if axes_input is None:
            raise SizeBlocked("its axes are computed from data")
        reduced_axes = axes_input
    else:
        reduced_axes = [int(a) for a in node.attributes.get("axes") or ()]
    if not reduced_axes and not node.attributes.get("noop_with_empty_axes", 0):
        reduced_axes = list(range(len(axes)))
    removed = {a % len(axes) for a in reduced_axes}
    walk.infer(node)
    keepdims = node.attributes.get("keepdims", 1)
    walk.put(
        node,
        0,
        [fixed_axis(1) if k in removed else a for k, a in enumerate(axes) if keepdims or k not in removed],
    )
    sizes = {old_size(axes[k]) for k in removed if changes_size(axes[k])}
    if sizes and (node.op_type in _COUNTED or node.op_type.startswith("Arg")):
        walk.sums[node.outputs[0]] = frozenset(sizes)
