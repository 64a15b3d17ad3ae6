"""What depends on what, over all graphs of a model. Linear, no recursion."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Model, TensorKind

RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
)
"""Operators of ai.onnx whose result no input decides."""


def needed_nodes(model: Model) -> set[int]:
    """Nodes that an output of the model needs.

    Nodes outside ai.onnx and ai.onnx.ml, and what they read, count as needed: they may have effects.
    """
    nodes, graphs = model.nodes, model.graphs
    makers = [tensor.producer for tensor in model.tensors]
    makers.append(-1)  # of an omitted input
    stack = [makers[t] for t in graphs[0].outputs]
    stack += [node.id for node in nodes if node.domain and node.domain != "ai.onnx.ml"]
    alive: set[int] = set()
    while stack:
        number = stack.pop()
        while number >= 0 and number not in alive:  # the node, then those whose body it lies in
            alive.add(number)
            node = nodes[number]
            for tensor in node.inputs:
                if makers[tensor] >= 0:
                    stack.append(makers[tensor])
            for _, body in node.subgraphs:
                stack.extend(makers[tensor] for tensor in graphs[body].outputs)
            number = graphs[node.graph].parent_node
    return alive


def varying_tensors(model: Model) -> set[int]:
    """Tensors of the main graph that may differ from run to run: made from an input or by chance.

    What a node with bodies or one outside ai.onnx makes counts as varying.
    """
    main = model.graphs[0]
    found = {t for t in main.inputs if model.tensors[t].kind == TensorKind.INPUT}
    for number in main.nodes:
        node = model.nodes[number]
        if (
            not found.isdisjoint(node.inputs)
            or node.subgraphs
            or node.domain
            or node.op_type in RANDOM
            or any(t >= 0 and _undefined(model, t) for t in node.inputs)
        ):
            found.update(node.outputs)
            found.discard(-1)
    return found


def _undefined(model: Model, tensor: int) -> bool:
    """True when nothing makes the tensor: nothing is known of it."""
    entry = model.tensors[tensor]
    return entry.producer < 0 and entry.kind in (TensorKind.ACTIVATION, TensorKind.OUTER)
