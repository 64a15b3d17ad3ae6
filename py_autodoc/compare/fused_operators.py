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
_Decompose = Callable[[Node, _Shapes], Decomposition | None]


def _result_of(step: int) -> int:
    return -1 - step


def _has_input(node: Node, position: int) -> bool:
    return position < len(node.inputs) and node.inputs[position] >= 0


def _skip_normalization(kind: str) -> _Decompose:
    """The residual sum, then the normalization; the sum may also be an output."""

    def decompose_node(node: Node, shapes: _Shapes) -> Decomposition:
        return Decomposition((Step("Add", (0, 1)), Step(kind, (_result_of(0),))), (1, 1, 1, 0))

    return decompose_node


def _embeddings(node: Node, shapes: _Shapes) -> Decomposition:
    """Sum of token, segment and position embeddings, then normalization; positions are not read."""
    steps = [Step("Gather", (0,), _matrix(shapes, node, 2))]
    if _has_input(node, 1) and _has_input(node, 4):
        steps += [Step("Gather", (1,), _matrix(shapes, node, 4)), Step("Add", (_result_of(0), _result_of(1)))]
    steps.append(Step("Add", (_result_of(len(steps) - 1),)))
    steps.append(Step("LayerNormalization", (_result_of(len(steps) - 1),)))
    last = len(steps) - 1
    return Decomposition(tuple(steps), (last, last, last - 1))


def _attention(data: int, weight: int, mask: tuple[int, ...]) -> _Decompose:
    """Attention including the projections of queries, keys and values."""

    def decompose_node(node: Node, shapes: _Shapes) -> Decomposition | None:
        width = shapes[node.inputs[weight]] if _has_input(node, weight) else None
        if width is None or len(width) != 2 or not isinstance(width[1], int) or not isinstance(width[0], int):
            return None
        split = node.attributes.get("qkv_hidden_sizes")
        if not (isinstance(split, (list, tuple)) and len(split) == 3):
            split = [width[1] // 3] * 3
        projections = [Step("MatMul", (data,), tuple(sorted((width[0], int(size))))) for size in split]
        masks = tuple(position for position in mask if _has_input(node, position))
        return _core(projections, (_result_of(0), _result_of(1), _result_of(2)), masks)

    return decompose_node


def _projected(mask: tuple[int, ...]) -> _Decompose:
    """Attention only: queries, keys and values are inputs."""

    def decompose_node(node: Node, shapes: _Shapes) -> Decomposition | None:
        if not (_has_input(node, 0) and _has_input(node, 1) and _has_input(node, 2)):
            return None
        return _core([], (0, 1, 2), tuple(position for position in mask if _has_input(node, position)))

    return decompose_node


def _core(projections: list[Step], operands: tuple[int, int, int], masks: tuple[int, ...]) -> Decomposition:
    steps = list(projections)
    q, k, v = operands
    steps.append(Step("MatMul", (q, k)))
    for mask in masks:
        steps.append(Step("Add", (_result_of(len(steps) - 1), mask)))
    steps.append(Step("Softmax", (_result_of(len(steps) - 1),)))
    steps.append(Step("MatMul", (_result_of(len(steps) - 1), v)))
    return Decomposition(tuple(steps), (len(steps) - 1,))


def _summed_conv(node: Node, shapes: _Shapes) -> Decomposition | None:
    """A convolution that adds a residual."""
    if not _has_input(node, 3):
        return None
    kernel = shapes[node.inputs[1]] if _has_input(node, 1) else None
    sizes = tuple(sorted(n for n in kernel or () if isinstance(n, int) and n > 1))
    return Decomposition((Step("Conv", (0,), sizes), Step("Add", (_result_of(0), 3))), (1,))


def _matrix(shapes: _Shapes, node: Node, position: int) -> tuple[int, ...]:
    shape = shapes[node.inputs[position]] if _has_input(node, position) else None
    return tuple(sorted(n for n in shape or () if isinstance(n, int) and n > 1))


DECOMPOSITIONS: dict[str, _Decompose] = {
    "SkipLayerNormalization": _skip_normalization("LayerNormalization"),
    "SkipSimplifiedLayerNormalization": _skip_normalization("RMSNormalization"),
    "SkipGroupNorm": _skip_normalization("GroupNormalization"),
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


def decompose(node: Node, shapes: _Shapes) -> Decomposition | None:
    """Return the core operators that a node represents, if several; inputs are those in the file."""
    if node.op_type == "Attention" and not node.domain:  # the ai.onnx operator has no projections
        return _projected((3,))(node, shapes)
    if node.op_type == "Conv" and node.domain == "com.microsoft.nchwc":
        return _summed_conv(node, shapes)
    if node.domain not in ("com.microsoft", "com.ms.internal.nhwc"):
        return None
    decompose_operator = DECOMPOSITIONS.get(node.op_type)
    return None if decompose_operator is None else decompose_operator(node, shapes)
