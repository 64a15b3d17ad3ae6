"""Boxes for what is computed from constants alone and no node of its level reads.

Such values are no data flow, so the viewer draws no edges from them into other boxes: a single node would
lie there without any. As a box, the viewer draws it as a chip on its first reader.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from py_autodoc.graph.ir.model import Model, TensorKind
from py_autodoc.report.box_tree.preparation_nodes import PreparationNodes, Readers
from py_autodoc.report.module_tree.scope_tree import ScopeTree

TITLE = "Constants"


@dataclass(frozen=True, slots=True)
class ConstantBox:
    """A box to create in one level, around nodes and boxes that read each other."""

    level: int
    nodes: tuple[int, ...]
    scopes: tuple[int, ...]
    title: str


def constant_boxes(
    model: Model, tree: ScopeTree, preparation: PreparationNodes, readers: Readers, closed: frozenset[int]
) -> list[ConstantBox]:
    """Return boxes for nodes computed from constants that only boxes read; none in the levels ``closed``.

    A box includes the boxes of constants that the node reads, and that read it. It reads no other box, so no
    path leaves and re-enters it. Rows of a learned table stay: an embedding is drawn with its edges.
    """
    constant = _constant_nodes(model)
    tables = {node for node in constant if preparation.is_table(model, node)}
    whole = _constant_scopes(model, tree, constant - tables)
    entities: dict[int, tuple[int, int]] = {}
    """Level and entity (node, or number of nodes plus scope) in which each constant node is drawn."""
    for node in sorted(constant - tables):
        level, entity = tree.node[node], node
        while level in whole:
            level, entity = tree.parent[level], len(model.nodes) + level
        entities[node] = level, entity
    boxes = []
    for level, members in _components(entities, readers):
        loose = [entity for entity in members if entity < len(model.nodes)]
        if not loose or level in closed or not _read_by_boxes(model, tree, level, members, entities, readers):
            continue
        scopes = [entity - len(model.nodes) for entity in members[len(loose) :]]
        modules = {tree.label[scope] for scope in scopes if tree.origin[scope] in ("scope", "name")}
        known = [node for node in loose if node in preparation.kind]
        title = modules.pop() if len(modules) == 1 else preparation.title(known).capitalize() or TITLE
        boxes.append(ConstantBox(level, tuple(loose), tuple(scopes), title))
    return boxes


def _constant_nodes(model: Model) -> set[int]:
    """Return nodes computed from constants alone, except those that make an output or hold a subgraph."""
    constant: set[int] = set()
    if not any(model.tensors[t].kind == TensorKind.INPUT for t in model.graphs[0].inputs):
        return constant
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
    return constant


def _constant_scopes(model: Model, tree: ScopeTree, constant: Iterable[int]) -> set[int]:
    """Return the scopes that hold only constant nodes."""
    total = [0] * len(tree.parent)
    for node in model.nodes:
        if not node.is_constant:
            _count(tree, tree.node[node.id], total)
    for scope in tree.graph:
        _count(tree, scope, total)
    for number in constant:
        _count(tree, tree.node[number], total, -1)
    return {scope for scope, rest in enumerate(total) if rest == 0}


def _count(tree: ScopeTree, scope: int, total: list[int], step: int = 1) -> None:
    while scope >= 0:
        total[scope] += step
        scope = tree.parent[scope]


def _components(entities: dict[int, tuple[int, int]], readers: Readers) -> Iterable[tuple[int, list[int]]]:
    """Yield the level and the entities, ascending, of each set that is connected by reads in one level."""
    root = {entity: entity for _, entity in entities.values()}
    level_of = {entity: level for level, entity in entities.values()}

    def find(entity: int) -> int:
        while root[entity] != entity:
            root[entity] = root[root[entity]]
            entity = root[entity]
        return entity

    for node, (level, entity) in entities.items():
        for reader in readers(node):
            other_level, other = entities.get(reader, (level, entity))
            if other_level == level:
                root[find(entity)] = find(other)
    members: dict[int, list[int]] = {}
    for entity in sorted(root):
        members.setdefault(find(entity), []).append(entity)
    for first, component in members.items():
        yield level_of[first], component


def _read_by_boxes(
    model: Model,
    tree: ScopeTree,
    level: int,
    members: list[int],
    entities: dict[int, tuple[int, int]],
    readers: Readers,
) -> bool:
    """Return True if boxes of the level, and nothing else outside the members, read the members."""
    inside = set(members)
    has_reader = False
    for node, (_, entity) in entities.items():
        if entity not in inside:
            continue
        for reader in readers(node):
            if reader in entities and entities[reader][1] in inside:
                continue
            child = tree.child(level, tree.node[reader])
            if child in (-2, level):
                return False
            has_reader = True
    return has_reader
