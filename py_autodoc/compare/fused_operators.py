"""Decomposition of fused operators into the core operators that one node represents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from py_autodoc.graph.ir.model import Node, Shape


class Step(NamedTuple):
    """One core operator. ``reads`` are node inputs (``≥ 0``) or earlier steps (``-1 - index``)."""

    core: str
    reads: tuple[int, ...]
    weight: tuple[int, ...] = ()
    """Sorted dimensions of its stored matrix."""


class Decomposition(NamedTuple):
    """The steps, and the step (an index) that produces each output of the node."""

    steps: tuple[Step, ...]
    outputs: tuple[int, ...]


_Shapes = Sequence[Shape | None]
_Open = Callable[[Node, _Shapes], Decomposition | None]


def _at(step: int) -> int:
    return -1 - step


def _given(node: Node, place: int) -> bool:
    return place < len(node.inputs) and node.inputs[place] >= 0


def _skip(kind: str) -> _Open:
    """The residual sum, then the normalization; the sum may also be an output."""

    def made(node: Node, shapes: _Shapes) -> Decomposition:
        return Decomposition((Step("Add", (0, 1)), Step(kind, (_at(0),))), (1, 1, 1, 0))

    return made


def _embeddings(node: Node, shapes: _Shapes) -> Decomposition:
    """Sum of token, segment and position embeddings, then normalization; positions are not read."""
    steps = [Step("Gather", (0,), _matrix(shapes, node, 2))]
    if _given(node, 1) and _given(node, 4):
        steps += [Step("Gather", (1,), _matrix(shapes, node, 4)), Step("Add", (_at(0), _at(1)))]
    steps.append(Step("Add", (_at(len(steps) - 1),)))
    steps.append(Step("LayerNormalization", (_at(len(steps) - 1),)))
    last = len(steps) - 1
    return Decomposition(tuple(steps), (last, last, last - 1))


def _attention(data: int, weight: int, mask: tuple[int, ...]) -> _Open:
    """Attention including the projections of queries, keys and values."""

    def made(node: Node, shapes: _Shapes) -> Decomposition | None:
        width = shapes[node.inputs[weight]] if _given(node, weight) else None
        if width is None or len(width) != 2 or not isinstance(width[1], int) or not isinstance(width[0], int):
            return None
        split = node.attributes.get("qkv_hidden_sizes")
        if not (isinstance(split, (list, tuple)) and len(split) == 3):
            split = [width[1] // 3] * 3
        parts = [Step("MatMul", (data,), tuple(sorted((width[0], int(one))))) for one in split]
        masks = tuple(place for place in mask if _given(node, place))
        return _core(parts, (_at(0), _at(1), _at(2)), masks)

    return made


def _projected(mask: tuple[int, ...]) -> _Open:
    """Attention only: queries, keys and values are inputs."""

    def made(node: Node, shapes: _Shapes) -> Decomposition | None:
        if not (_given(node, 0) and _given(node, 1) and _given(node, 2)):
            return None
        return _core([], (0, 1, 2), tuple(place for place in mask if _given(node, place)))

    return made


def _core(before: list[Step], operands: tuple[int, int, int], masks: tuple[int, ...]) -> Decomposition:
    steps = list(before)
    q, k, v = operands
    steps.append(Step("MatMul", (q, k)))
    for mask in masks:
        steps.append(Step("Add", (_at(len(steps) - 1), mask)))
    steps.append(Step("Softmax", (_at(len(steps) - 1),)))
    steps.append(Step("MatMul", (_at(len(steps) - 1), v)))
    return Decomposition(tuple(steps), (len(steps) - 1,))


def _summed_conv(node: Node, shapes: _Shapes) -> Decomposition | None:
    """A convolution that adds a residual."""
    if not _given(node, 3):
        return None
    kernel = shapes[node.inputs[1]] if _given(node, 1) else None
    sizes = tuple(sorted(n for n in kernel or () if isinstance(n, int) and n > 1))
    return Decomposition((Step("Conv", (0,), sizes), Step("Add", (_at(0), 3))), (1,))


def _matrix(shapes: _Shapes, node: Node, place: int) -> tuple[int, ...]:
    shape = shapes[node.inputs[place]] if _given(node, place) else None
    return tuple(sorted(n for n in shape or () if isinstance(n, int) and n > 1))


OPENINGS: dict[str, _Open] = {
    "SkipLayerNormalization": _skip("LayerNormalization"),
    "SkipSimplifiedLayerNormalization": _skip("RMSNormalization"),
    "SkipGroupNorm": _skip("GroupNormalization"),
    "EmbedLayerNormalization": _embeddings,
    "QEmbedLayerNormalization": _embeddings,
    "Attention": _attention(0, 1, (3, 5)),
    "QAttention": _attention(0, 1, (5,)),
    "PackedAttention": _attention(0, 1, (5,)),
    "DecoderMaskedSelfAttention": _attention(0, 1, (3, 5)),
    "MultiHeadAttention": _projected((4, 5)),
    "DecoderMaskedMultiHeadAttention": _projected((3, 4)),
    "PackedMultiHeadAttention": _projected((5,)),
    "GroupQueryAttention": _projected(()),
    "FusedConv": _summed_conv,
    "NhwcFusedConv": _summed_conv,
}
"""Operator of com.microsoft → its steps; None if the node represents a single operator."""


def opening(node: Node, shapes: _Shapes) -> Decomposition | None:
    """Return the core operators that a node represents, if several; inputs are those in the file."""
    if node.op_type == "Attention" and not node.domain:  # the ai.onnx operator has no projections
        return _projected((3,))(node, shapes)
    if node.op_type == "Conv" and node.domain == "com.microsoft.nchwc":
        return _summed_conv(node, shapes)
    if node.domain not in ("com.microsoft", "com.ms.internal.nhwc"):
        return None
    make = OPENINGS.get(node.op_type)
    return None if make is None else make(node, shapes)
