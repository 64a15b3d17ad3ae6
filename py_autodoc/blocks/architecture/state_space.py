"""Selective state-space layers with decay exp(Δ·A), Δ = softplus(…), as in Mamba (arXiv:2312.00752)."""

from __future__ import annotations

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import CONVS

_BETWEEN = frozenset({
    "Where", "Unsqueeze", "Squeeze", "Transpose", "Reshape", "Expand", "Cast", "Clip", "CumSum", "Identity",
    "Slice", "Pad",
})  # fmt: skip
_STEPS = 24


def selective_scans(flow: DataflowGraph) -> int:
    """Count Softplus nodes whose output is multiplied by a constant and then passed to an exponential."""
    return sum(_decays(flow, number) for number in flow.named(("Softplus",)))


def _decays(flow: DataflowGraph, softplus: int) -> bool:
    queue = [(softplus, False)]
    seen: set[tuple[int, bool]] = set(queue)
    for _ in range(_STEPS):
        if not queue:
            return False
        number, scaled = queue.pop(0)
        for reader in flow.successors(number)[:_STEPS]:
            op = flow.qualified_op_types[reader]
            if op == "Exp" and scaled:
                return True
            state = (reader, scaled or (op == "Mul" and bool(flow.constant_inputs[reader])))
            if state not in seen and (op in _BETWEEN or (op == "Mul" and flow.constant_inputs[reader])):
                seen.add(state)
                queue.append(state)
    return False


def depthwise_sequences(flow: DataflowGraph) -> int:
    """Count depthwise convolutions over one axis."""
    count = 0
    for number in flow.named(CONVS):
        node = flow.nodes[number]
        weight = flow.shapes[node.inputs[1]] if len(node.inputs) > 1 and node.inputs[1] >= 0 else None
        if (
            weight is not None
            and len(weight) == 3
            and weight[1] == 1
            and weight[0] == node.attributes.get("group")
        ):
            count += 1
    return count
