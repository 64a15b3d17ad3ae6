"""Scopes for nodes that carry none, from the nodes around them.

Optimizers and quantizers make nodes without the exporter's metadata (a Split out of a folded
sequence, a QuantizeLinear on a wire). Such a node belongs to the innermost scope that holds its
neighbours: ``a/b/x → ? → a/b/y`` gives ``a/b``. Nodes that are known to be in the root are left
there, and so is a graph of which less than a fifth has scopes: there is nothing to go by. None is put
into the body of a function: the file says exactly which nodes are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from py_autodoc.graph.draft import DraftTensor
from py_autodoc.graph.model import Node

Names = tuple[str, ...]
_SHARE = 5


def fill_scopes(
    nodes: list[Node], tensors: Sequence[DraftTensor], order: Sequence[int], unscoped: Iterable[int]
) -> None:
    """Replace those of ``nodes`` that are in ``unscoped``; ``order`` lists the graph's nodes."""
    unknown = set(unscoped)
    if not unknown or (len(order) - len(unknown)) * _SHARE < len(order):
        return
    scopes: dict[int, Names] = {node: nodes[node].scope for node in order if node not in unknown}
    found: dict[int, Names] = {}
    for node in order:
        if node in unknown:
            before = [scopes[p] for p in _producers(nodes[node], tensors) if p in scopes]
            if before:
                after = [nodes[c].scope for c in _consumers(nodes[node], tensors) if c not in unknown]
                scopes[node] = found[node] = common(before + after)
    for node in reversed(order):
        if node in unknown and node not in found:
            after = [scopes[c] for c in _consumers(nodes[node], tensors) if c in scopes]
            if after:
                scopes[node] = found[node] = common(after)
    known = {nodes[node].scope: nodes[node] for node in order if node not in unknown}
    deeper = {name[: len(name) - cut]: like for name, like in known.items() for cut in range(len(name))}
    for node, names in found.items():
        like = known.get(names) or deeper.get(names)
        if like is None:
            continue
        origins = like.origins[: len(names)]
        depth = origins.index("function") if "function" in origins else len(names)
        if depth:
            tag = like.tag if len(like.scope) == depth else ""
            nodes[node] = replace(
                nodes[node],
                scope=names[:depth],
                classes=like.classes[:depth],
                tag=tag,
                origins=origins[:depth],
            )


def common(scopes: Sequence[Names]) -> Names:
    """The innermost scope that holds all of them."""
    first, last = min(scopes), max(scopes)
    length = 0
    for a, b in zip(first, last, strict=False):
        if a != b:
            break
        length += 1
    return first[:length]


def _producers(node: Node, tensors: Sequence[DraftTensor]) -> list[int]:
    return [tensors[tensor].producer for tensor in node.inputs if tensor >= 0]


def _consumers(node: Node, tensors: Sequence[DraftTensor]) -> list[int]:
    return [reader for tensor in node.outputs if tensor >= 0 for reader in tensors[tensor].consumers]
