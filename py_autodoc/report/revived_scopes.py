"""The tree of boxes of a report that is shown without its model.

Modules come from the paths of the layers, folds from the report's repeats. A module that is called at several
places is a box a call, as it is when the model is at hand (``calls``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from py_autodoc.graph.model import Node, SubGraph
from py_autodoc.report.calls import by_calls, circles, execution_orders
from py_autodoc.report.csr import rows_of
from py_autodoc.report.report import Report
from py_autodoc.report.schema import GraphColumns, NodeColumns, OpEntry
from py_autodoc.report.scopes import ScopeTree

_MIN_FOLD = 3
_FOLD = "repeat"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Nodes and graphs as far as a report tells them, and who reads from whom."""

    nodes: list[Node]
    graphs: list[SubGraph]
    consumers: list[list[int]]
    """By tensor."""

    @classmethod
    def of(
        cls, nodes: NodeColumns, graphs: GraphColumns, ops: Sequence[OpEntry], order: Iterable[int]
    ) -> Drawn:
        """From the columns of a payload; ``order`` lists the nodes that are drawn, in order of execution."""
        held: dict[int, list[tuple[str, int]]] = {}
        for graph, parent in enumerate(graphs.parent_node):
            held.setdefault(parent, []).append((graphs.attribute[graph], graph))
        inputs = rows_of(nodes.input_offsets, nodes.inputs)
        outputs = rows_of(nodes.output_offsets, nodes.outputs)
        consumers: list[list[int]] = [[] for _ in range(max([-1, *nodes.inputs, *nodes.outputs]) + 1)]
        made = []
        for number, at in enumerate(nodes.op):
            domain = "" if ops[at].domain == "ai.onnx" else ops[at].domain
            made.append(
                Node(
                    number,
                    nodes.graph[number],
                    nodes.name[number],
                    ops[at].type,
                    domain,
                    tuple(inputs[number]),
                    tuple(outputs[number]),
                    subgraphs=tuple(held.get(number, ())),
                )
            )
            for tensor in dict.fromkeys(inputs[number]):
                if tensor >= 0:
                    consumers[tensor].append(number)
        inside: list[list[int]] = [[] for _ in graphs.name]
        for number in order:
            inside[nodes.graph[number]].append(number)
        found = [
            SubGraph(graph, name, graphs.parent_node[graph], nodes=tuple(inside[graph]))
            for graph, name in enumerate(graphs.name)
        ]
        return cls(made, found, consumers)

    def readers(self, node: int) -> Iterable[int]:
        """Nodes of the same graph that read a node's outputs; a body's reading is its node's."""
        graph = self.nodes[node].graph
        for tensor in self.nodes[node].outputs:
            for found in self.consumers[tensor] if tensor >= 0 else ():
                reader = found
                while reader >= 0 and self.nodes[reader].graph != graph:
                    reader = self.graphs[self.nodes[reader].graph].parent_node
                if reader >= 0:
                    yield reader


class ReportScopes:
    """Scopes as layers ask for them, and the tree that they make."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.parent: list[int] = []
        self.label: list[str] = []
        self.full: list[str] = []
        self.known: dict[tuple[int, str], int] = {}
        self.paths: dict[str, int] = {"": -1}
        modules = (block for block in report.blocks if block.kind == "module")
        self.modules = {block.name: block for block in modules}

    def of(self, path: str) -> int:
        """Scope of a path, its parents made on the way."""
        found = self.paths.get(path)
        if found is None:
            found = -1
            for label in path.split("/"):
                found = self._child(found, label)
            self.paths[path] = found
        return found

    def box(self, path: str, label: str) -> int:
        """The scope of this label on a path, -1 when there is none."""
        found = -1
        for part in path.split("/"):
            found = self._child(found, part)
            if part == label:
                return found
        return -1

    def _child(self, parent: int, label: str) -> int:
        found = self.known.get((parent, label))
        if found is None:
            found = self.known[parent, label] = len(self.parent)
            self.parent.append(parent)
            self.label.append(label)
            self.full.append(f"{self.full[parent]}/{label}" if parent >= 0 else label)
        return found

    def tree(self, drawn: Drawn, node: Sequence[int], graph: Sequence[int]) -> ScopeTree:
        """The tree with a box a call and the folds, a parent before its children.

        ``node`` and ``graph``: by id the scope of each, as ``of`` and ``box`` gave it.
        """
        blocks = [self.modules.get(path) for path in self.full]
        tree = ScopeTree(
            parent=list(self.parent),
            label=list(self.label),
            type=[block.type if block else "" for block in blocks],
            origin=[block.how if block else "name" for block in blocks],
            node=list(node),
            graph=list(graph),
        )
        orders = execution_orders(drawn, drawn.readers)
        by_calls(drawn, tree, drawn.readers, orders)
        self._folds(tree)
        _without_circles(tree, set(circles(tree, drawn.readers, orders)))
        return _parents_first(tree)

    def _folds(self, tree: ScopeTree) -> None:
        """A box around the equal siblings of each repeat, where none of them was cut into calls."""
        numbers = {path: scope for scope, path in enumerate(self.full)}
        whole = [tree.label[scope] == label for scope, label in enumerate(self.label)]
        for repeat in self.report.repeats:
            parts = {numbers.get(path, -1) for path in repeat.scopes}
            if repeat.count < _MIN_FOLD or len(parts) != repeat.count or -1 in parts:
                continue
            above = {tree.parent[scope] for scope in parts}
            if len(above) == 1 and all(whole[scope] for scope in parts):
                for scope in parts:
                    tree.parent[scope] = len(tree.parent)
                tree.parent.append(above.pop())
                tree.label.append(f"{repeat.name} ×{repeat.count}")
                tree.type.append("")
                tree.origin.append(_FOLD)


def _without_circles(tree: ScopeTree, levels: set[int]) -> None:
    """Take away the folds of levels whose boxes wait for each other."""
    for scope, origin in enumerate(tree.origin):
        if origin == _FOLD and tree.parent[scope] in levels:
            tree.parent = [tree.parent[scope] if above == scope else above for above in tree.parent]


def _parents_first(tree: ScopeTree) -> ScopeTree:
    """The tree numbered so that a parent comes before its children; without boxes that are empty."""
    full = [False] * len(tree.parent)
    for held in (*tree.node, *tree.graph):
        scope = held
        while scope >= 0 and not full[scope]:
            full[scope] = True
            scope = tree.parent[scope]
    below: list[list[int]] = [[] for _ in range(len(tree.parent) + 1)]
    for scope, above in enumerate(tree.parent):
        if full[scope]:
            below[above + 1].append(scope)
    order: list[int] = []
    rows = [0]
    while rows:
        children = below[rows.pop()]
        order.extend(children)
        rows.extend(scope + 1 for scope in reversed(children))
    place = dict(zip(order, range(len(order)), strict=True))
    place[-1] = -1
    return ScopeTree(
        parent=[place[tree.parent[scope]] for scope in order],
        label=[tree.label[scope] for scope in order],
        type=[tree.type[scope] for scope in order],
        origin=[tree.origin[scope] for scope in order],
        node=[place[scope] for scope in tree.node],
        graph=[place[scope] for scope in tree.graph],
    )
