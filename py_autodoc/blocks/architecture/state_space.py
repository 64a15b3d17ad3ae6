"""Selective state-space layers with decay exp(Δ·A), Δ = softplus(…), as in Mamba (arXiv:2312.00752)."""

from __future__ import annotations

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import CONVS
from py_autodoc.blocks.layer_blocks.selective_scan import decay_of


def selective_scans(flow: DataflowGraph) -> int:
    """Count Softplus nodes whose output is multiplied by a constant and then passed to an exponential."""
    return sum(decay_of(flow, number) >= 0 for number in flow.named(("Softplus",)))


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
