"""The viewer's tree of boxes: modules plus, where these are not enough, repeats and recognised structures.

Repeats of at least ``MIN_FOLD`` parts, and pairs of large neighbours, get a box around their parts, so that
twelve equal layers are one box that expands into twelve. A level with more than ``MAX_LOOSE_NODES`` loose
nodes gets boxes for the structures recognised in it; if it is still long, it is cut into stages.
A box only contains node sets that no path leaves and re-enters, so boxes never depend on each other in a
cycle. Modules that are called in several places get one box per call (``module_calls``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from py_autodoc.blocks.results import AttentionLayer, RecognisedBlock, Repeat
from py_autodoc.graph.ir.model import Model, TypeTable
from py_autodoc.report.box_tree.box_names import FOLD, STRUCTURE, BoxNames
from py_autodoc.report.box_tree.box_roles import Roles
from py_autodoc.report.box_tree.constant_boxes import constant_boxes, with_constants
from py_autodoc.report.box_tree.mask_boxes import TITLE, mask_boxes
from py_autodoc.report.box_tree.preparation_nodes import (
    WEIGHTS,
    move_sizes_out_of_modules,
    move_to_readers,
    preparation_nodes,
    reader_boxes,
    shared_boxes,
    single_node_boxes,
    with_masks,
)
from py_autodoc.report.box_tree.spatial_stages import stages
from py_autodoc.report.builders.block_section import recognised_blocks
from py_autodoc.report.builders.repeat_section import repeat_name, scopes_of
from py_autodoc.report.encode.block_titles import Titles
from py_autodoc.report.module_tree.module_calls import Orders, cyclic_levels, execution_orders, split_by_calls
from py_autodoc.report.module_tree.scope_tree import ScopeTree, scope_tree
from py_autodoc.report.pipeline.analysis import Analysis

PART, PLUMBING = "repeat-part", "plumbing"
"""Origins of the boxes created here, in addition to ``FOLD`` and ``STRUCTURE``."""
MIN_FOLD = 3
MIN_PAIR = 6
"""Minimum nodes per part for a pair of neighbours to be folded: small pairs are easier to read unfolded."""
MAX_LOOSE_NODES = 24
MIN_NODES = 2
"""Minimum number of nodes for a structure to get a box."""
_MASKS = frozenset({"attention mask", "mask"})
"""Roles of inputs that are masks."""
_SINGLE = frozenset({"attention", "moe", "recurrent"})
"""Kinds that runtimes fuse into one operator."""
_MAX_STEPS_PER_NODE = 40
"""Steps per node that the path search may take over all boxes of a model."""


def build_box_tree(analysis: Analysis) -> ScopeTree:
    """Return the module tree with boxes for repeats and structures; linear in the model's size."""
    tree = scope_tree(analysis.model)
    masks = frozenset(tensor for tensor, role in analysis.identified.roles.items() if role in _MASKS)
    return _BoxTreeBuilder(analysis.model, analysis.types, tree, analysis.params.params, masks).run(
        analysis.structure.repeats,
        tuple(recognised_blocks(analysis)),
        analysis.structure.attention,
    )


@dataclass(frozen=True, slots=True)
class _PlannedBox:
    """A box to create from loose nodes: a single box, or the parts of a fold."""

    nodes: tuple[int, ...]
    title: str
    parts: tuple[tuple[int, ...], ...] = ()


def _around_single(blocks: Sequence[RecognisedBlock]) -> dict[int, RecognisedBlock]:
    """Map residual blocks (by ``id``) to the single fused operator they wrap: too small for their own box."""
    smallest: dict[int, RecognisedBlock] = {}
    inside = {
        block.anchor: block for block in blocks if block.kind in _SINGLE and len(block.nodes) < MIN_NODES
    }
    if not inside:
        return {}
    for block in blocks:
        if block.kind == "residual":
            for node in inside.keys() & set(block.nodes):
                previous = smallest.get(node)
                if previous is None or len(block.nodes) < len(previous.nodes):
                    smallest[node] = block
    return {id(block): inside[node] for node, block in smallest.items()}


class _BoxTreeBuilder:
    def __init__(
        self,
        model: Model,
        types: TypeTable,
        tree: ScopeTree,
        params: Sequence[int | None],
        masks: frozenset[int] = frozenset(),
    ) -> None:
        self.model = model
        self.types = types
        self.tree = tree
        self.params = params
        self.masks = masks
        self.steps_left = _MAX_STEPS_PER_NODE * len(model.nodes) + 1000
        self.position = [0] * len(model.nodes)
        for graph in model.graphs:
            for index, node in enumerate(graph.nodes):
                self.position[node] = index
        self.preparation = preparation_nodes(model, types)
        self.stationary: frozenset[int] = frozenset()
        """Preparation nodes that do not move to their readers."""
        self.wrapped: set[int] = set()
        """Preparation nodes that have their own box, or share one with their reader."""

    def run(
        self,
        repeats: Sequence[Repeat],
        blocks: Sequence[RecognisedBlock],
        attention: Sequence[AttentionLayer],
    ) -> ScopeTree:
        move_sizes_out_of_modules(self.model, self.tree, self.preparation)
        self._move_preparation()
        orders = execution_orders(self.model, self._readers)
        split_by_calls(self.model, self.tree, self._readers, orders)
        for nodes in mask_boxes(self.model, self.types, self.tree, attention, self._readers, self.position):
            self._fold_nodes(_PlannedBox(nodes, TITLE))
        loose: list[_PlannedBox] = []
        titles = Titles(blocks)
        for repeat in repeats:
            if repeat.count < MIN_FOLD and not self._is_pair(repeat):
                continue
            scopes = scopes_of(self.model, self.tree, repeat, self.preparation.kind)
            name = f"{repeat_name(self.model, repeat, titles)} ×{repeat.count}"
            if scopes:
                self._fold_scopes(scopes, repeat, name)
            else:
                nodes = tuple(sorted(node for member in repeat.members for node in member))
                loose.append(_PlannedBox(nodes, name, repeat.members))
        long_levels = self._long_levels()
        enclosing_residual = _around_single(blocks)
        loose += [
            _PlannedBox(block.nodes, titles.of(enclosing_residual.get(id(block), block)))
            for block in blocks
            if len(block.nodes) >= MIN_NODES and self.tree.node[block.nodes[0]] in long_levels
        ]
        # Largest first: a smaller box then finds the box that contains it or that it would cut.
        for box in sorted(loose, key=lambda b: (-len(b.nodes), b.nodes)):
            self._fold_nodes(box)
        self._move_preparation()
        self._add_masks(attention)
        movable = self.preparation.kind.keys()
        self.preparation = with_constants(self.model, self.tree, self.preparation)
        self.stationary = frozenset(self.preparation.kind) - movable
        self._box_preparation()
        for level in sorted(long_levels):
            self._add_stages(level)
        self._move_preparation()
        self._remove_cyclic_boxes(orders)
        # Masks start collapsed, like shape computations and computed weights.
        for scope, label in enumerate(self.tree.label):
            if label == TITLE and self.tree.origin[scope] == STRUCTURE:
                self.tree.origin[scope] = PLUMBING
        closed = frozenset(scope for scope, origin in enumerate(self.tree.origin) if origin == PLUMBING)
        for single in single_node_boxes(self.model, self.tree, self.preparation, self._readers, closed):
            self._move(single.nodes, self._add(single.level, single.title, PLUMBING))
        for constants in constant_boxes(self.model, self.tree, self.preparation, self._readers, closed):
            if self._convex(constants.members):
                scope = self._add(constants.level, constants.title, PLUMBING)
                self._move(constants.nodes, scope, constants.scopes)
        tree = self._parents_first()
        roles = Roles(self.model, titles, self.preparation)
        BoxNames(self.model, self.types, tree, roles, self._readers, self.position).run()
        return tree

    def _is_pair(self, repeat: Repeat) -> bool:
        """Return True for two large parts with weights and equal shapes, the second reading the first."""
        first, second = repeat.members[0], frozenset(repeat.members[-1])
        return (
            len(first) >= MIN_PAIR
            and any(self.params[node] for node in first)
            and any(reader in second for node in first for reader in self._readers(node))
            and all(self._shaped_alike(a, b) for a, b in zip(*repeat.members, strict=True))
        )

    def _shaped_alike(self, first: int, second: int) -> bool:
        """Compare the outputs that both parts have; the last part lacks outputs that nothing else reads."""
        shapes, nodes = self.types.shapes, self.model.nodes
        pairs = zip(nodes[first].outputs, nodes[second].outputs, strict=False)
        return all(shapes[a] == shapes[b] for a, b in pairs if a >= 0 and b >= 0)

    def _remove_cyclic_boxes(self, orders: Orders) -> None:
        """Remove boxes created here that wait for each other in a cycle, although none waits for itself."""
        tree = self.tree
        removed: set[int] = set()
        while cyclic := cyclic_levels(tree, self._readers, orders):
            levels = frozenset(cyclic)
            created = {
                scope
                for scope, parent in enumerate(tree.parent)
                if parent in levels and tree.origin[scope] in (FOLD, PART, STRUCTURE, PLUMBING)
            } - removed
            if not created:
                return
            removed |= created
            tree.parent = [self._remaining_ancestor(parent, created) for parent in tree.parent]
            tree.node = [self._remaining_ancestor(scope, created) for scope in tree.node]

    def _remaining_ancestor(self, scope: int, removed: set[int]) -> int:
        while scope in removed:
            scope = self.tree.parent[scope]
        return scope

    def _move_preparation(self) -> None:
        """Move computed weights to their readers; shape computations only within their module.

        Weights of a recorded module and rows of a lookup table also stay: an embedding is a module.
        """
        tree = self.tree
        folds = frozenset(scope for scope, origin in enumerate(tree.origin) if origin == FOLD)
        loose = self.preparation.kind.keys() - self.wrapped - self.stationary
        order = [node for graph in self.model.graphs for node in graph.nodes if node in loose]
        weights = [node for node in order if self._may_leave(node)]
        move_to_readers(tree, weights, self._readers, folds)
        move_to_readers(tree, order, self._readers, folds, down_only=True)

    def _may_leave(self, node: int) -> bool:
        entry, preparation = self.model.nodes[node], self.preparation
        return (
            preparation.kind[node] == WEIGHTS
            and "scope" not in entry.origins
            and not preparation.is_table(self.model, node)
        )

    def _mask_boxes(self) -> frozenset[int]:
        tree = self.tree
        return frozenset(
            scope
            for scope, label in enumerate(tree.label)
            if label == TITLE and tree.origin[scope] == STRUCTURE
        )

    def _add_masks(self, attention: Sequence[AttentionLayer]) -> None:
        """Count computations from masks as preparation too, unless they are in a box or in an attention."""
        boxes = self._mask_boxes()
        boxed = {node for node, scope in enumerate(self.tree.node) if scope in boxes}
        boxed.update(node for layer in attention for node in layer.nodes)
        self.preparation = with_masks(self.model, self.types, self.preparation, self.masks, boxed)

    def _box_preparation(self) -> None:
        """Box nodes with their own preparation nodes, and preparation nodes with several readers."""
        tree, preparation = self.tree, self.preparation
        closed = self._mask_boxes()
        for reader_box in reader_boxes(self.model, tree, preparation, self._readers, closed):
            scope = reader_box.level
            if reader_box.fills_level and tree.origin[scope] == STRUCTURE:
                tree.label[scope], tree.origin[scope] = reader_box.title, PLUMBING
            else:
                scope = self._add(scope, reader_box.title, PLUMBING)
                self._move(reader_box.nodes, scope)
            tree.type[scope] = self.model.nodes[reader_box.node].op_type
            self.wrapped.update(reader_box.nodes)
        loose = sorted(preparation.kind.keys() - self.wrapped)
        for common, *parts in shared_boxes(tree, preparation, loose, self._readers, closed):
            for box in [common] if self._convex(common.nodes) else parts:
                if self._convex(box.nodes):
                    self._move(box.nodes, self._add(box.level, box.title, PLUMBING))
                    self.wrapped.update(box.nodes)

    def _parents_first(self) -> ScopeTree:
        """Return the tree renumbered so that parents precede their children, as all code here expects."""
        tree = self.tree
        below: list[list[int]] = [[] for _ in range(len(tree.parent) + 1)]
        non_empty = self._non_empty_scopes()
        for scope, parent in enumerate(tree.parent):
            if non_empty[scope]:
                below[parent + 1].append(scope)
        order: list[int] = []
        rows = [0]
        while rows:
            for scope in below[rows.pop()]:
                order.append(scope)
                rows.append(scope + 1)
        new_id = dict(zip(order, range(len(order)), strict=True))
        new_id[-1] = -1
        return ScopeTree(
            parent=[new_id[tree.parent[scope]] for scope in order],
            label=[tree.label[scope] for scope in order],
            type=[tree.type[scope] for scope in order],
            origin=[tree.origin[scope] for scope in order],
            role=[""] * len(order),
            node=[new_id[scope] for scope in tree.node],
            graph=[new_id[scope] for scope in tree.graph],
        )

    def _non_empty_scopes(self) -> list[bool]:
        """Return, per scope, whether it or a descendant contains a node or subgraph."""
        tree = self.tree
        non_empty = [False] * len(tree.parent)
        for scope in (*tree.node, *tree.graph):
            while scope >= 0 and not non_empty[scope]:
                non_empty[scope] = True
                scope = tree.parent[scope]
        return non_empty

    def _long_levels(self) -> frozenset[int]:
        """Return the levels with too many loose nodes; -1 is the top level."""
        count: dict[int, int] = {}
        for node, scope in enumerate(self.tree.node):
            if node not in self.preparation.kind:
                count[scope] = count.get(scope, 0) + 1
        return frozenset(scope for scope, nodes in count.items() if nodes > MAX_LOOSE_NODES)

    def _fold_scopes(self, scopes: Sequence[int], repeat: Repeat, name: str) -> None:
        """Add a box around sibling modules."""
        parents = {self.tree.parent[scope] for scope in scopes}
        if len(parents) != 1:
            return
        nodes = [node for member in repeat.members for node in member]
        if not self._convex(nodes):
            return
        self._move((), self._add(parents.pop(), name, FOLD), scopes)

    def _fold_nodes(self, box: _PlannedBox) -> None:
        """Add a box around loose nodes of one level; do nothing if it would cut another box."""
        levels = {self.tree.node[node] for node in box.nodes}
        if len(levels) != 1 or not self._convex(box.nodes):
            return
        level = levels.pop()
        if not box.parts:
            self._move(box.nodes, self._add(level, box.title, STRUCTURE))
            return
        if not all(self._convex(instance) for instance in box.parts):
            return
        fold = self._add(level, box.title, FOLD)
        for number, instance in enumerate(box.parts):
            self._move(instance, self._add(fold, f"#{number + 1}", PART))

    def _add_stages(self, level: int) -> None:
        """Add stages to a level that is still long."""
        for title, entities in stages(self.model, self.types, self.tree, level):
            stage = self._add(level, title, STRUCTURE)
            for entity in entities:
                scope = entity - len(self.model.nodes)
                if scope < 0:
                    self.tree.node[entity] = stage
                else:
                    self.tree.parent[scope] = stage

    def _move(self, nodes: Iterable[int], scope: int, scopes: Iterable[int] = ()) -> None:
        for node in nodes:
            self.tree.node[node] = scope
        for inner in scopes:
            self.tree.parent[inner] = scope

    def _add(self, parent: int, label: str, origin: str) -> int:
        tree = self.tree
        tree.parent.append(parent)
        tree.label.append(label)
        tree.type.append("")
        tree.origin.append(origin)
        return len(tree.parent) - 1

    def _convex(self, nodes: Sequence[int]) -> bool:
        """Return True if no path leaves and re-enters the nodes; False also at the step limit."""
        inside = set(nodes)
        graphs = {self.model.nodes[node].graph for node in inside}
        if len(graphs) != 1:
            return False
        last = max(self.position[node] for node in inside)
        visited: set[int] = set()
        stack = list(inside)
        while stack:
            node = stack.pop()
            for reader in self._readers(node):
                self.steps_left -= 1
                if self.steps_left < 0:
                    return False
                if node in inside and reader in inside:
                    continue
                if reader in inside:
                    return False
                if reader not in visited and self.position[reader] < last:
                    visited.add(reader)
                    stack.append(reader)
        return True

    def _readers(self, node: int) -> Iterable[int]:
        """Yield readers of a node's outputs in its graph; reads in a subgraph count for its owner node."""
        model, graph = self.model, self.model.nodes[node].graph
        for tensor in model.nodes[node].outputs:
            if tensor < 0:
                continue
            for reader in model.tensors[tensor].consumers:
                while reader >= 0 and model.nodes[reader].graph != graph:
                    reader = model.graphs[model.nodes[reader].graph].parent_node
                if reader >= 0:
                    yield reader
