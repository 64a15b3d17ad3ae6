"""Fused attention operators and rotary embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import changes_size, new_size, old_size
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule

MS = "com.microsoft"


@rule("Attention")
def attention(walk: SizePass, node: Node) -> None:
    """Inputs: queries, keys, values; a stored mask is cut along both axes."""
    cuts: dict[int, dict[int, int]] = {}
    if walk.has(node, 3):
        queries, keys = _lengths(walk, node, 0), _lengths(walk, node, 1)
        shape = walk.new_shape(node.inputs[3])
        past = walk.has(node, 4)
        for axis, target in ((len(shape) - 2, queries), (len(shape) - 1, keys)):
            if shape[axis] not in (1, new_size(target)) and not past:
                cuts.setdefault(3, {})[axis] = walk.fit(node, 3, axis, target)
            elif past and walk.is_stored(node.inputs[3]):
                raise SizeBlocked("its mask is stored, and it has a cache", walk.name(node.inputs[3]))
    walk.infer(node, cuts=cuts)
    walk.put(node, 0, _like(walk, node, 0))
    walk.require_rest_steady(node)


def _lengths(walk: SizePass, node: Node, i: int):  # type: ignore[no-untyped-def]
    axes = walk.axes_of(node.inputs[i])
    return axes[-2]


def _like(walk: SizePass, node: Node, i: int):  # type: ignore[no-untyped-def]
    """Return the axes of the queries, if the widths agree."""
    axes = list(walk.axes_of(node.inputs[i]))
    out = walk.old_shape(node.outputs[0])
    if len(axes) != len(out) or changes_size(axes[-1]):
        return None
    from py_autodoc.graph.resize.axes import fixed_axis

    axes[-1] = fixed_axis(out[-1])
    return axes if tuple(map(old_size, axes)) == out else None


def _fused(walk: SizePass, node: Node, numbers: Sequence[int]) -> None:
    """``numbers`` are inputs with lengths: stored ones belong to the old sizes."""
    for i in numbers:
        if (
            walk.has(node, i)
            and walk.is_stored(node.inputs[i])
            and node.inputs[i] not in walk.changing_values
        ):
            raise SizeBlocked("its lengths or masks are stored", walk.name(node.inputs[i]))
    walk.infer(node)
    walk.put(node, 0, _like(walk, node, 0))
    walk.require_rest_steady(node)


@rule("Attention", domain=MS)
def packed(walk: SizePass, node: Node) -> None:
    """Inputs: data, weights, bias, mask, cache, attention bias, cache length."""
    _fused(walk, node, (3, 5, 6))


@rule("QAttention", domain=MS)
def quantized(walk: SizePass, node: Node) -> None:
    """Inputs: data, weights, bias, scales, mask."""
    _fused(walk, node, (5,))


@rule("MultiHeadAttention", domain=MS)
def multi_head(walk: SizePass, node: Node) -> None:
    """Inputs: Q, K, V, bias, padding mask, attention bias, cache."""
    _fused(walk, node, (4, 5, 8))


@rule("GroupQueryAttention", domain=MS)
def grouped(walk: SizePass, node: Node) -> None:
    """Inputs: Q, K, V, cache, lengths, total length, rotary tables, positions, bias."""
    _fused(walk, node, (5, 6, 9, 10))


@rule("RotaryEmbedding")
def rotary(walk: SizePass, node: Node) -> None:
    """Inputs: data and tables, which have one row per position if there is no positions input."""
    axes = walk.axes_of(node.inputs[0])
    length = axes[-2]
    cuts: dict[int, dict[int, int]] = {}
    for i in (3,) if walk.has(node, 3) else (1, 2):
        if walk.new_shape(node.inputs[i])[1] != new_size(length):
            cuts[i] = {1: walk.fit(node, i, 1, length)}
    walk.infer(node, cuts=cuts)
    walk.put(node, 0, axes)


@rule("RotaryEmbedding", domain=MS)
def rotary_contrib(walk: SizePass, node: Node) -> None:
    """Inputs: data, positions (one offset for all or one row per item), tables."""
    axes = walk.axes_of(node.inputs[0])
    cuts: dict[int, dict[int, int]] = {}
    if len(walk.old_shape(node.inputs[1])) == 2 and walk.new_shape(node.inputs[1])[1] != new_size(axes[-2]):
        cuts[1] = {1: walk.fit(node, 1, 1, axes[-2])}
    rows = walk.new_shape(node.inputs[2])[0]
    if rows < new_size(axes[-2]):
        raise SizeBlocked(
            f"the stored table {walk.name(node.inputs[2])} has only {rows} entries", walk.name(node.inputs[2])
        )
    walk.infer(node, cuts=cuts)
    walk.put(node, 0, axes)


@rule("EmbedLayerNormalization", domain=MS)
def embed(walk: SizePass, node: Node) -> None:
    """Inputs: ids, segments and tables, one of them for positions."""
    length = walk.axes_of(node.inputs[0])[1]
    rows = walk.new_shape(node.inputs[3])[0]
    if rows < new_size(length):
        raise SizeBlocked(
            f"the stored table {walk.name(node.inputs[3])} has only {rows} entries", walk.name(node.inputs[3])
        )
    walk.infer(node)
    walk.require_rest_steady(node, 0)
    first = list(walk.axes_of(node.inputs[0]))
    if walk.is_changed(node.outputs[0]):
        walk.put(node, 0, [*first, *walk.axes_of(node.outputs[0])[2:]])
