"""Nodes where two paths meet, which may close a residual."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    COPY_OPS,
    has_weights,
    input_at,
    is_float,
    is_linear,
    readers,
    scalar,
)
from py_autodoc.graph.ir.model import Shape

_SUMS = frozenset({"Add", "Sum", "QLinearAdd"})
_SKIPS = frozenset({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
_SKIP_GROUP = "SkipGroupNorm"
_FUSED = frozenset({"FusedConv", "NhwcFusedConv"})
_CONCATS = frozenset({"Concat", "QLinearConcat"})
JOINS = _SUMS | _SKIPS | _FUSED | _CONCATS | {"Sub", "Gemm", _SKIP_GROUP}
"""Operators that may join two paths."""
_MAX_OPERANDS = 8
_MAX_SOFTMAX_STEPS = 6
_SCALED = COPY_OPS | {"Mul", "Div", "Reshape"}
_TO_SOFTMAX = COPY_OPS | {"Add", "Mul", "Div", "Where", "Reshape", "Clip", "Max"}


class ResidualJoin(NamedTuple):
    """Two operands of a node."""

    node: int
    form: str
    """``sum``, ``subtractive`` or ``concat``."""
    operands: tuple[int, ...]
    nodes: tuple[int, ...] = ()
    """Gates that are part of the join."""
    inner: tuple[int, ...] = ()
    """Nodes that look like joins but are part of this one."""
    gate: str = ""
    operand_weights: int = 0
    """Number of weights that the join applies to its first operand."""
    shapes: bool = True
    """Whether both shapes are known to be equal."""
    sequence: bool = False
    """A Concat along the middle of three axes: channels of a 1-D convolution, or time."""


def learned_constants(flow: DataflowGraph) -> set[int]:
    """Return tensors computed only from constants, by operators with weights.

    A decoder with constant first queries starts this way; for the architecture, they are data.
    """
    live: set[int] = set()
    nodes, firsts, constants = flow.nodes, flow.first_outputs, flow.constants
    for number in [n for n in flow.order if constants[firsts[n]]]:
        node = nodes[number]
        if not live.isdisjoint(node.inputs) or has_weights(flow, number):
            live.update(t for t in node.outputs if t >= 0)
    return live


def joins(flow: DataflowGraph, number: int, live: set[int]) -> Iterator[ResidualJoin]:
    """Yield every reading of a node as a join, most specific first; none for operators outside ``JOINS``."""
    name, node = flow.op_types[number], flow.nodes[number]
    output = flow.first_outputs[number]
    if output < 0 or not is_float(flow, output):
        return
    if name in _CONCATS:
        yield from _concats(flow, number)
        return
    if name in _SUMS or name == "Sub":
        operands = _operands(flow, number, live)
        if len(operands) < 2 or _is_attention_mask(flow, number, operands):
            return
        yield from _gated(flow, number, operands)
        form = "subtractive" if name == "Sub" else "sum"
        for pair in combinations(operands, 2):
            yield from _join(flow, ResidualJoin(number, form, pair))
    elif name in _SKIPS and len(node.inputs) > 1:
        yield from _join(flow, ResidualJoin(number, "sum", (node.inputs[0], node.inputs[1])))
    elif name == _SKIP_GROUP and len(node.inputs) > 3:
        yield from _join(flow, ResidualJoin(number, "sum", (node.inputs[0], node.inputs[3])))
    elif name in _FUSED and len(node.inputs) > 3:
        yield from _fused(flow, number, node.inputs[0], node.inputs[3])
    elif name == "Gemm" and len(node.inputs) > 2 and is_linear(flow, number):
        yield from _fused(flow, number, node.inputs[0], node.inputs[2])


def _operands(flow: DataflowGraph, number: int, live: set[int]) -> list[int]:
    """Return the summands, biases excluded."""
    node = flow.nodes[number]
    operands = node.inputs[0:1] + node.inputs[3:4] if node.op_type == "QLinearAdd" else node.inputs
    tensors = list(dict.fromkeys(t for t in operands if t >= 0))[:_MAX_OPERANDS]
    computed = [t for t in tensors if not flow.constants[t] or t in live]
    if len(computed) == 1 and computed[0] in live and len(tensors) == 2:
        return tensors
    return computed


def _join(flow: DataflowGraph, join: ResidualJoin) -> Iterator[ResidualJoin]:
    """Yield the join if its operands have, as far as known, the same shape."""
    first, second = join.operands
    if first < 0 or second < 0:
        return
    equal = _equal(flow.shapes[first], flow.shapes[second])
    if equal is not False:
        yield join if equal else join._replace(shapes=False)


def _equal(a: Shape | None, b: Shape | None) -> bool | None:
    """Return whether two shapes are equal; None if unknown."""
    if a is None or b is None:
        return None
    if a == b and None not in a:
        return True
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        if x != y and ((isinstance(x, int) and isinstance(y, int)) or 1 in (x, y)):
            return False
    return True if all(x == y and x is not None for x, y in zip(a, b, strict=True)) else None


def _fused(flow: DataflowGraph, number: int, data: int, added: int) -> Iterator[ResidualJoin]:
    """Match a convolution or product that adds a computed tensor to its result."""
    if min(data, added) < 0 or flow.constants[added] or flow.constants[data]:
        return
    if _equal(flow.shapes[added], flow.shapes[flow.first_outputs[number]]) is True:
        yield ResidualJoin(number, "sum", (data, added), operand_weights=1)


def _concats(flow: DataflowGraph, number: int) -> Iterator[ResidualJoin]:
    """Match a Concat along the channels: the second axis, or the last."""
    node = flow.nodes[number]
    shape, axis = flow.shapes[flow.first_outputs[number]], node.attributes.get("axis", 1)
    operands = [t for t in dict.fromkeys(node.inputs) if t >= 0 and not flow.constants[t]]
    if shape is None or not isinstance(axis, int) or not 2 <= len(operands) <= 64:
        return
    axis = axis % len(shape) if shape else 0
    if axis == 0 or axis not in (1, len(shape) - 1):
        return
    yield ResidualJoin(number, "concat", tuple(operands), sequence=len(shape) == 3 and axis == 1)


def _gated(flow: DataflowGraph, number: int, operands: list[int]) -> Iterator[ResidualJoin]:
    """Match g·y + (1-g)·x and n + g·(h-n); x and y, or n and h, are the operands."""
    if len(operands) != 2 or flow.op_types[number] == "Sub":
        return
    for first, second in (operands, operands[::-1]):
        product = flow.producers[second]
        if flow.op_types[product] != "Mul" or len(flow.data_inputs[product]) != 2:
            continue
        for gate, gated in (flow.data_inputs[product], flow.data_inputs[product][::-1]):
            inner = flow.producers[gated]
            if flow.op_types[inner] == "Sub" and input_at(flow, inner, 1) == first:
                end = input_at(flow, inner, 0)
                if not flow.constants[end] and end != first:
                    yield ResidualJoin(number, "sum", (first, end), (product, inner), (inner,), "complement")
            second_product = flow.producers[first]
            if flow.op_types[second_product] == "Mul" and len(flow.data_inputs[second_product]) == 2:
                yield from _complement(flow, number, (product, gate, gated), second_product)


def _complement(
    flow: DataflowGraph, number: int, first: tuple[int, int, int], second_product: int
) -> Iterator[ResidualJoin]:
    """``first`` is (product, gate, value); the second product must use 1 - gate."""
    product, gate, value = first
    for factor, end in (flow.data_inputs[second_product], flow.data_inputs[second_product][::-1]):
        minus = flow.producers[flow.back(factor)]
        if flow.op_types[minus] != "Sub" or scalar(flow, input_at(flow, minus, 0)) != 1.0:
            continue
        if flow.back(input_at(flow, minus, 1)) == flow.back(gate):
            nodes = (product, second_product, minus)
            yield ResidualJoin(number, "sum", (value, end), nodes, (), "complement")


def _is_attention_mask(flow: DataflowGraph, number: int, operands: list[int]) -> bool:
    """True for a mask or bias added to attention scores: a product of activations before a Softmax."""
    scored = False
    for tensor in operands:
        producer = flow.producers[flow.back(tensor, _SCALED)]
        scored = scored or (
            flow.op_types[producer] in ("MatMul", "Einsum") and len(flow.data_inputs[producer]) == 2
        )
    if not scored:
        return False
    tensor = flow.first_outputs[number]
    for _ in range(_MAX_SOFTMAX_STEPS):
        reader = next(iter(readers(flow, tensor)), -1)
        if flow.op_types[reader] in ("Softmax", "LogSoftmax"):
            return True
        if flow.op_types[reader] not in _TO_SOFTMAX:
            return False
        tensor = flow.first_outputs[reader]
    return False
