"""Infers modules of untagged nodes from their neighbours.

A node belongs to the innermost module that contains its known producers and known consumers, searched
through other unknown nodes. In a subgraph or function, an output counts as used by the innermost module that
contains the subgraph, so that the last node of a branch is not assigned to the module before it. A
subgraph without known nodes belongs to the module of its owner.

There are two passes over the nodes, one in each direction of the dataflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from py_autodoc.tags.model import bodies
from py_autodoc.tags.paths import common

Order = Sequence[tuple[ir.Node, ir.Node | None]]


def infer_modules(model: ir.Model, order: Order, known: Mapping[ir.Node, str]) -> dict[ir.Node, str]:
    """Infer scopes for nodes of ``order`` that are not in ``known`` and have known neighbours.

    ``order`` is ``walk(model)``. Nodes without known producers and consumers are omitted.
    """
    unknown = {node: outer for node, outer in order if node not in known}
    if not unknown:
        return {}
    frames = _bodies(order, known)
    before: dict[ir.Node, str] = {}
    after: dict[ir.Node, str] = {}
    for node in unknown:
        _put(before, node, [_scope_of(p, known, before) for p in _producers(node)])
    for node in reversed(unknown):
        found = [_scope_of(use.node, known, after) for value in node.outputs for use in value.uses()]
        if any(value.is_graph_output() for value in node.outputs):
            found.append(frames.get(node.graph) if node.graph is not model.graph else None)
        _put(after, node, found)
    calls = _calls(model, order)
    filled: dict[ir.Node, str] = {}
    for node, outer in unknown.items():  # a node comes before its subgraphs
        sides = [side[node] for side in (before, after) if node in side]
        if not sides:
            sides = _enclosing(node, outer, frames, calls, known, filled)
        if sides:
            filled[node] = common(sides)
    return filled


def _bodies(order: Order, known: Mapping[ir.Node, str]) -> dict[object, str]:
    """Return subgraph or function → the innermost module that contains its known nodes."""
    held: dict[object, list[str]] = {}
    for node, _ in order:
        if node in known:
            held.setdefault(node.graph, []).append(known[node])
    return {graph: common(scopes) for graph, scopes in held.items()}


def _calls(model: ir.Model, order: Order) -> dict[object, list[ir.Node]]:
    """Return function → the nodes that call it."""
    if not model.functions:
        return {}
    graphs = {key: function.graph for key, function in model.functions.items()}
    found: dict[object, list[ir.Node]] = {}
    for node, _ in order:
        graph = graphs.get(node.op_identifier())
        if graph is not None:
            found.setdefault(graph, []).append(node)
    return found


def _enclosing(
    node: ir.Node,
    outer: ir.Node | None,
    frames: Mapping[object, str],
    calls: Mapping[object, list[ir.Node]],
    known: Mapping[ir.Node, str],
    filled: Mapping[ir.Node, str],
) -> list[str]:
    """Return, for a node without neighbours, the module of its subgraph, else of the owner."""
    if outer is None and node.graph not in calls:
        return [frames[graph] for graph in bodies(node) if graph in frames]
    if node.graph in frames:
        return [frames[node.graph]]
    around = [outer] if outer is not None else calls[node.graph]
    scopes = [known.get(one, filled.get(one)) for one in around]
    return [scope for scope in scopes if scope is not None]


def _producers(node: ir.Node) -> list[ir.Node]:
    """Return producers of the inputs of a node, as far as they are in the same graph."""
    made = [value.producer() for value in node.inputs if value is not None]
    return [one for one in made if one is not None and one.graph is node.graph]


def _scope_of(node: ir.Node, known: Mapping[ir.Node, str], seen: Mapping[ir.Node, str]) -> str | None:
    return known[node] if node in known else seen.get(node)


def _put(side: dict[ir.Node, str], node: ir.Node, found: Sequence[str | None]) -> None:
    scopes = [scope for scope in found if scope is not None]
    if scopes:
        side[node] = common(scopes)
