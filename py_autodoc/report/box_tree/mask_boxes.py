"""Loose nodes that compute the masks of attention layers.

Exporters place a mask's comparisons, casts and expansions next to the encoder that reads it: up to a third of
the boxes of an initial view, placed before everything characteristic of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from py_autodoc.blocks.dataflow.matrix_products import CONVS, PRODUCTS
from py_autodoc.blocks.results import AttentionLayer
from py_autodoc.graph.ir.model import Model, Node, TensorKind, TypeTable
from py_autodoc.report.module_tree.scope_tree import ScopeTree

TITLE = "Mask"
MIN_NODES = 3
"""Smaller sets are left as they are."""
_MAX_NODES = 256
"""Maximum number of nodes visited per layer."""
_BOOL = 9
"""``TensorProto.BOOL``."""


def mask_boxes(
    model: Model,
    types: TypeTable,
    tree: ScopeTree,
    layers: Sequence[AttentionLayer],
    readers: Callable[[int], Iterable[int]],
    position: Sequence[int],
) -> list[tuple[int, ...]]:
    """Return sets of loose nodes, each of one level, that only serve masks; ids ascending.

    A mask counts if several layers share it or the model has only one layer; a mask that a layer computes for
    itself belongs to that layer. ``readers`` gives the readers of a node's outputs, ``position`` the
    positions of nodes in their graphs. No path leaves such a set and re-enters it, except between its
    results.
    """
    reached: set[int] = set()
    masked: set[int] = set()
    ends: Counter[int] = Counter()
    for layer in layers:
        mask_nodes, last = _back(model, tree, layer)
        reached |= mask_nodes
        masked.update(layer.nodes)
        ends.update(last)
    masks_and_layers = reached | masked
    shared = {
        node
        for node, count in ends.items()
        if count >= min(2, len(layers))
        # Numbers with other readers are not a mask but the source of its size or type.
        and (_is_truth(model, types, node) or masks_and_layers.issuperset(readers(node)))
    }
    by_level: dict[tuple[int, int], set[int]] = {}
    for node in reached:
        by_level.setdefault((model.nodes[node].graph, tree.node[node]), set()).add(node)
    boxes = []
    for nodes in by_level.values():
        cone = _cone(nodes, shared & nodes, readers, position)
        drawn = sum(model.nodes[node].op_type != "Constant" for node in cone)
        if drawn >= MIN_NODES:
            boxes.append(tuple(sorted(cone)))
    return sorted(boxes)


def _back(model: Model, tree: ScopeTree, layer: AttentionLayer) -> tuple[set[int], set[int]]:
    """Return the nodes that compute a layer's masks, and those whose result leaves their level for it."""
    layer_nodes = frozenset(layer.nodes)
    stack = [(tensor, -2) for tensor in layer.masks]
    mask_nodes: set[int] = set()
    ends: set[int] = set()
    while stack and len(mask_nodes) < _MAX_NODES:
        tensor, level = stack.pop()
        number = model.tensors[tensor].producer
        if number < 0 or number in layer_nodes or not _makes_masks(model, model.nodes[number]):
            continue
        if tree.node[number] != level:
            ends.add(number)
        if number not in mask_nodes:
            mask_nodes.add(number)
            stack += [(t, tree.node[number]) for t in model.nodes[number].inputs if t >= 0]
    return mask_nodes, ends


def _is_truth(model: Model, types: TypeTable, node: int) -> bool:
    """Return True if the node's output is boolean."""
    return all(types.dtypes[tensor] == _BOOL for tensor in model.nodes[node].outputs if tensor >= 0)


def _makes_masks(model: Model, node: Node) -> bool:
    """Return False for layers, whose results can also act as masks (learned biases, gates)."""
    # An Einsum of one input only transposes or sums it.
    is_layer = node.op_type in PRODUCTS and len(node.inputs) > 1
    if is_layer or node.op_type in CONVS or node.subgraphs:
        return False
    first = node.inputs[0] if node.inputs else -1
    return not (
        node.op_type == "Gather" and first >= 0 and model.tensors[first].kind == TensorKind.INITIALIZER
    )


def _cone(
    nodes: set[int],
    ends: set[int],
    readers: Callable[[int], Iterable[int]],
    position: Sequence[int],
) -> set[int]:
    """Return the end nodes, plus all nodes whose results are read only within the set."""
    cone = set(ends)
    for node in sorted(nodes - ends, reverse=True, key=position.__getitem__):
        into = set(readers(node))
        if into and into <= cone:
            cone.add(node)
    return cone
