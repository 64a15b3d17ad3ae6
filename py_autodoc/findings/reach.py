"""What depends on what, over all graphs of a model. Linear, no recursion."""

from __future__ import annotations

from py_autodoc.graph.model import Model, TensorKind

RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
)
"""Operators of ai.onnx whose result no input decides."""


def is_constant_node(model: Model, number: int) -> bool:
    """True for Constant, which stands for its value and is no step of the computation."""
    node = model.nodes[number]
    return node.op_type == "Constant" and not node.domain


def needed(model: Model) -> set[int]:
    """Nodes that an output of the model needs.

    Nodes outside ai.onnx and ai.onnx.ml, and what they read, count as needed: they may have effects.
    """
    stack = list(model.graphs[0].outputs)
    alive: set[int] = set()
    for node in model.nodes:
        if node.domain not in ("", "ai.onnx.ml"):
            _keep(model, node.id, alive, stack)
    seen = set(stack)
    while stack:
        number = model.tensors[stack.pop()].producer
        if number < 0 or number in alive:
            continue
        more: list[int] = []
        _keep(model, number, alive, more)
        stack.extend(t for t in more if t not in seen)
        seen.update(more)
    return alive


def _keep(model: Model, number: int, alive: set[int], stack: list[int]) -> None:
    """Mark a node and what it reads, its bodies' results included, and the nodes it lies in."""
    while number >= 0 and number not in alive:
        alive.add(number)
        node = model.nodes[number]
        stack.extend(t for t in node.inputs if t >= 0)
        for _, body in node.subgraphs:
            stack.extend(t for t in model.graphs[body].outputs if t >= 0)
        number = model.graphs[node.graph].parent_node


def varying(model: Model) -> set[int]:
    """Tensors of the main graph that may differ from run to run: made from an input or by chance.

    What a node with bodies or one outside ai.onnx makes counts as varying.
    """
    main = model.graphs[0]
    found = {t for t in main.inputs if model.tensors[t].kind == TensorKind.INPUT}
    for number in main.nodes:
        node = model.nodes[number]
        if (
            node.subgraphs
            or node.domain
            or node.op_type in RANDOM
            or any(t in found or (t >= 0 and _undefined(model, t)) for t in node.inputs)
        ):
            found.update(t for t in node.outputs if t >= 0)
    return found


def _undefined(model: Model, tensor: int) -> bool:
    """True when nothing makes the tensor: nothing is known of it."""
    entry = model.tensors[tensor]
    return entry.producer < 0 and entry.kind in (TensorKind.ACTIVATION, TensorKind.OUTER)
