"""Nodes that only prepare inputs of other nodes (sizes, masks, weights); grouped with their readers.

``Shape → Gather → Unsqueeze → Concat → Reshape`` reads as one Reshape, and a Conv whose weight is transposed,
scaled or computed in the graph as one Conv. Such nodes fold into their reader, as one box that can be
expanded; those with several readers get their own box. Neither is arithmetic on data.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace

from py_autodoc.blocks.dataflow.matrix_products import CONVS, PRODUCTS
from py_autodoc.graph.ir.model import Model, Node, TensorKind, TypeTable
from py_autodoc.report.encode.categories import category_of
from py_autodoc.report.module_tree.scope_tree import ScopeTree

Readers = Callable[[int], Iterable[int]]

SIZES, WEIGHTS, MASK = "sizes", "weights", "mask"
_INTEGER_AND_BOOL_TYPES = frozenset({2, 3, 4, 5, 6, 7, 9, 12, 13})
"""``TensorProto`` types of integers and booleans."""
_MASKING = frozenset({
    "Cast", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Expand", "Tile", "Transpose", "Slice", "Gather",
    "GatherND", "Concat", "Not", "And", "Or", "Xor", "Equal", "Greater", "GreaterOrEqual", "Less",
    "LessOrEqual", "Where", "Sub", "Mul", "Clip", "Max", "ReduceSum", "Identity", "Resize",
})  # fmt: skip
"""Operators that turn a mask into the form that its reader needs; positions (CumSum) are no mask."""
_MIN_SHARED_NODES = 2
"""Minimum nodes of a box for preparation nodes with several readers."""
_STORED = frozenset({"Cast", "DequantizeLinear", "Identity", "QuantizeLinear", "Transpose"})
"""Operators between a stored table and the Gather that looks up its rows."""


@dataclass(frozen=True, slots=True)
class PreparationNodes:
    """Preparation nodes by what they prepare."""

    kind: dict[int, str]
    learned: frozenset[int] = frozenset()
    """Nodes that compute weights from learned values."""
    logic: frozenset[int] = frozenset()
    """Nodes that compare, select and mask."""

    def of(self, kind: str) -> list[int]:
        """Return the nodes of one kind, ascending."""
        return sorted(node for node, node_kind in self.kind.items() if node_kind == kind)

    def is_table(self, model: Model, node: int) -> bool:
        """Return True for rows of a stored table: an embedding, even if the rows are always the same."""
        about = model.nodes[node]
        if node not in self.learned or about.op_type != "Gather":
            return False
        table = model.tensors[about.inputs[0]]
        return table.is_constant or model.nodes[table.producer].op_type in _STORED

    def title(self, nodes: Iterable[int]) -> str:
        """Return what the nodes prepare: ``sizes``, ``weights``, ``mask`` or ``constants``."""
        node_set = set(nodes)
        kinds = {self.kind[node] for node in node_set}
        fixed = {node for node in node_set if self.kind[node] == WEIGHTS}
        names = ["sizes"] if SIZES in kinds else []
        if fixed & self.learned:
            names.append("weights")
        if MASK in kinds or (fixed & self.logic and not fixed & self.learned):
            names.append("mask")
        elif fixed and not fixed & self.learned:
            names.append("constants")
        return ", ".join(names)


def preparation_nodes(model: Model, types: TypeTable) -> PreparationNodes:
    """Return nodes computed from constants alone (weights), or from shapes and constants alone (sizes).

    Excluded as arithmetic: nodes that produce a graph output, hold a subgraph, multiply matrices or combine
    sizes with learned values (sinusoidal positions). A model without inputs has none: otherwise all would
    count.
    """
    kind: dict[int, str] = {}
    if not any(model.tensors[t].kind == TensorKind.INPUT for t in model.graphs[0].inputs):
        return PreparationNodes(kind)
    learned: set[int] = set()
    for graph in model.graphs:
        for number in graph.nodes:
            node = model.nodes[number]
            node_kind = _kind(model, types, node, kind)
            if node_kind:
                kind[number] = node_kind
            if node_kind == WEIGHTS and _learns(model, types, node):
                learned.add(number)
    logic = frozenset(number for number in kind if category_of("", model.nodes[number].op_type) == "logic")
    return PreparationNodes(kind, frozenset(learned), logic)


def with_masks(
    model: Model,
    types: TypeTable,
    preparation: PreparationNodes,
    inputs: Container[int],
    boxed: Container[int],
) -> PreparationNodes:
    """Add the nodes that bring mask ``inputs`` into the form that is needed, except those in ``boxed``."""
    kind = dict(preparation.kind)
    masks: set[int] = set()
    """Tensors computed so."""
    for graph in model.graphs:
        for number in graph.nodes:
            node = model.nodes[number]
            read = {t for t in node.inputs if t >= 0}
            mask_inputs = {t for t in read if t in masks or t in inputs}
            other_inputs = read - mask_inputs
            if (
                not mask_inputs
                or node.op_type not in _MASKING
                or any(t >= 0 and model.tensors[t].is_output for t in node.outputs)
                or not all(_source(model, preparation.kind, t) for t in other_inputs)
                or (node.op_type != "Resize" and any(_floats(types, t) for t in other_inputs))
            ):
                continue
            masks.update(node.outputs)
            if number not in boxed:
                kind[number] = MASK
    return replace(preparation, kind=kind)


def _kind(model: Model, types: TypeTable, node: Node, kind_of: dict[int, str]) -> str:
    if node.is_constant or node.subgraphs or not node.outputs:
        return ""
    outputs = [t for t in node.outputs if t >= 0]
    if not outputs or any(model.tensors[t].is_output for t in outputs):
        return ""
    if node.op_type in ("Shape", "Size") and not node.domain:
        return SIZES
    inputs = [t for t in node.inputs if t >= 0]
    kinds = {_source(model, kind_of, t) for t in inputs}
    if not inputs or "" in kinds:
        return ""
    if kinds == {WEIGHTS}:
        return WEIGHTS
    if node.op_type in PRODUCTS or node.op_type in CONVS:
        return ""
    return "" if any(_floats(types, t) for t in inputs if _source(model, kind_of, t) == WEIGHTS) else SIZES


def _source(model: Model, kind_of: dict[int, str], tensor: int) -> str:
    entry = model.tensors[tensor]
    if entry.is_constant:
        return WEIGHTS
    return kind_of.get(entry.producer, "")


def _learns(model: Model, types: TypeTable, node: Node) -> bool:
    """Return True if a node reads learned values, or replaces them in a file without weights."""
    stored = (t for t in node.inputs if t >= 0 and model.tensors[t].is_constant)
    return node.op_type in ("ConstantOfShape", "DequantizeLinear") or any(_floats(types, t) for t in stored)


def _floats(types: TypeTable, tensor: int) -> bool:
    """Return True for a tensor of several floats; shape computations need none."""
    shape = types.shapes[tensor]
    several = shape is None or any(dim != 1 for dim in shape)
    return several and types.dtypes[tensor] not in _INTEGER_AND_BOOL_TYPES


def move_sizes_out_of_modules(model: Model, tree: ScopeTree, preparation: PreparationNodes) -> None:
    """Move sizes out of modules that compute nothing else: a ``ModuleList`` whose loop adds them."""
    computing_scopes: set[int] = set()
    scopes = [
        tree.node[n.id] for n in model.nodes if not n.is_constant and preparation.kind.get(n.id) != SIZES
    ]
    for scope in (*scopes, *tree.graph):
        while scope >= 0 and scope not in computing_scopes:
            computing_scopes.add(scope)
            scope = tree.parent[scope]
    for node in preparation.of(SIZES):
        scope = tree.node[node]
        while scope >= 0 and scope not in computing_scopes:
            scope = tree.parent[scope]
        tree.node[node] = scope


def move_to_readers(
    tree: ScopeTree,
    nodes: Sequence[int],
    readers: Readers,
    folds: frozenset[int],
    *,
    down_only: bool = False,
) -> None:
    """Move each node into the innermost box that holds all its readers; ``folds`` hold only parts.

    ``nodes`` are in execution order. A node stays in a box that holds one of its readers unless a box inside
    holds all of them; with ``down_only`` this applies to every box. A box that holds all readers of a node
    stays acyclic whether or not it contains the node, so no further check is needed.
    """
    for node in reversed(nodes):
        common: list[int] | None = None
        node_path = _path(tree, tree.node[node])
        stays = down_only
        for reader in readers(node):
            path = _path(tree, tree.node[reader])
            stays = stays or path[: len(node_path)] == node_path
            common = path if common is None else _common_prefix(common, path)
        if common is None:
            continue
        while common and common[-1] in folds:
            common.pop()
        if stays and common[: len(node_path)] != node_path:
            continue
        tree.node[node] = common[-1] if common else -1


def _path(tree: ScopeTree, scope: int) -> list[int]:
    path: list[int] = []
    while scope >= 0:
        path.append(scope)
        scope = tree.parent[scope]
    return path[::-1]


def _common_prefix(first: list[int], second: list[int]) -> list[int]:
    end = 0
    while end < min(len(first), len(second)) and first[end] == second[end]:
        end += 1
    return first[:end]


@dataclass(frozen=True, slots=True)
class PreparationBox:
    """A box to create in one level: a node with its preparation nodes, or (``node`` -1) shared ones."""

    level: int
    nodes: tuple[int, ...]
    title: str
    node: int = -1
    fills_level: bool = False
    """True if its level contains nothing else."""


def reader_boxes(
    model: Model, tree: ScopeTree, preparation: PreparationNodes, readers: Readers, closed: frozenset[int]
) -> list[PreparationBox]:
    """Return boxes around nodes and the preparation nodes only they read; none in the levels ``closed``.

    All other nodes of such a box are read only inside it, so no path leaves and re-enters it.
    """
    groups: dict[int, list[int]] = {}
    for node, reader in _only_readers(model, tree, preparation, readers).items():
        if reader >= 0 and tree.node[node] not in closed:
            groups.setdefault(reader, []).append(node)
    counts = _node_counts(model, tree)
    boxes = []
    for reader, nodes in sorted(groups.items()):
        title = f"{model.nodes[reader].op_type} + {preparation.title(nodes)}"
        fills_level = tree.node[reader] >= 0 and len(nodes) + 1 == counts[tree.node[reader]]
        boxes.append(PreparationBox(tree.node[reader], (*sorted(nodes), reader), title, reader, fills_level))
    return boxes


def shared_boxes(
    tree: ScopeTree,
    preparation: PreparationNodes,
    loose: Iterable[int],
    readers: Readers,
    closed: frozenset[int],
) -> list[list[PreparationBox]]:
    """Return candidate boxes for ``loose`` nodes: per level and kind first one for all, then components.

    The caller uses the first, or the others if a path would leave and re-enter it.
    """
    by_level: dict[tuple[int, str], list[int]] = {}
    for node in loose:
        if tree.node[node] not in closed:
            by_level.setdefault((tree.node[node], preparation.kind[node]), []).append(node)
    candidates = []
    for (level, _), nodes in sorted(by_level.items()):
        components = [sorted(nodes), *_connected_components(nodes, readers)]
        candidates.append(
            [
                PreparationBox(level, tuple(component), preparation.title(component).capitalize())
                for component in components
                if len(component) >= _MIN_SHARED_NODES
            ]
        )
    return [boxes for boxes in candidates if boxes]


def single_node_boxes(
    model: Model, tree: ScopeTree, preparation: PreparationNodes, readers: Readers, closed: frozenset[int]
) -> list[PreparationBox]:
    """Return a box per loose preparation node that one box or node reads; none in the levels ``closed``.

    A module without other nodes counts as the node: a normalization of weights that all layers read.
    """
    counts = _node_counts(model, tree)
    boxes = []
    for node in preparation.kind:
        level = scope = tree.node[node]
        if scope in closed or preparation.is_table(model, node):
            continue
        while level >= 0 and counts[level] == 1:
            level = tree.parent[level]
        reader_entities = {_entity(tree, reader, level, len(model.nodes)) for reader in readers(node)}
        if len(reader_entities) == 1 and -1 not in reader_entities:
            boxes.append(PreparationBox(scope, (node,), preparation.title([node]).capitalize()))
    return boxes


def _entity(tree: ScopeTree, node: int, level: int, count: int) -> int:
    """Return the node, or ``count`` plus the box, of a level that holds a node; -1 if it is elsewhere."""
    child = tree.child(level, tree.node[node])
    return -1 if child == -2 else node if child == level else count + child


def _only_readers(
    model: Model, tree: ScopeTree, preparation: PreparationNodes, readers: Readers
) -> dict[int, int]:
    """Map each preparation node to the one node of its level that reads it, -1 for several or none."""
    only_reader: dict[int, int] = {}
    for graph in model.graphs:
        for node in reversed(graph.nodes):
            if node not in preparation.kind:
                continue
            readers_of_node = set()
            for reader in readers(node):
                if tree.node[reader] != tree.node[node] or model.nodes[reader].subgraphs:
                    readers_of_node.add(-1)
                else:
                    readers_of_node.add(only_reader.get(reader, reader))
            only_reader[node] = readers_of_node.pop() if len(readers_of_node) == 1 else -1
    return only_reader


def _node_counts(model: Model, tree: ScopeTree) -> dict[int, int]:
    """Map each scope to the number of nodes and boxes directly in it."""
    counts: dict[int, int] = {}
    for node in model.nodes:
        if not node.is_constant:
            counts[tree.node[node.id]] = counts.get(tree.node[node.id], 0) + 1
    for parent in tree.parent:
        counts[parent] = counts.get(parent, 0) + 1
    return counts


def _connected_components(nodes: Sequence[int], readers: Readers) -> list[list[int]]:
    """Return the connected components of the nodes, each ascending."""
    root = {node: node for node in nodes}

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for node in nodes:
        for reader in readers(node):
            if reader in root:
                root[find(reader)] = find(node)
    parts: dict[int, list[int]] = {}
    for node in sorted(nodes):
        parts.setdefault(find(node), []).append(node)
    return list(parts.values())
