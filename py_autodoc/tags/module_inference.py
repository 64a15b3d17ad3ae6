"""Modules of nodes that carry none, from the nodes around them.

A node lies in the innermost module that holds the known nodes it comes from and the known nodes it
leads to, seen through other unknown ones. In the body of an If, Loop or function what leaves the body
counts as read by the innermost module that holds the body, so that the last node of a branch is not
taken for part of the module before it. A body of which nothing is known lies where its node lies.

Two passes over the nodes, one with the flow and one against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from py_autodoc.tags.model import bodies
from py_autodoc.tags.paths import common

Order = Sequence[tuple[ir.Node, ir.Node | None]]


def infer_modules(model: ir.Model, order: Order, known: Mapping[ir.Node, str]) -> dict[ir.Node, str]:
    """Scopes for those nodes of ``order`` that ``known`` does not have and that have known neighbours.

    ``order`` is ``walk(model)``. Nodes that nothing known leads to or comes from are left out.
    """
    unknown = {node: outer for node, outer in order if node not in known}
    if not unknown:
        return {}
    frames = _bodies(order, known)
    before: dict[ir.Node, str] = {}
    after: dict[ir.Node, str] = {}
    for node in unknown:
        _put(before, node, [_look(p, known, before) for p in _producers(node)])
    for node in reversed(unknown):
        found = [_look(use.node, known, after) for value in node.outputs for use in value.uses()]
        if any(value.is_graph_output() for value in node.outputs):
            found.append(frames.get(node.graph) if node.graph is not model.graph else None)
        _put(after, node, found)
    calls = _calls(model, order)
    filled: dict[ir.Node, str] = {}
    for node, outer in unknown.items():  # a node comes before those in its bodies
        sides = [side[node] for side in (before, after) if node in side]
        if not sides:
            sides = _around(node, outer, frames, calls, known, filled)
        if sides:
            filled[node] = common(sides)
    return filled


def _bodies(order: Order, known: Mapping[ir.Node, str]) -> dict[object, str]:
    """Body or function → the innermost module that holds its known nodes."""
    held: dict[object, list[str]] = {}
    for node, _ in order:
        if node in known:
            held.setdefault(node.graph, []).append(known[node])
    return {graph: common(scopes) for graph, scopes in held.items()}


def _calls(model: ir.Model, order: Order) -> dict[object, list[ir.Node]]:
    """Function body → the nodes that call it."""
    if not model.functions:
        return {}
    graphs = {key: function.graph for key, function in model.functions.items()}
    found: dict[object, list[ir.Node]] = {}
    for node, _ in order:
        graph = graphs.get(node.op_identifier())
        if graph is not None:
            found.setdefault(graph, []).append(node)
    return found


def _around(
    node: ir.Node,
    outer: ir.Node | None,
    frames: Mapping[object, str],
    calls: Mapping[object, list[ir.Node]],
    known: Mapping[ir.Node, str],
    filled: Mapping[ir.Node, str],
) -> list[str]:
    """For a node without neighbours: the module of its body, else of the node the body belongs to."""
    if outer is None and node.graph not in calls:
        return [frames[graph] for graph in bodies(node) if graph in frames]
    if node.graph in frames:
        return [frames[node.graph]]
    around = [outer] if outer is not None else calls[node.graph]
    scopes = [known.get(one, filled.get(one)) for one in around]
    return [scope for scope in scopes if scope is not None]


def _producers(node: ir.Node) -> list[ir.Node]:
    """Makers of what the node reads, as far as they are in the same graph."""
    made = [value.producer() for value in node.inputs if value is not None]
    return [one for one in made if one is not None and one.graph is node.graph]


def _look(node: ir.Node, known: Mapping[ir.Node, str], seen: Mapping[ir.Node, str]) -> str | None:
    return known[node] if node in known else seen.get(node)


def _put(side: dict[ir.Node, str], node: ir.Node, found: Sequence[str | None]) -> None:
    scopes = [scope for scope in found if scope is not None]
    if scopes:
        side[node] = common(scopes)
