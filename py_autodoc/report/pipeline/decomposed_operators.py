"""Operators that exporters decompose into several nodes: normalizations and activations."""

from __future__ import annotations

from collections.abc import Collection

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraphs
from py_autodoc.blocks.layer_blocks.activations import activation_of
from py_autodoc.blocks.results import Structure
from py_autodoc.graph.ir.model import Model, TypeTable

ACTIVATION = "activation"
_CORE_OPS = frozenset({"Erf", "Sigmoid", "Tanh", "Softplus", "HardSigmoid"})
"""Core operators of activations that consist of several nodes."""
_MAX_LEADING_OPS = 3


def written_out(
    model: Model, types: TypeTable, recognised: Structure, kinds: Collection[str]
) -> list[tuple[int, ...]]:
    """Return the nodes of each; ``kinds`` lists normalization operators, and ``activation``."""
    groups = [
        block.nodes
        for block in recognised.blocks
        if block.kind == "normalization" and len(block.nodes) > 1 and block.variant in kinds
    ]
    covered = {node for nodes in groups for node in nodes}
    if ACTIVATION in kinds and any(node.op_type in _CORE_OPS for node in model.nodes):
        for nodes in _activations(model, types):
            if not covered.intersection(nodes):
                groups.append(nodes)
                covered.update(nodes)
    return groups


def _activations(model: Model, types: TypeTable) -> list[tuple[int, ...]]:
    """Return decomposed activations (Gelu, SiLU and the like) of the main graph."""
    flow, activations = DataflowGraphs(model, types).of(0), []
    for number in model.graphs[0].nodes:
        node = model.nodes[number]
        if node.op_type not in _CORE_OPS or not node.inputs:
            continue
        tensor = node.inputs[0]
        # The activation's input is a few operators (x · 0.7, x³ …) before its core operator.
        for _ in range(_MAX_LEADING_OPS + 1):
            activation = activation_of(flow, tensor) if tensor >= 0 else None
            if activation is not None and len(activation.nodes) > 1 and number in activation.nodes:
                activations.append(activation.nodes)
                break
            producer = model.tensors[tensor].producer if tensor >= 0 else -1
            if producer < 0 or not model.nodes[producer].inputs:
                break
            tensor = model.nodes[producer].inputs[0]
    return activations
