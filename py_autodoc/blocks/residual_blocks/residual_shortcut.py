"""The short path of a residual: operators allowed between source and join."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import is_scalar as single
from py_autodoc.blocks.dataflow.matrix_products import scale
from py_autodoc.blocks.dataflow.operator_queries import (
    CONV,
    COPY_OR_LAYOUT_OPS,
    NORMS,
    input_at,
    ints,
    is_linear,
)
from py_autodoc.blocks.layer_blocks.activations import GATES, SIMPLE
from py_autodoc.blocks.layer_blocks.conv import is_depthwise

UPWARD = frozenset(
    {
        "Resize",
        "Upsample",
        "ConvTranspose",
        "QLinearConvTranspose",
        "DepthToSpace",
        "MaxUnpool",
        "Col2Im",
    }
)
"""Operators that enlarge a map."""
_POOLS = frozenset({"MaxPool", "AveragePool", "LpPool", "QLinearAveragePool", "NhwcMaxPool"})
_PASS_THROUGH_OPS = (
    COPY_OR_LAYOUT_OPS
    | _POOLS
    | UPWARD
    | frozenset({"Pad", "Clip", "Concat", "DynamicQuantizeLinear"})
    | frozenset(SIMPLE)
)
_ARITHMETIC = frozenset({"Add", "Sub", "Mul", "Div"})
_MAX_STEPS = 12
_SKIP = frozenset({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SkipGroupNorm"})


class ShortcutSource(NamedTuple):
    """A possible source, and the nodes between it and the join."""

    tensor: int
    steps: tuple[int, ...]
    weights: int
    """Number of convolutions and matrix products among the steps."""


def candidates(flow: DataflowGraph, tensor: int) -> Iterator[ShortcutSource]:
    """Yield tensors upstream of an operand, nearest first, across operators that a shortcut may contain.

    These are reshapes, casts, quantization, padding (including a Concat with zeros), crops, strided slices,
    pools, resizing, normalization, activations, arithmetic with constants and scalars, and one convolution
    or matrix product (the projection), which may be separable.
    """
    steps: list[int] = []
    weights = depthwise = 0
    for _ in range(_MAX_STEPS):
        yield ShortcutSource(tensor, tuple(steps), weights)
        number = flow.producers[tensor]
        if number < 0 or flow.constants[tensor]:
            return
        before, nodes, cost = _step(flow, number)
        weights += cost
        depthwise += cost and flow.op_types[number] in CONV and is_depthwise(flow, number) is True
        if before < 0 or weights - min(depthwise, 1) > 1:
            return
        steps += nodes
        tensor = before


def _step(flow: DataflowGraph, number: int) -> tuple[int, list[int], int]:
    """Return (tensor before the node, nodes passed, weights among them); -1 if the shortcut ends here."""
    name, data = flow.op_types[number], flow.data_inputs[number]
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
    if input_at(flow, number, 0) != data[0]:
        return -1, [], 0
    if name in _PASS_THROUGH_OPS or (name in NORMS and name not in _SKIP):
        return data[0], [number], 0
    if name == "Slice" and (_crops(flow, number) or _strides(flow, number)):
        return data[0], [number], 0
    return -1, [], 0


def _values(flow: DataflowGraph, name: str, data: tuple[int, ...]) -> tuple[int, ...]:
    """Return the data inputs of a node, without scalars that scale it and zeros that pad it."""
    if name == "Concat":
        return tuple([t for t in data if flow.op_types[flow.producers[t]] != "ConstantOfShape"])
    if name in _ARITHMETIC:
        return tuple([t for t in data if not single(flow, t)]) or data
    return tuple([t for t in data if not scale(flow, t)])


def _swish(flow: DataflowGraph, number: int, data: tuple[int, int]) -> tuple[int, list[int], int]:
    """Match x·sigmoid(x), the only activation of two operators in shortcuts."""
    for inner, product_output in (data, data[::-1]):
        gate = flow.producers[inner]
        if flow.op_types[gate] in GATES and input_at(flow, gate, 0) == product_output:
            return product_output, [number, gate], 0
    return -1, [], 0


def _crops(flow: DataflowGraph, number: int) -> bool:
    """True for a slice that keeps more than half of every axis; a smaller one selects a part."""
    before, after = flow.shapes[input_at(flow, number, 0)], flow.shapes[flow.first_outputs[number]]
    if before is None or after is None or len(before) != len(after):
        return False
    return all(
        a == b or (isinstance(a, int) and isinstance(b, int) and 2 * a > b)
        for a, b in zip(after, before, strict=True)
    )


def _strides(flow: DataflowGraph, number: int) -> bool:
    """True for a slice with a step of at least two, a pool without arithmetic."""
    steps = ints(flow, input_at(flow, number, 4)) if len(flow.nodes[number].inputs) > 4 else None
    return steps is not None and max(steps, default=1) > 1 and min(steps) > 0


def same_value(flow: DataflowGraph, tensor: int) -> tuple[int, ...]:
    """Return tensors of the same stream: a fused skip-and-normalize returns its sum and its norm."""
    number = flow.producers[tensor]
    if flow.op_types[number] in _SKIP:
        return tuple(t for t in flow.nodes[number].outputs if t >= 0)
    return (tensor,)
