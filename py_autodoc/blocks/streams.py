"""Which residual stream feeds an attention, and whether Q and K read the same one."""

from __future__ import annotations

from py_autodoc.blocks.flow import Flow
from py_autodoc.blocks.operands import NORMS, Operand
from py_autodoc.blocks.products import CONVS, MOVING, PASSING, product, projection
from py_autodoc.graph.model import TensorKind

_THROUGH = PASSING | MOVING | NORMS | {"Pad", "Gather", "Concat"}
"""What may lie between a stream and the projections: moves and normalizations."""
_REDUCING = _THROUGH | CONVS | {
    "AveragePool", "MaxPool", "GlobalAveragePool", "Resize", "Relu", "Gelu", "Sigmoid", "Mul", "HardSwish",
    "ReduceMean",
}  # fmt: skip
"""What may shorten the keys of an attention over reduced positions."""
_STEPS = 12
_REDUCED = 48
_AHEAD = 16


def kind(flow: Flow, q: Operand, k: Operand, v: Operand) -> str:
    """``self`` when queries and keys come from one tensor, ``cross`` when they do not, else ``unknown``."""
    asks, gives = source(q), source(k)
    if q.projection is None and k.projection is None:
        if flow.model.tensors[asks].kind == flow.model.tensors[gives].kind == TensorKind.INPUT:
            return "unknown"
    elif k.projection is None and k.past and not k.joins:
        return "cross"  # keys computed elsewhere, once
    mine, theirs = roots(flow, asks), roots(flow, gives) | roots(flow, source(v))
    if mine & theirs:
        return "self"
    if _reaches(flow, gives, mine, _REDUCING) or _reaches(flow, asks, theirs, _THROUGH):
        return "self"
    return "cross"


def source(operand: Operand) -> int:
    """The tensor that the projection reads, or the operand itself when nothing projects it."""
    return operand.projection.source if operand.projection else operand.tensor


def roots(flow: Flow, tensor: int) -> set[int]:
    """The tensor, what it is a normalization or a move of, and the two sides of one Add (positions)."""
    found = {tensor}
    behind = _strip(flow, tensor, found)
    number = flow.producer(behind)
    if flow.op(number) == "Add":
        for side in flow.node(number).inputs:
            if side >= 0 and not _plain(flow, side):
                found.add(side)
                _strip(flow, side, found)
    return found


def _plain(flow: Flow, tensor: int) -> bool:
    """True for stored constants: a position table is no stream."""
    return flow.model.tensors[tensor].kind in (TensorKind.INITIALIZER, TensorKind.CONSTANT)


def _strip(flow: Flow, tensor: int, found: set[int]) -> int:
    for _ in range(_STEPS):
        number = flow.producer(tensor)
        op = flow.op(number)
        if op not in PASSING and op not in MOVING and op not in NORMS:
            break
        before = flow.node(number).inputs[:1]
        if not before or before[0] < 0 or _plain(flow, before[0]):
            break
        tensor = before[0]
        found.add(tensor)
    return tensor


def _reaches(flow: Flow, tensor: int, goals: set[int], through: frozenset[str]) -> bool:
    """True when ``tensor`` is computed from one of ``goals`` by the operators in ``through`` alone."""
    queue, seen, at = [tensor], {tensor}, 0
    while at < len(queue) and at < _REDUCED:
        number = flow.producer(queue[at])
        at += 1
        op = flow.op(number)
        if op not in through and not (through is _REDUCING and _weighted(flow, number, op)):
            continue
        for i in flow.node(number).inputs:
            if i in goals:
                return True
            if i >= 0 and i not in seen and not flow.constant(i):
                seen.add(i)
                queue.append(i)
    return False


def _weighted(flow: Flow, number: int, op: str) -> bool:
    """A product with a weight, or the bias after it."""
    if number < 0:
        return False
    return projection(flow, number) is not None or (op == "Add" and len(flow.data(number)) == 1)


def hidden_size(flow: Flow, q: Operand, context: int) -> int | None:
    """Width of the residual stream: what Q's projection reads, corrected by what is added back.

    A low-rank query projection reads less than the stream; then the output projection, whose result is
    added to the stream, tells.
    """
    read = q.projection.width_in if q.projection else None
    written = _written(flow, context)
    if written is not None and written != read:
        return written
    return read


def _written(flow: Flow, context: int) -> int | None:
    """Output width of the projection after the context, when a residual Add follows."""
    tensor, width = context, None
    for _ in range(_AHEAD):
        reader = _next(flow, tensor)
        if reader < 0:
            return None
        node, op = flow.node(reader), flow.op(reader)
        if width is None:
            found = projection(flow, reader)
            if found is not None and found.source == tensor:
                width = found.width_out
                if width is None:
                    return None
            elif product(flow, reader) is not None:
                return None
        elif op == "Add" and len(flow.data(reader)) == 2 and len(set(flow.data(reader))) == 2:
            return width
        elif projection(flow, reader) is not None:
            return None
        if not node.outputs or node.outputs[0] < 0:
            return None
        tensor = node.outputs[0]
    return None


def _next(flow: Flow, tensor: int) -> int:
    """The first reader of a tensor."""
    readers = flow.consumers(tensor)
    return readers[0] if readers else -1
