"""Dependencies between nodes over all graphs of a model. Linear, without recursion."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Model, TensorKind

RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
)
"""Operators of ai.onnx with random results."""


def needed_nodes(model: Model) -> set[int]:
    """Return the nodes that an output of the model needs.

    Nodes outside ai.onnx and ai.onnx.ml, and their producers, count as needed, since they may have effects.
    """
    nodes, graphs = model.nodes, model.graphs
    producer_of = [tensor.producer for tensor in model.tensors]
    producer_of.append(-1)  # for omitted inputs
    stack = [producer_of[t] for t in graphs[0].outputs]
    stack += [node.id for node in nodes if node.domain and node.domain != "ai.onnx.ml"]
    needed: set[int] = set()
    while stack:
        number = stack.pop()
        while number >= 0 and number not in needed:  # the node, then its enclosing nodes
            needed.add(number)
            node = nodes[number]
            for tensor in node.inputs:
                if producer_of[tensor] >= 0:
                    stack.append(producer_of[tensor])
            for _, body in node.subgraphs:
                stack.extend(producer_of[tensor] for tensor in graphs[body].outputs)
            number = graphs[node.graph].parent_node
    return needed


def varying_tensors(model: Model) -> set[int]:
    """Return tensors of the main graph that may differ between runs: computed from inputs or random.

    Results of nodes with subgraphs and of nodes outside ai.onnx count as varying.
    """
    main = model.graphs[0]
    varying = {t for t in main.inputs if model.tensors[t].kind == TensorKind.INPUT}
    for number in main.nodes:
        node = model.nodes[number]
        if (
            not varying.isdisjoint(node.inputs)
            or node.subgraphs
            or node.domain
            or node.op_type in RANDOM
            or any(t >= 0 and _undefined(model, t) for t in node.inputs)
        ):
            varying.update(node.outputs)
            varying.discard(-1)
    return varying


def _undefined(model: Model, tensor: int) -> bool:
    """True if the tensor has no producer, so that nothing is known about it."""
    entry = model.tensors[tensor]
    return entry.producer < 0 and entry.kind in (TensorKind.ACTIVATION, TensorKind.OUTER)
