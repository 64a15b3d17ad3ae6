"""Boxes for nodes that depend on constants only.

Their values are no data flow, so the viewer draws no edges from them into other boxes. Instead of a node or
module without edges, it draws such a box as a chip on the first box that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from py_autodoc.graph.ir.model import Model, TensorKind
from py_autodoc.report.box_tree.preparation_nodes import WEIGHTS, PreparationNodes, Readers
from py_autodoc.report.module_tree.scope_tree import ScopeTree

TITLE = "Constants"
_MODULES = frozenset({"scope", "name"})
"""Origins of recorded modules."""


@dataclass(frozen=True, slots=True)
class ConstantBox:
    """A box to create in one level, around nodes and boxes that read each other."""

    level: int
    nodes: tuple[int, ...]
    scopes: tuple[int, ...]
    members: tuple[int, ...]
    """All nodes inside, also those in ``scopes``."""
    title: str


def with_constants(model: Model, tree: ScopeTree, preparation: PreparationNodes) -> PreparationNodes:
    """Add nodes computed from constants to the weights, except those in modules of nothing else."""
    constant = _constant_nodes(model, preparation)
    constant_scopes = _constant_scopes(model, tree, constant)
    added = {
        n: WEIGHTS for n in constant if n not in preparation.kind and tree.node[n] not in constant_scopes
    }
    return replace(
        preparation, kind={**preparation.kind, **added}, learned=preparation.learned | added.keys()
    )


def constant_boxes(
    model: Model, tree: ScopeTree, preparation: PreparationNodes, readers: Readers, closed: frozenset[int]
) -> list[ConstantBox]:
    """Return boxes for constants that only boxes read; none in the levels ``closed``.

    Nodes and boxes of constants that read each other share one, unless a path leaves and re-enters it, which
    the caller checks. Rows of a learned table stay: an embedding is drawn with its edges. Before that,
    constants that nothing in their level reads move up to their readers, with their modules.
    """
    constant = _constant_nodes(model, preparation)
    constant_scopes = _constant_scopes(model, tree, constant)
    layout = _Layout(model, tree, readers, constant, constant_scopes)
    while layout.move_up(closed):
        pass
    boxes = []
    for level, members in layout.components():
        nodes = [entity for entity in members if entity < len(model.nodes)]
        is_box = len(members) == 1 and not nodes
        if is_box or level in closed or not layout.only_boxes_read(level, members):
            continue
        scopes = [entity - len(model.nodes) for entity in members[len(nodes) :]]
        modules = {tree.label[scope] for scope in scopes if tree.origin[scope] in _MODULES}
        prepared = [node for node in nodes if node in preparation.kind]
        title = modules.pop() if len(modules) == 1 else preparation.title(prepared).capitalize() or TITLE
        contained = [node for entity in members for node in layout.inside[entity]]
        boxes.append(ConstantBox(level, tuple(nodes), tuple(scopes), tuple(contained), title))
    return boxes


class _Layout:
    """Where constants are drawn: each constant node as itself or as the outermost box of constants."""

    def __init__(
        self,
        model: Model,
        tree: ScopeTree,
        readers: Readers,
        constant: Iterable[int],
        constant_scopes: set[int],
    ) -> None:
        self.tree = tree
        self.readers = readers
        self.node_count = len(model.nodes)
        self.entity: dict[int, int] = {}
        """Node, or number of nodes plus scope, by constant node."""
        self.inside: dict[int, list[int]] = {}
        """Constant nodes by entity."""
        for node in sorted(constant):
            scope, entity = tree.node[node], node
            while scope in constant_scopes:
                scope, entity = tree.parent[scope], self.node_count + scope
            self.entity[node] = entity
            self.inside.setdefault(entity, []).append(node)

    def level(self, entity: int) -> int:
        scope = entity - self.node_count
        return self.tree.node[entity] if scope < 0 else self.tree.parent[scope]

    def components(self) -> list[tuple[int, list[int]]]:
        """Return the level and the entities, ascending, of each set connected by reads in one level."""
        root = {entity: entity for entity in self.entity.values()}

        def find(entity: int) -> int:
            while root[entity] != entity:
                root[entity] = root[root[entity]]
                entity = root[entity]
            return entity

        for node, entity in self.entity.items():
            for reader in self.readers(node):
                reader_entity = self.entity.get(reader, entity)
                if self.level(reader_entity) == self.level(entity):
                    root[find(entity)] = find(reader_entity)
        members: dict[int, list[int]] = {}
        for entity in sorted(root):
            members.setdefault(find(entity), []).append(entity)
        return [(self.level(component[0]), component) for component in members.values()]

    def move_up(self, closed: frozenset[int]) -> bool:
        """Move each component that nothing else in its level reads up one level; True if any was moved."""
        moved = False
        for level, members in self.components():
            readers = self._reader_boxes(level, members)
            if level < 0 or level in closed or not readers or readers != {-2}:
                continue
            moved = True
            above = self.tree.parent[level]
            for entity in members:
                if entity < self.node_count:
                    self.tree.node[entity] = above
                else:
                    self.tree.parent[entity - self.node_count] = above
        return moved

    def only_boxes_read(self, level: int, members: list[int]) -> bool:
        """Return True if boxes of the level, and nothing else outside the members, read the members."""
        readers = self._reader_boxes(level, members)
        return bool(readers) and not readers & {-2, level}

    def _reader_boxes(self, level: int, members: list[int]) -> set[int]:
        """Return the boxes of the level that read the members; ``level`` for its nodes, -2 for others."""
        inside = set(members)
        return {
            self.tree.child(level, self.tree.node[reader])
            for entity in members
            for node in self.inside[entity]
            for reader in self.readers(node)
            if self.entity.get(reader) not in inside
        }


def _constant_nodes(model: Model, preparation: PreparationNodes) -> set[int]:
    """Return nodes computed from constants alone; no rows of a table, nor what makes an output.

    A model without inputs has none: otherwise all would count.
    """
    constant: set[int] = set()
    if not any(model.tensors[t].kind == TensorKind.INPUT for t in model.graphs[0].inputs):
        return constant
    tables: set[int] = set()
    for graph in model.graphs:
        for number in graph.nodes:
            node = model.nodes[number]
            inputs = [model.tensors[t] for t in node.inputs if t >= 0]
            if (
                inputs
                and not node.is_constant
                and not node.subgraphs
                and not any(t >= 0 and model.tensors[t].is_output for t in node.outputs)
                and all(tensor.is_constant or tensor.producer in constant for tensor in inputs)
            ):
                constant.add(number)
                if preparation.is_table(model, number):
                    tables.add(number)
    return constant - tables


def _constant_scopes(model: Model, tree: ScopeTree, constant: Iterable[int]) -> set[int]:
    """Return the scopes that hold only constant nodes."""
    other_nodes = [0] * len(tree.parent)
    for node in model.nodes:
        if not node.is_constant:
            _count(tree, tree.node[node.id], other_nodes, 1)
    for scope in tree.graph:
        _count(tree, scope, other_nodes, 1)
    for number in constant:
        _count(tree, tree.node[number], other_nodes, -1)
    return {scope for scope, count in enumerate(other_nodes) if count == 0}


def _count(tree: ScopeTree, scope: int, counts: list[int], step: int) -> None:
    while scope >= 0:
        counts[scope] += step
        scope = tree.parent[scope]
