"""Comparisons of key positions with query positions, which compute causal masks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import QUANTIZED_COPY_OPS, is_scalar

_ORDERED = {"Less": -1, "LessOrEqual": 0, "Greater": 0, "GreaterOrEqual": -1}
"""Operator → e: ``key OP query + c`` shows (Less…), or hides all but (Greater…), keys ≤ query + c + e."""
_MIRRORED = {
    "Less": "Greater",
    "LessOrEqual": "GreaterOrEqual",
    "Greater": "Less",
    "GreaterOrEqual": "LessOrEqual",
}
COMPARISONS = frozenset(_ORDERED) | {"Equal"}
_SHAPED = QUANTIZED_COPY_OPS | {"Unsqueeze", "Reshape", "Squeeze", "Expand", "Tile"}
_COUNTERS = frozenset({"Range", "CumSum", "NonZero"})
_LOOKUPS = frozenset({"Gather", "GatherND"})
CAUSAL, OPEN, BIAS, UNKNOWN, INSIDE = "causal", "open", "bias", "unknown", "inside"
_STEPS = 16


@dataclass(frozen=True, slots=True)
class _PositionOperand:
    axis: str
    """``key``, ``query``, ``one`` (a scalar) or ``both``."""
    base: int
    offset: int | None
    """Value added to the positions; None if unknown."""
    known_offset: int
    """The known part of it; the unknown rest is the length of a cache."""
    counted: bool
    """True if the values are known to be consecutive positions."""
    size: object
    """Length of the axis."""


def comparison_kind(flow: DataflowGraph, number: int) -> str:
    """Return the mask that a comparison computes: ``causal``, ``open`` (not causal) or ``unknown``.

    ``inside`` if it only converts numbers to booleans, so that its operands decide.
    """
    op, inputs = flow.qualified_op_types[number], flow.nodes[number].inputs
    if len(inputs) != 2 or min(inputs) < 0:
        return UNKNOWN
    left, right = inputs
    shift = 0
    if is_scalar(flow, right):
        difference = _difference(flow, left)
        constant = _number(flow, right)
        if difference is None or constant is None:
            return INSIDE
        (left, right), shift = difference, constant
    elif is_scalar(flow, left):
        return INSIDE
    if op == "Equal":
        return OPEN  # true in the other direction as well
    return _ordered(flow, op, _describe_operand(flow, left), _describe_operand(flow, right), shift)


def _ordered(flow: DataflowGraph, op: str, a: _PositionOperand, b: _PositionOperand, shift: int) -> str:
    if (a.axis, b.axis) == ("query", "key"):
        a, b, op, shift = b, a, _MIRRORED[op], -shift
    if (a.axis, b.axis) != ("key", "query"):
        return UNKNOWN if "both" in (a.axis, b.axis) else OPEN
    if not (a.counted or b.counted or a.base == b.base):
        return UNKNOWN
    before = a.offset if a.offset is not None else 0
    after = b.offset if b.offset is not None else 0
    last = after - before + shift + _ORDERED[op]
    # Queries after cached keys are counted from the end of the cache.
    cached = a.size - b.size if isinstance(a.size, int) and isinstance(b.size, int) else 0
    if 0 <= last <= max(0, cached) or (last == -1 and op == "Less"):
        return CAUSAL
    return UNKNOWN if last > 0 and cached else OPEN  # beyond the last key: a window, or unusual lengths


def distance_threshold(flow: DataflowGraph, number: int) -> tuple[int, bool] | None:
    """Return the distance, key − query, at which a comparison changes, and whether it holds on both sides.

    It is constant for all smaller distances, and for all from it on. None if positions are not compared.
    """
    op, inputs = flow.qualified_op_types[number], flow.nodes[number].inputs
    if op not in _ORDERED or len(inputs) != 2 or min(inputs) < 0:
        return None
    left, right = inputs
    shift, both_sides = 0, False
    if is_scalar(flow, right) or is_scalar(flow, left):
        if is_scalar(flow, left):
            left, right, op = right, left, _MIRRORED[op]
        constant, difference = _number(flow, right), _difference(flow, left)
        if difference is None:
            number = flow.producers[flow.back(left)]
            both_sides = flow.qualified_op_types[number] == "Abs"
            difference = _difference(flow, flow.nodes[number].inputs[0]) if both_sides else None
        if difference is None or constant is None:
            return None
        (left, right), shift = difference, constant
    a, b = _describe_operand(flow, left), _describe_operand(flow, right)
    if both_sides and {a.axis, b.axis} == {"query", "key"} and (a.counted or b.counted or a.base == b.base):
        return shift + _ORDERED[op] + 1, True
    if (a.axis, b.axis) == ("query", "key"):
        a, b, op, shift = b, a, _MIRRORED[op], -shift
    if (a.axis, b.axis) != ("key", "query") or not (a.counted or b.counted or a.base == b.base):
        return None
    return b.known_offset - a.known_offset + shift + _ORDERED[op] + 1, both_sides


def equal_chunks(flow: DataflowGraph, number: int) -> int | None:
    """Return c if a comparison shows the keys with ⌊key / c⌋ = ⌊query / c⌋, else None."""
    sides = [_divided(flow, tensor) for tensor in flow.nodes[number].inputs]
    if len(sides) != 2 or None in sides:
        return None
    (axis, chunk), (other_axis, other_chunk) = (side for side in sides if side is not None)
    return chunk if chunk == other_chunk and {axis, other_axis} == {"query", "key"} else None


def _divided(flow: DataflowGraph, tensor: int) -> tuple[str, int] | None:
    """Return (axis, divisor) of positions divided by a whole number and rounded, else None."""
    shape = flow.shapes[tensor]
    axis = _axis(shape) if shape is not None else ""
    for _ in range(_STEPS):
        number = flow.producers[tensor]
        op = flow.qualified_op_types[number]
        inputs = flow.nodes[number].inputs if number >= 0 else ()
        if op == "Div" and len(inputs) == 2 and min(inputs) >= 0 and is_scalar(flow, inputs[1]):
            divisor = _number(flow, inputs[1])
            return (axis, divisor) if divisor is not None and divisor > 1 else None
        # Rounding down is a division, less one where it rounded up.
        if op in _SHAPED or op in _LOOKUPS or op in ("Floor", "Sub", "Where", "Trunc"):
            inputs = inputs[2:] if op == "Where" else inputs
        else:
            return None
        if not inputs or inputs[0] < 0:
            return None
        tensor = inputs[0]
    return None


def _difference(flow: DataflowGraph, tensor: int) -> tuple[int, int] | None:
    number = flow.producers[flow.back(tensor)]
    inputs = flow.nodes[number].inputs if flow.qualified_op_types[number] == "Sub" else ()
    return (inputs[0], inputs[1]) if len(inputs) == 2 and min(inputs) >= 0 else None


def _number(flow: DataflowGraph, tensor: int) -> int | None:
    """Return the value of a known integer scalar."""
    value = flow.value(tensor)
    if not isinstance(value, np.ndarray) or value.size != 1 or value.dtype.kind not in "iuf":
        return None
    number = float(value.reshape(-1)[0])
    return int(number) if abs(number) < 1 << 31 and number == int(number) else None


def _describe_operand(flow: DataflowGraph, tensor: int) -> _PositionOperand:
    """Describe an operand: its axis and what it counts."""
    axis, offset = "both", 0
    length: object = None
    is_constant = True
    for _ in range(_STEPS):
        shape = flow.shapes[tensor]
        if axis == "both" and shape is not None:
            axis = _axis(shape)
            length = shape[-2] if axis == "query" else shape[-1] if axis == "key" else None
        number = flow.producers[tensor]
        op = flow.qualified_op_types[number]
        inputs = flow.nodes[number].inputs if number >= 0 else ()
        # Positions of packed sequences are looked up by position.
        looked_up = op in _LOOKUPS and axis in ("query", "key")
        if (op in _SHAPED or looked_up) and inputs and inputs[0] >= 0:
            tensor = inputs[0]
            continue
        if op in ("Add", "Sub") and len(inputs) == 2 and min(inputs) >= 0:
            base, addend = inputs if op == "Sub" or not is_scalar(flow, inputs[0]) else inputs[::-1]
            if is_scalar(flow, addend) and not is_scalar(flow, base):
                step = _number(flow, addend)
                is_constant = is_constant and step is not None
                offset += 0 if step is None else (step if op == "Add" else -step)
                tensor = base
                continue
        break
    return _PositionOperand(
        axis, tensor, offset if is_constant else None, offset, _counts(flow, tensor), length
    )


def _axis(shape: tuple[object, ...]) -> str:
    if all(d == 1 for d in shape):
        return "one"
    if len(shape) == 1 or shape[-2] == 1:
        return "key"
    return "query" if shape[-1] == 1 else "both"


def _counts(flow: DataflowGraph, tensor: int) -> bool:
    """True for 0, 1, 2 … from Range, from a cumulative sum, or stored."""
    if flow.qualified_op_types[flow.producers[tensor]] in _COUNTERS:
        return True
    value = flow.value(tensor)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu" or value.size < 2:
        return False
    steps = np.diff(value.reshape(-1))
    return bool((steps == 1).all())
