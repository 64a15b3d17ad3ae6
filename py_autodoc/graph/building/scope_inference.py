"""Module scopes for nodes without one, inferred from their neighbours.

Optimizers and quantizers create nodes without the exporter's metadata, such as a Split from a folded
sequence or a QuantizeLinear on an edge. Nodes from a quantizer are placed with the layer they belong to
(``quantizer_scopes``). Any other node gets the innermost scope that contains its neighbours:
``a/b/x → ? → a/b/y`` gives ``a/b``. Nodes known to be in the root stay there, as does a graph in which less
than a fifth of the nodes have scopes. No node is moved into a function body, since the file states exactly
which nodes belong to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from py_autodoc.graph.building.draft_graph import DraftTensor
from py_autodoc.graph.building.quantizer_scopes import common, quantizer_scopes
from py_autodoc.graph.ir.model import Node

Names = tuple[str, ...]
_SHARE = 5


def infer_scopes(
    nodes: list[Node], tensors: Sequence[DraftTensor], order: Sequence[int], unscoped: Iterable[int]
) -> None:
    """Replace the nodes in ``unscoped`` by copies with a scope; ``order`` lists the nodes of the graph."""
    unknown = set(unscoped)
    if (len(order) - len(unknown)) * _SHARE < len(order):
        return
    from_quantizers = quantizer_scopes(nodes, tensors, order, unknown)
    _put(
        nodes,
        [node for node in order if node not in unknown and node not in from_quantizers],
        from_quantizers,
    )
    unknown -= from_quantizers.keys()
    if not unknown:
        return
    scopes: dict[int, Names] = {node: nodes[node].scope for node in order if node not in unknown}
    inferred: dict[int, Names] = {}
    for node in order:
        if node in unknown:
            before = [scopes[p] for p in _producers(nodes[node], tensors) if p in scopes]
            if before:
                after = [nodes[c].scope for c in _consumers(nodes[node], tensors) if c not in unknown]
                scopes[node] = inferred[node] = common(before + after)
    for node in reversed(order):
        if node in unknown and node not in inferred:
            after = [scopes[c] for c in _consumers(nodes[node], tensors) if c in scopes]
            if after:
                scopes[node] = inferred[node] = common(after)
    _put(nodes, [node for node in order if node not in unknown], inferred)


def _put(nodes: list[Node], like: Sequence[int], inferred: Mapping[int, Names]) -> None:
    """Set scopes; classes and origins of their levels are copied from the nodes ``like``."""
    if not inferred:
        return
    node_by_scope = {nodes[node].scope: nodes[node] for node in like}
    deeper = {
        name[: len(name) - cut]: node for name, node in node_by_scope.items() for cut in range(len(name))
    }
    for number, names in inferred.items():
        above = names
        while above and above not in node_by_scope and above not in deeper:
            above = above[:-1]
        model = node_by_scope.get(above) or deeper.get(above)
        if model is None and above:
            continue
        origins = model.origins[: len(above)] if model else ()
        depth = origins.index("function") if "function" in origins else len(above)
        new = names[depth:] if depth == len(above) else ()
        tag = model.tag if model and not new and len(model.scope) == depth else ""
        classes = model.classes[:depth] if model else ()
        if new and classes:
            classes = (*classes, *[""] * (depth + len(new) - len(classes)))
        if depth or new:
            nodes[number] = replace(
                nodes[number],
                scope=(*names[:depth], *new),
                classes=classes,
                tag=tag,
                origins=(*origins[:depth], *["name"] * len(new)),
            )
        elif nodes[number].scope:
            nodes[number] = replace(nodes[number], scope=(), classes=(), tag="", origins=())


def _producers(node: Node, tensors: Sequence[DraftTensor]) -> list[int]:
    return [tensors[tensor].producer for tensor in node.inputs if tensor >= 0]


def _consumers(node: Node, tensors: Sequence[DraftTensor]) -> list[int]:
    return [reader for tensor in node.outputs if tensor >= 0 for reader in tensors[tensor].consumers]
