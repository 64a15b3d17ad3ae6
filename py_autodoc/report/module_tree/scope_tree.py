"""The tree of modules, built from the scope paths of the nodes, including subgraphs of control flow."""

from __future__ import annotations

from dataclasses import dataclass, field

from py_autodoc.graph.ir.model import Model, Node
from py_autodoc.report.encode.labels import graph_label, shorten_middle

SUBGRAPH = "subgraph"


@dataclass(slots=True)
class ScopeTree:
    """Index = scope id, a parent before its children; ``node[i]`` is the scope of node ``i``, -1 = top."""

    parent: list[int] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    type: list[str] = field(default_factory=list)
    origin: list[str] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    graph: list[int] = field(default_factory=list)
    """Scope of each subgraph's box, -1 for the main graph."""
    role: list[str] = field(default_factory=list)
    """Roles of boxes without a class; filled in when the tree is finished, else empty."""

    def path(self, scope: int) -> list[str]:
        """Return the labels from the top down to ``scope``."""
        labels: list[str] = []
        while scope >= 0:
            labels.append(self.label[scope])
            scope = self.parent[scope]
        return labels[::-1]

    def child(self, level: int, scope: int) -> int:
        """Return the child of ``level`` that holds ``scope``; ``level`` for itself, -2 if it is elsewhere."""
        last = level
        while scope != level:
            if scope < 0:
                return -2
            last, scope = scope, self.parent[scope]
        return last


class _TreeBuilder:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree = ScopeTree(node=[-1] * len(model.nodes), graph=[-1] * len(model.graphs))
        self.children: dict[tuple[int, str], int] = {}
        self.scope_ids: dict[tuple[int, tuple[str, ...]], int] = {}

    def run(self) -> ScopeTree:
        for graph in self.model.graphs:
            if graph.parent_node >= 0:
                self._box(graph.id)
            for number in graph.nodes:
                node = self.model.nodes[number]
                self.tree.node[number] = self._scope_of(graph.id, node)
        return self.tree

    def _box(self, graph: int) -> None:
        """Return the scope of a subgraph, inside the scope of its control-flow node (in an earlier graph)."""
        above = self.tree.node[self.model.graphs[graph].parent_node]
        # The scopes above already give the path in the node's name.
        label = graph_label(self.model, graph).rpartition("/")[2]
        self.tree.graph[graph] = self._add(above, label, "", SUBGRAPH)

    def _scope_of(self, graph: int, node: Node) -> int:
        key = (graph, node.scope)
        scope = self.scope_ids.get(key)
        if scope is None:
            scope = self.scope_ids[key] = self._descend(graph, node)
        return scope

    def _descend(self, graph: int, node: Node) -> int:
        scope, skip = self.tree.graph[graph], 0
        parent_node = self.model.graphs[graph].parent_node
        if parent_node >= 0:
            skip = _common(self.model.nodes[parent_node].scope, node.scope)
        classes, origins = node.classes, node.origins
        for level in range(skip, len(node.scope)):
            name = node.scope[level]
            child = self.children.get((scope, name))
            if child is None:
                kind = classes[level] if level < len(classes) else ""
                origin = origins[level] if level < len(origins) else "name"
                child = self.children[(scope, name)] = self._add(scope, name, kind, origin)
            scope = child
        return scope

    def _add(self, parent: int, label: str, kind: str, origin: str) -> int:
        tree = self.tree
        tree.parent.append(parent)
        tree.label.append(shorten_middle(label))
        tree.type.append(shorten_middle(kind))
        tree.origin.append(origin)
        return len(tree.parent) - 1


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Return the number of leading levels that two paths share."""
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n


def scope_tree(model: Model) -> ScopeTree:
    """Return the scope tree of a model."""
    return _TreeBuilder(model).run()
