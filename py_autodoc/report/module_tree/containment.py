"""Containment of blocks: the parent of a block is the smallest one that contains all of it."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Model
from py_autodoc.report.module_tree.scope_tree import ScopeTree

_MOST = 32
"""Maximum number of blocks examined around one node; deeper nesting is derived from the outer ones."""


def with_bodies(model: Model, nodes: Sequence[int]) -> list[int]:
    """Return the nodes and all nodes in their subgraphs, ascending, without Constant nodes."""
    if not any(model.nodes[n].subgraphs for n in nodes):
        return sorted(nodes)
    found: set[int] = set()
    stack = list(nodes)
    while stack:
        number = stack.pop()
        node = model.nodes[number]
        if number in found or node.is_constant:
            continue
        found.add(number)
        for _, graph in node.subgraphs:
            stack.extend(model.graphs[graph].nodes)
    return sorted(found)


def structural_parents(members: Sequence[Sequence[int]]) -> list[int]:
    """Return, for each set of nodes, the smallest larger one that contains it, or -1."""
    sets = [frozenset(nodes) for nodes in members]
    around: dict[int, list[int]] = {}
    parents = [-1] * len(sets)
    # Largest first: candidates that can contain a set are known when it is reached.
    for place in sorted(range(len(sets)), key=lambda i: -len(sets[i])):
        mine = sets[place]
        if not mine:
            continue
        holders = around.get(min(mine), ())
        for other in reversed(holders):
            if len(sets[other]) > len(mine) and mine <= sets[other]:
                parents[place] = other
                break
        for number in mine:
            known = around.setdefault(number, [])
            if len(known) < _MOST:
                known.append(place)
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
