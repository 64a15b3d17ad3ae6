"""Contradictions in a model, or between a model and its given dimensions, that prevent it from running.

Everything downstream is unknown: constants may give a later node a shape again, but for other dimensions.
Nodes that do not depend on the contradiction keep their results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from py_autodoc.graph.ir.diagnostic_causes import prevents_execution
from py_autodoc.graph.ir.model import Contradiction, Diagnostic, Model, Shape, TensorKind


def contradiction(model: Model, diagnostics: Iterable[Diagnostic]) -> Contradiction | None:
    """Return the first contradiction according to ``diagnostic_causes``; None if there is none."""
    failing = [d for d in diagnostics if prevents_execution(d)]
    if not failing:
        return None
    positions = _execution_positions(model)
    first = min(failing, key=lambda d: positions[d.node])
    text = first.message.rstrip(".")
    message = text if text.startswith(first.where) else f"{first.where}: {text}"
    return Contradiction(first.node, first.code, message, _reached(model, {d.node for d in failing}))


def discard_reached(
    model: Model, fault: Contradiction, shapes: list[Shape | None], values: dict[int, object]
) -> None:
    """Remove, in place, the shapes and values of all nodes that the contradiction reaches."""
    for number in fault.reached:
        node = model.nodes[number]
        tensors = [t for t in node.outputs if t >= 0]
        for _, body in node.subgraphs:
            tensors += [
                t for t in model.graphs[body].inputs if model.tensors[t].kind is not TensorKind.INITIALIZER
            ]
        for t in tensors:
            shapes[t] = None
            values.pop(t, None)


def _execution_positions(model: Model) -> list[tuple[int, ...]]:
    """Return, for each node, its execution positions from the outermost graph inwards."""
    positions: list[tuple[int, ...]] = [()] * len(model.nodes)
    for graph in model.graphs:  # a subgraph comes after its owner
        outer = positions[graph.parent_node] if graph.parent_node >= 0 else ()
        for index, number in enumerate(graph.nodes):
            positions[number] = (*outer, index)
    return positions


def _reached(model: Model, start: set[int]) -> frozenset[int]:
    """Return the given nodes, their descendants and all nodes in subgraphs of these."""
    reached, stack = set(start), list(start)

    def visit(numbers: Sequence[int]) -> None:
        for number in numbers:
            if number not in reached:
                reached.add(number)
                stack.append(number)

    while stack:
        node = model.nodes[stack.pop()]
        for t in node.outputs:
            if t >= 0:
                visit(model.tensors[t].consumers)
        for _, body in node.subgraphs:
            visit(model.graphs[body].nodes)
        parent = model.graphs[node.graph].parent_node
        if parent >= 0:
            visit((parent,))
    return frozenset(reached)
