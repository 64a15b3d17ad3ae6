"""Containment of blocks: the parent of a block is the smallest one that contains all of it."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Model
from py_autodoc.report.module_tree.scope_tree import ScopeTree

_MAX_CONTAINING = 32
"""Maximum number of blocks examined around one node; deeper nesting is derived from the outer ones."""


def with_bodies(model: Model, nodes: Sequence[int]) -> list[int]:
    """Return the nodes and all nodes in their subgraphs, ascending, without Constant nodes."""
    if not any(model.nodes[n].subgraphs for n in nodes):
        return sorted(nodes)
    collected: set[int] = set()
    stack = list(nodes)
    while stack:
        number = stack.pop()
        node = model.nodes[number]
        if number in collected or node.is_constant:
            continue
        collected.add(number)
        for _, graph in node.subgraphs:
            stack.extend(model.graphs[graph].nodes)
    return sorted(collected)


def structural_parents(members: Sequence[Sequence[int]]) -> list[int]:
    """Return, for each set of nodes, the smallest larger one that contains it, or -1."""
    sets = [frozenset(nodes) for nodes in members]
    sets_of_node: dict[int, list[int]] = {}
    parents = [-1] * len(sets)
    # Largest first: candidates that can contain a set are known when it is reached.
    for index in sorted(range(len(sets)), key=lambda i: -len(sets[i])):
        nodes_of_set = sets[index]
        if not nodes_of_set:
            continue
        holders = sets_of_node.get(min(nodes_of_set), ())
        for candidate in reversed(holders):
            if len(sets[candidate]) > len(nodes_of_set) and nodes_of_set <= sets[candidate]:
                parents[index] = candidate
                break
        for number in nodes_of_set:
            containing = sets_of_node.setdefault(number, [])
            if len(containing) < _MAX_CONTAINING:
                containing.append(index)
    return parents


def common_scope(tree: ScopeTree, depth: Sequence[int], nodes: Sequence[int]) -> int:
    """Return the deepest scope that contains all the nodes, -1 for none."""
    scope = tree.node[nodes[0]]
    for number in nodes[1:]:
        other = tree.node[number]
        while scope != other:
            if scope < 0 or other < 0:
                return -1
            if depth[scope] >= depth[other]:
                scope = tree.parent[scope]
            else:
                other = tree.parent[other]
        if scope < 0:
            return -1
    return scope
