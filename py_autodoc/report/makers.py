"""Where nodes that make a weight stand: with what reads it, wherever their names put them.

Files without weights make them in the graph (ConstantOfShape), all at its start. Left there, each weight
would be a wire through the whole picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from py_autodoc.graph.model import Model, Node, TensorKind
from py_autodoc.report.scopes import ScopeTree

_CONSTANT = (TensorKind.INITIALIZER, TensorKind.CONSTANT)


def makers(model: Model) -> list[int]:
    """Nodes that make a tensor out of constants alone."""
    return [node.id for node in model.nodes if _makes(model, node)]


def _makes(model: Model, node: Node) -> bool:
    return (
        node.op_type == "ConstantOfShape"
        and not node.domain
        and all(t >= 0 and model.tensors[t].kind in _CONSTANT for t in node.inputs)
    )


def settle(
    tree: ScopeTree, nodes: Iterable[int], readers: Callable[[int], Iterable[int]], folds: frozenset[int]
) -> None:
    """Put each node into the innermost box that holds all its readers; ``folds`` hold nothing but parts.

    The nodes read nothing that is computed, so a box stays convex whether they are in it or not.
    """
    for node in nodes:
        common: list[int] | None = None
        for reader in readers(node):
            path = _path(tree, tree.node[reader])
            common = path if common is None else _shared(common, path)
        if common is None:
            continue
        while common and common[-1] in folds:
            common.pop()
        tree.node[node] = common[-1] if common else -1


def _path(tree: ScopeTree, scope: int) -> list[int]:
    path: list[int] = []
    while scope >= 0:
        path.append(scope)
        scope = tree.parent[scope]
    return path[::-1]


def _shared(one: list[int], other: list[int]) -> list[int]:
    end = 0
    while end < min(len(one), len(other)) and one[end] == other[end]:
        end += 1
    return one[:end]
