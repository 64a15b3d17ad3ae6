"""The short side of a residual join: what may stand between the source and the join."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from py_autodoc.blocks.activations import GATES, SIMPLE
from py_autodoc.blocks.conv import is_depthwise
from py_autodoc.blocks.flow import Flow
from py_autodoc.blocks.ops import CONV, MOVES, NORMS, arg, ints, is_linear
from py_autodoc.blocks.products import scalar as single
from py_autodoc.blocks.products import scale

UPWARD = frozenset({
    "Resize", "Upsample", "ConvTranspose", "QLinearConvTranspose", "DepthToSpace", "MaxUnpool", "Col2Im",
})  # fmt: skip
"""Operators that make a map larger."""
_POOLS = frozenset({"MaxPool", "AveragePool", "LpPool", "QLinearAveragePool", "NhwcMaxPool"})
_HANDED_ON = (
    MOVES
    | _POOLS
    | UPWARD
    | frozenset({"Pad", "Clip", "Concat", "DynamicQuantizeLinear"})
    | frozenset(SIMPLE)
)
_ARITHMETIC = frozenset({"Add", "Sub", "Mul", "Div"})
_MAX_STEPS = 12
_SKIP = frozenset({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SkipGroupNorm"})


class Candidate(NamedTuple):
    """A tensor that may be the source, and what lies between it and the join."""

    tensor: int
    steps: tuple[int, ...]
    weights: int
    """Convolutions and matrix products among the steps."""


def candidates(flow: Flow, tensor: int) -> Iterator[Candidate]:
    """Tensors behind an operand, nearest first, over nothing but what a shortcut may hold.

    That is: reshapes, casts, quantization, padding (by a Concat with zeros, too), crops, every second place,
    pools, resizing, normalization, activations, arithmetic with constants and numbers, and one convolution
    or matrix product (the projection), which may be a separable one.
    """
    steps: list[int] = []
    weights = depthwise = 0
    for _ in range(_MAX_STEPS):
        yield Candidate(tensor, tuple(steps), weights)
        number = flow.makers[tensor]
        if number < 0 or flow.constants[tensor]:
            return
        before, nodes, cost = _step(flow, number)
        weights += cost
        depthwise += cost and flow.bare[number] in CONV and is_depthwise(flow, number) is True
        if before < 0 or weights - min(depthwise, 1) > 1:
            return
        steps += nodes
        tensor = before


def _step(flow: Flow, number: int) -> tuple[int, list[int], int]:
    """(tensor before the node, nodes passed, weights among them); -1 where a shortcut ends."""
    name, data = flow.bare[number], flow.reads[number]
    if len(data) > 1:
        data = _values(flow, name, data)
    if len(data) == 2 and name == "Mul":
        return _swish(flow, number, data)
    if len(data) != 1:
        return -1, [], 0
    if name in CONV or is_linear(flow, number):
        return data[0], [number], 1
    if name in _ARITHMETIC:
        return data[0], [number], 0
    if arg(flow, number, 0) != data[0]:
        return -1, [], 0
    if name in _HANDED_ON or (name in NORMS and name not in _SKIP):
        return data[0], [number], 0
    if name == "Slice" and (_crops(flow, number) or _strides(flow, number)):
        return data[0], [number], 0
    return -1, [], 0


def _values(flow: Flow, name: str, data: tuple[int, ...]) -> tuple[int, ...]:
    """What a node reads without the numbers that only scale it, and without zeros that pad it."""
    if name == "Concat":
        return tuple([t for t in data if flow.bare[flow.makers[t]] != "ConstantOfShape"])
    if name in _ARITHMETIC:
        return tuple([t for t in data if not single(flow, t)]) or data
    return tuple([t for t in data if not scale(flow, t)])


def _swish(flow: Flow, number: int, data: tuple[int, int]) -> tuple[int, list[int], int]:
    """x·sigmoid(x), the one activation of two operators that shortcuts have."""
    for inner, whole in (data, data[::-1]):
        gate = flow.makers[inner]
        if flow.bare[gate] in GATES and arg(flow, gate, 0) == whole:
            return whole, [number, gate], 0
    return -1, [], 0


def _crops(flow: Flow, number: int) -> bool:
    """A slice that keeps more than half of every axis; a smaller one picks a part."""
    before, after = flow.shapes[arg(flow, number, 0)], flow.shapes[flow.firsts[number]]
    if before is None or after is None or len(before) != len(after):
        return False
    return all(
        a == b or (isinstance(a, int) and isinstance(b, int) and 2 * a > b)
        for a, b in zip(after, before, strict=True)
    )


def _strides(flow: Flow, number: int) -> bool:
    """A slice that takes every second place, or fewer, as a pool without computing does."""
    steps = ints(flow, arg(flow, number, 4)) if len(flow.nodes[number].inputs) > 4 else None
    return steps is not None and max(steps, default=1) > 1 and min(steps) > 0


def same_value(flow: Flow, tensor: int) -> tuple[int, ...]:
    """Tensors that stand for the same stream: a fused skip-and-normalize gives its sum and its norm."""
    number = flow.makers[tensor]
    if flow.bare[number] in _SKIP:
        return tuple(t for t in flow.nodes[number].outputs if t >= 0)
    return (tensor,)
