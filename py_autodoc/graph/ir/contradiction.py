"""Where a model contradicts itself, or the sizes it was given, so that it cannot run; and what that reaches.

From there on nothing is known: constants of the file may give a later node a shape again, but it is that of
other sizes. Nodes that do not depend on the contradiction keep what was found of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from py_autodoc.graph.ir.diagnostic_causes import stops
from py_autodoc.graph.ir.model import Diagnostic, Model, Shape, TensorKind


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The first node that cannot run, and the nodes (itself among them) of which nothing is known then."""

    node: int
    code: str
    message: str
    """Begins with the node's name."""
    reached: frozenset[int]

    @property
    def reason(self) -> str:
        """Why a number is unknown."""
        return f"the model cannot run: {self.message}"


def contradiction(model: Model, diagnostics: Iterable[Diagnostic]) -> Contradiction | None:
    """What keeps the model from running, as ``diagnostic_causes`` judges it; None when nothing was found."""
    found = [d for d in diagnostics if stops(d)]
    if not found:
        return None
    place = _places(model)
    first = min(found, key=lambda d: place[d.node])
    text = first.message.rstrip(".")
    message = text if text.startswith(first.where) else f"{first.where}: {text}"
    return Contradiction(first.node, first.code, message, _reached(model, {d.node for d in found}))


def forget(model: Model, fault: Contradiction, shapes: list[Shape | None], values: dict[int, object]) -> None:
    """Remove, in place, the shapes and values of everything the contradiction reaches."""
    for number in fault.reached:
        node = model.nodes[number]
        made = [t for t in node.outputs if t >= 0]
        for _, body in node.subgraphs:
            made += [
                t for t in model.graphs[body].inputs if model.tensors[t].kind is not TensorKind.INITIALIZER
            ]
        for t in made:
            shapes[t] = None
            values.pop(t, None)


def _places(model: Model) -> list[tuple[int, ...]]:
    """By node: where it stands in the execution, that of its outer nodes first."""
    places: list[tuple[int, ...]] = [()] * len(model.nodes)
    for graph in model.graphs:  # a body comes after what holds it
        outer = places[graph.parent_node] if graph.parent_node >= 0 else ()
        for at, number in enumerate(graph.nodes):
            places[number] = (*outer, at)
    return places


def _reached(model: Model, start: set[int]) -> frozenset[int]:
    """The nodes themselves, those that depend on them, and the bodies of all of these."""
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
