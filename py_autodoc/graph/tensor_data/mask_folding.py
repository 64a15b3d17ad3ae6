"""Values computed from stored tables of masks: distances compared with a window, masks joined with others.

Shape inference follows only small values. A mask of a fixed length is larger, but a few elementwise operators
away from what is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from py_autodoc.graph.ir.model import Model, Node

MAX_ELEMENTS = 4 << 20
"""Maximum elements of one computed table."""
MAX_NODES = 256
"""Maximum computed tables."""
Array = np.ndarray[Any, Any]
_TWO = {
    "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor, "Less": np.less, "Greater": np.greater,
    "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal, "Equal": np.equal, "Add": np.add,
    "Sub": np.subtract, "Mul": np.multiply,
}  # fmt: skip
_ONE = {"Not": np.logical_not, "Abs": np.abs, "Neg": np.negative}
_SAME = frozenset({"Identity", "Expand"})
_BOOL = 9
_FLOATS = frozenset({1, 10, 11, 16})


def folded(model: Model, known: Mapping[int, Any], tables: Mapping[int, Array]) -> dict[int, Array]:
    """Return tensor → value of what the main graph computes from ``tables`` and ``known`` values alone."""
    values: dict[int, Array] = dict(tables)
    found: dict[int, Array] = {}
    reached = {number for tensor in tables for number in model.tensors[tensor].consumers}
    for number in model.graphs[0].nodes:
        if number not in reached or len(found) == MAX_NODES:
            continue
        node = model.nodes[number]
        value = _value(node, [_known(model, known, values, tensor) for tensor in node.inputs])
        if value is None or not node.outputs or value.size > MAX_ELEMENTS:
            continue
        output = node.outputs[0]
        values[output] = found[output] = value
        reached.update(model.tensors[output].consumers)
    return found


def _known(model: Model, known: Mapping[int, Any], values: Mapping[int, Array], tensor: int) -> Array | None:
    value = values.get(tensor)
    value = known.get(tensor) if value is None else value
    value = model.constants.get(tensor) if value is None else value
    return value if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" else None


def _value(node: Node, inputs: list[Array | None]) -> Array | None:
    """Return the first output of a node; None if an input or the operator is not known."""
    op, first = node.op_type, inputs[0] if inputs else None
    if node.domain or first is None:
        return None
    if op in _SAME:
        return first  # an expanded mask is the same for all heads
    if op == "Unsqueeze" and len(inputs) > 1:
        return None if inputs[1] is None else _unsqueezed(first, inputs[1])
    if op == "Cast":
        return _cast(first, node.attributes.get("to"))
    if op in _ONE and len(inputs) == 1:
        return np.asarray(_ONE[op](first))
    if any(value is None for value in inputs):
        return None
    operands = [value for value in inputs if value is not None]
    try:
        if op in _TWO and len(operands) == 2:
            if max(operands[0].size, operands[1].size) > MAX_ELEMENTS:
                return None
            return np.asarray(_TWO[op](*operands))
        if op == "Where" and len(operands) == 3:
            return np.where(operands[0].astype(bool), operands[1], operands[2])
    except (ValueError, TypeError):
        return None
    return None


def _unsqueezed(value: Array, axes: Array) -> Array | None:
    try:
        return np.expand_dims(value, tuple(int(axis) for axis in axes.reshape(-1)))
    except (ValueError, IndexError):
        return None


def _cast(value: Array, target: object) -> Array | None:
    if target == _BOOL:
        return value.astype(bool)
    return value.astype(np.float32) if target in _FLOATS else None
