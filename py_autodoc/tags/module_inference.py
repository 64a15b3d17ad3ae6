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


def infer_modules(model: ir.Model, order: Order, known_scopes: Mapping[ir.Node, str]) -> dict[ir.Node, str]:
    """Infer scopes for nodes of ``order`` that are not in ``known_scopes`` and have known neighbours.

    ``order`` is ``walk(model)``. Nodes without known producers and consumers are omitted.
    """
    unknown = {node: outer for node, outer in order if node not in known_scopes}
    if not unknown:
        return {}
    frames = _bodies(order, known_scopes)
    before: dict[ir.Node, str] = {}
    after: dict[ir.Node, str] = {}
    for node in unknown:
        _put(before, node, [_scope_of(p, known_scopes, before) for p in _producers(node)])
    for node in reversed(unknown):
        consumer_scopes = [
            _scope_of(use.node, known_scopes, after) for value in node.outputs for use in value.uses()
        ]
        if any(value.is_graph_output() for value in node.outputs):
            consumer_scopes.append(frames.get(node.graph) if node.graph is not model.graph else None)
        _put(after, node, consumer_scopes)
    calls = _calls(model, order)
    filled: dict[ir.Node, str] = {}
    for node, outer in unknown.items():  # a node comes before its subgraphs
        scopes = [neighbour_scopes[node] for neighbour_scopes in (before, after) if node in neighbour_scopes]
        if not scopes:
            scopes = _enclosing(node, outer, frames, calls, known_scopes, filled)
        if scopes:
            filled[node] = common(scopes)
    return filled


def _bodies(order: Order, known_scopes: Mapping[ir.Node, str]) -> dict[object, str]:
    """Return subgraph or function → the innermost module that contains its known nodes."""
    scopes_by_graph: dict[object, list[str]] = {}
    for node, _ in order:
        if node in known_scopes:
            scopes_by_graph.setdefault(node.graph, []).append(known_scopes[node])
    return {graph: common(scopes) for graph, scopes in scopes_by_graph.items()}


def _calls(model: ir.Model, order: Order) -> dict[object, list[ir.Node]]:
    """Return function → the nodes that call it."""
    if not model.functions:
        return {}
    graphs = {key: function.graph for key, function in model.functions.items()}
    callers: dict[object, list[ir.Node]] = {}
    for node, _ in order:
        graph = graphs.get(node.op_identifier())
        if graph is not None:
            callers.setdefault(graph, []).append(node)
    return callers


def _enclosing(
    node: ir.Node,
    outer: ir.Node | None,
    frames: Mapping[object, str],
    calls: Mapping[object, list[ir.Node]],
    known_scopes: Mapping[ir.Node, str],
    filled: Mapping[ir.Node, str],
) -> list[str]:
    """Return, for a node without neighbours, the module of its subgraph, else of the owner."""
    if outer is None and node.graph not in calls:
        return [frames[graph] for graph in bodies(node) if graph in frames]
    if node.graph in frames:
        return [frames[node.graph]]
    around = [outer] if outer is not None else calls[node.graph]
    scopes = [known_scopes.get(caller, filled.get(caller)) for caller in around]
    return [scope for scope in scopes if scope is not None]


def _producers(node: ir.Node) -> list[ir.Node]:
    """Return producers of the inputs of a node, as far as they are in the same graph."""
    producers = [value.producer() for value in node.inputs if value is not None]
    return [producer for producer in producers if producer is not None and producer.graph is node.graph]


def _scope_of(
    node: ir.Node, known_scopes: Mapping[ir.Node, str], inferred: Mapping[ir.Node, str]
) -> str | None:
    return known_scopes[node] if node in known_scopes else inferred.get(node)


def _put(inferred: dict[ir.Node, str], node: ir.Node, neighbour_scopes: Sequence[str | None]) -> None:
    present = [scope for scope in neighbour_scopes if scope is not None]
    if present:
        inferred[node] = common(present)
