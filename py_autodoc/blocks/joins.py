"""Nodes where two paths meet and that may therefore close a residual."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from py_autodoc.blocks.flow import Flow
from py_autodoc.blocks.ops import PASS, arg, floating, has_weights, is_linear, readers, scalar
from py_autodoc.graph.model import Shape

_SUMS = frozenset({"Add", "Sum", "QLinearAdd"})
_SKIPS = frozenset({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
_SKIP_GROUP = "SkipGroupNorm"
_FUSED = frozenset({"FusedConv", "NhwcFusedConv"})
_CONCATS = frozenset({"Concat", "QLinearConcat"})
JOINS = _SUMS | _SKIPS | _FUSED | _CONCATS | {"Sub", "Gemm", _SKIP_GROUP}
"""Operators that may join two paths."""
_MAX_OPERANDS = 8
_MAX_SOFTMAX_STEPS = 6
_SCALED = PASS | {"Mul", "Div", "Reshape"}
_TO_SOFTMAX = PASS | {"Add", "Mul", "Div", "Where", "Reshape", "Clip", "Max"}


class Join(NamedTuple):
    """Two operands of a node. ``own``: weights the join itself applies to its first operand."""

    node: int
    form: str
    """``sum``, ``subtractive`` or ``concat``."""
    operands: tuple[int, ...]
    nodes: tuple[int, ...] = ()
    """Gates that belong to the join."""
    inner: tuple[int, ...] = ()
    """Nodes that look like joins of their own but are part of this one."""
    gate: str = ""
    own: int = 0
    shapes: bool = True
    """Both shapes are known to be equal."""
    sequence: bool = False
    """A Concat along the middle axis of three: channels of a 1-D convolution, or time."""


def live_constants(flow: Flow) -> set[int]:
    """Tensors computed from constants alone by operators with weights.

    A decoder whose first queries are constant begins with such a part; to the reader it is data.
    """
    live: set[int] = set()
    nodes, firsts, constants = flow.nodes, flow.firsts, flow.constants
    for number in [n for n in flow.order if constants[firsts[n]]]:
        node = nodes[number]
        if not live.isdisjoint(node.inputs) or has_weights(flow, number):
            live.update(t for t in node.outputs if t >= 0)
    return live


def joins(flow: Flow, number: int, live: set[int]) -> Iterator[Join]:
    """Every way to read a node as a join, most specific first. None for operators outside ``JOINS``."""
    name, node = flow.bare[number], flow.nodes[number]
    made = flow.firsts[number]
    if made < 0 or not floating(flow, made):
        return
    if name in _CONCATS:
        yield from _concats(flow, number)
        return
    if name in _SUMS or name == "Sub":
        operands = _operands(flow, number, live)
        if len(operands) < 2 or _masks(flow, number, operands):
            return
        yield from _gated(flow, number, operands)
        form = "subtractive" if name == "Sub" else "sum"
        for pair in combinations(operands, 2):
            yield from _join(flow, Join(number, form, pair))
    elif name in _SKIPS and len(node.inputs) > 1:
        yield from _join(flow, Join(number, "sum", (node.inputs[0], node.inputs[1])))
    elif name == _SKIP_GROUP and len(node.inputs) > 3:
        yield from _join(flow, Join(number, "sum", (node.inputs[0], node.inputs[3])))
    elif name in _FUSED and len(node.inputs) > 3:
        yield from _fused(flow, number, node.inputs[0], node.inputs[3])
    elif name == "Gemm" and len(node.inputs) > 2 and is_linear(flow, number):
        yield from _fused(flow, number, node.inputs[0], node.inputs[2])


def _operands(flow: Flow, number: int, live: set[int]) -> list[int]:
    """What is added, biases left out."""
    node = flow.nodes[number]
    given = node.inputs[0:1] + node.inputs[3:4] if node.op_type == "QLinearAdd" else node.inputs
    tensors = list(dict.fromkeys(t for t in given if t >= 0))[:_MAX_OPERANDS]
    computed = [t for t in tensors if not flow.constants[t] or t in live]
    if len(computed) == 1 and computed[0] in live and len(tensors) == 2:
        return tensors
    return computed


def _join(flow: Flow, join: Join) -> Iterator[Join]:
    """The join when its operands have one shape, as far as that is known."""
    one, other = join.operands
    if one < 0 or other < 0:
        return
    equal = _equal(flow.shapes[one], flow.shapes[other])
    if equal is not False:
        yield join if equal else join._replace(shapes=False)


def _equal(a: Shape | None, b: Shape | None) -> bool | None:
    """Whether two shapes are equal; None when it cannot be told."""
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


def _fused(flow: Flow, number: int, data: int, added: int) -> Iterator[Join]:
    """A convolution or product that adds a computed tensor to its result."""
    if min(data, added) < 0 or flow.constants[added] or flow.constants[data]:
        return
    if _equal(flow.shapes[added], flow.shapes[flow.firsts[number]]) is True:
        yield Join(number, "sum", (data, added), own=1)


def _concats(flow: Flow, number: int) -> Iterator[Join]:
    """A Concat along the channels: second axis, or last."""
    node = flow.nodes[number]
    shape, axis = flow.shapes[flow.firsts[number]], node.attributes.get("axis", 1)
    operands = [t for t in dict.fromkeys(node.inputs) if t >= 0 and not flow.constants[t]]
    if shape is None or not isinstance(axis, int) or not 2 <= len(operands) <= 64:
        return
    axis = axis % len(shape) if shape else 0
    if axis == 0 or axis not in (1, len(shape) - 1):
        return
    yield Join(number, "concat", tuple(operands), sequence=len(shape) == 3 and axis == 1)


def _gated(flow: Flow, number: int, operands: list[int]) -> Iterator[Join]:
    """g·y + (1-g)·x, and n + g·(h-n): the two ends are the operands to join."""
    if len(operands) != 2 or flow.bare[number] == "Sub":
        return
    for first, second in (operands, operands[::-1]):
        product = flow.makers[second]
        if flow.bare[product] != "Mul" or len(flow.reads[product]) != 2:
            continue
        for gate, rest in (flow.reads[product], flow.reads[product][::-1]):
            inner = flow.makers[rest]
            if flow.bare[inner] == "Sub" and arg(flow, inner, 1) == first:
                end = arg(flow, inner, 0)
                if not flow.constants[end] and end != first:
                    yield Join(number, "sum", (first, end), (product, inner), (inner,), "complement")
            other = flow.makers[first]
            if flow.bare[other] == "Mul" and len(flow.reads[other]) == 2:
                yield from _complement(flow, number, (product, gate, rest), other)


def _complement(flow: Flow, number: int, one: tuple[int, int, int], other: int) -> Iterator[Join]:
    """``one`` is (product, gate, value); the other product must use 1 - gate."""
    product, gate, value = one
    for factor, end in (flow.reads[other], flow.reads[other][::-1]):
        minus = flow.makers[flow.back(factor)]
        if flow.bare[minus] != "Sub" or scalar(flow, arg(flow, minus, 0)) != 1.0:
            continue
        if flow.back(arg(flow, minus, 1)) == flow.back(gate):
            nodes = (product, other, minus)
            yield Join(number, "sum", (value, end), nodes, (), "complement")


def _masks(flow: Flow, number: int, operands: list[int]) -> bool:
    """A mask or bias added to attention scores: a product of two computed tensors, on to a Softmax."""
    scored = False
    for tensor in operands:
        maker = flow.makers[flow.back(tensor, _SCALED)]
        scored = scored or (flow.bare[maker] in ("MatMul", "Einsum") and len(flow.reads[maker]) == 2)
    if not scored:
        return False
    tensor = flow.firsts[number]
    for _ in range(_MAX_SOFTMAX_STEPS):
        reader = next(iter(readers(flow, tensor)), -1)
        if flow.bare[reader] in ("Softmax", "LogSoftmax"):
            return True
        if flow.bare[reader] not in _TO_SOFTMAX:
            return False
        tensor = flow.firsts[reader]
    return False
