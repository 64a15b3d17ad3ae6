"""Nodes that make the masks of attention layers, where they stand loose among modules.

Exporters leave a mask's comparisons, casts and expansions beside the encoder that reads it: a third of the
boxes of a first picture, before anything that the model is known for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from py_autodoc.blocks.dataflow.matrix_products import CONVS, PRODUCTS
from py_autodoc.blocks.results import AttentionLayer
from py_autodoc.graph.ir.model import Model, Node, TensorKind, TypeTable
from py_autodoc.report.module_tree.scope_tree import ScopeTree

TITLE = "Mask"
MIN_NODES = 4
"""Fewer are shown as they are."""
_MAX_NODES = 256
"""Nodes looked at for one layer."""
_BOOL = 9
"""TensorProto's type of truth values."""


def mask_boxes(
    model: Model,
    types: TypeTable,
    tree: ScopeTree,
    layers: Sequence[AttentionLayer],
    readers: Callable[[int], Iterable[int]],
    position: Sequence[int],
) -> list[tuple[int, ...]]:
    """Sets of loose nodes of one level each that are there for masks alone; ascending ids.

    A mask counts when several layers share it, or the model has but one layer: what a layer makes for
    itself belongs to the layer. ``readers``: of a node's results; ``position``: places in their graphs.
    No path leaves such a set and enters it again, but from one of its results to another.
    """
    reached: set[int] = set()
    masked: set[int] = set()
    ends: Counter[int] = Counter()
    for layer in layers:
        found, last = _back(model, tree, layer)
        reached |= found
        masked.update(layer.nodes)
        ends.update(last)
    known = reached | masked
    shared = {
        node
        for node, count in ends.items()
        if count >= min(2, len(layers))
        # Numbers that others read as well are not a mask, but what its size or type was taken from.
        and (_is_truth(model, types, node) or known.issuperset(readers(node)))
    }
    places: dict[tuple[int, int], set[int]] = {}
    for node in reached:
        places.setdefault((model.nodes[node].graph, tree.node[node]), set()).add(node)
    boxes = []
    for nodes in places.values():
        cone = _cone(nodes, shared & nodes, readers, position)
        drawn = sum(model.nodes[node].op_type != "Constant" for node in cone)
        if drawn >= MIN_NODES:
            boxes.append(tuple(sorted(cone)))
    return sorted(boxes)


def _back(model: Model, tree: ScopeTree, layer: AttentionLayer) -> tuple[set[int], set[int]]:
    """Nodes that the masks of a layer are made of, and those whose result leaves their level for it."""
    own = frozenset(layer.nodes)
    stack = [(tensor, -2) for tensor in layer.masks]
    found: set[int] = set()
    ends: set[int] = set()
    while stack and len(found) < _MAX_NODES:
        tensor, level = stack.pop()
        number = model.tensors[tensor].producer
        if number < 0 or number in own or not _makes_masks(model, model.nodes[number]):
            continue
        if tree.node[number] != level:
            ends.add(number)
        if number not in found:
            found.add(number)
            stack += [(t, tree.node[number]) for t in model.nodes[number].inputs if t >= 0]
    return found, ends


def _is_truth(model: Model, types: TypeTable, node: int) -> bool:
    """True when the node gives true and false."""
    return all(types.dtypes[tensor] == _BOOL for tensor in model.nodes[node].outputs if tensor >= 0)


def _makes_masks(model: Model, node: Node) -> bool:
    """False for layers, whose results may be masks too: learned biases, gates."""
    if node.op_type in PRODUCTS or node.op_type in CONVS or node.subgraphs:
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
    """Of these nodes the ends, and all whose results only others of the set read."""
    cone = set(ends)
    for node in sorted(nodes - ends, reverse=True, key=position.__getitem__):
        into = set(readers(node))
        if into and into <= cone:
            cone.add(node)
    return cone
