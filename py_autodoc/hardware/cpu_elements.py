"""Operators that ONNX Runtime's CPU kernels compute element by element, or row by row.

Most operators are as fast as memory allows. These are not: they have no vector code, walk along an axis that
is not the fastest, copy a row at a time, or call a matrix product for each pair of tiny matrices. Their time
is a number of picoseconds per element, measured with ONNX Runtime 1.31 on one thread of an AMD EPYC 9004
(chains of operators on 2,048 and 1,048,576 elements, tenth percentile of CPU time).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from py_autodoc.graph.ir.model import Node, Shape

ROW = 12_000
"""Picoseconds to begin a row of a copy."""
CALL = 140_000
"""Picoseconds of one product of a batch, whatever its size."""
COLUMN = 310
"""Picoseconds to write an element of the columns that a convolution of three dimensions multiplies."""
EINSUM_CALL = 2_000_000
"""Picoseconds to prepare an Einsum, which allocates and transposes before it multiplies."""
EINSUM = 2_000
"""Picoseconds per element of its result for these copies."""
_SMALL = 4_096
"""Elements of a product below which its call counts."""

_ALONG_LAST = {"CumSum": 2_500, "CumProd": 2_500}
"""Operators that are slow along the last axis only."""
_ALONG_OTHERS = {
    "Softmax": 9_000, "LogSoftmax": 6_000, "LpNormalization": 13_000, "ReduceProd": 3_500,
    "ReduceL2": 2_500, "ArgMax": 3_000, "ArgMin": 3_000,
}  # fmt: skip
"""Operators that are slow along any axis but the last."""
_ANYWHERE = {
    "Sin": 2_200, "Cos": 2_700, "Tan": 11_000, "Sinh": 14_000, "Cosh": 14_000, "Asinh": 16_000,
    "Acosh": 16_000, "Atanh": 14_000, "Log": 2_300, "Elu": 1_800, "Selu": 2_000, "Celu": 2_000,
    "Softplus": 11_000, "Mod": 5_500, "ReduceLogSumExp": 5_500, "ScatterElements": 4_500, "TopK": 11_000,
    "LRN": 24_000, "NonZero": 20_000, "DepthToSpace": 1_200, "SpaceToDepth": 1_200,
}  # fmt: skip
_READ = frozenset({*_ALONG_OTHERS, "ReduceLogSumExp", "TopK", "NonZero"})
"""Operators whose cost goes with the elements that they read."""
_POWERS = (1.0, 2.0, 3.0)
"""Exponents of Pow that are multiplications."""
_POW = 4_300
_RESIZE = {"nearest": 2_000, "linear": 500, "cubic": 75_000}


class ElementTime(NamedTuple):
    """A kernel takes ``picoseconds`` on one thread for each element of ``tensor``; once if that is -1."""

    tensor: int
    picoseconds: int


def element_times(
    node: Node, shapes: Sequence[Shape | None], values: Mapping[int, Any]
) -> tuple[ElementTime, ...]:
    """Return what an operator takes per element on a CPU; empty if memory or arithmetic limits it."""
    single = _element_time(node, shapes, values)
    found = () if single is None else (single,)
    if node.op_type == "Einsum" and node.outputs and node.outputs[0] >= 0:
        return (*found, ElementTime(-1, EINSUM_CALL), ElementTime(node.outputs[0], EINSUM))
    return found


def _element_time(
    node: Node, shapes: Sequence[Shape | None], values: Mapping[int, Any]
) -> ElementTime | None:
    out = node.outputs[0] if node.outputs else -1
    if node.domain not in ("", "ai.onnx") or out < 0 or not node.inputs or node.inputs[0] < 0:
        return None
    tensor = node.inputs[0] if node.op_type in _READ else out
    shape, operator = shapes[tensor], node.op_type
    if operator in _ANYWHERE:
        return ElementTime(tensor, _ANYWHERE[operator])
    if operator in _ALONG_LAST or operator in _ALONG_OTHERS:
        is_last = _is_last(_axes(node, values), shape)
        table = _ALONG_LAST if operator in _ALONG_LAST else _ALONG_OTHERS
        return ElementTime(tensor, table[operator]) if is_last == (operator in _ALONG_LAST) else None
    if operator == "Pow":
        exponent = _scalar(values, node.inputs[1]) if len(node.inputs) > 1 else None
        return None if exponent in _POWERS else ElementTime(out, _POW)
    if operator == "Resize":
        mode = node.attributes.get("mode", "nearest")
        return ElementTime(out, _RESIZE.get(str(mode), _RESIZE["nearest"]))
    if operator in ("Pad", "Concat", "Gather", "GatherElements", "Tile"):
        return _rows(node, out, shapes, values)
    if operator in ("MatMul", "Einsum"):
        return _small_products(node, out, shapes)
    if operator == "Conv":
        return _columns(node, out, shapes)
    return None


def _axes(node: Node, values: Mapping[int, Any]) -> list[int]:
    """Return the axes of an operator: of its attribute, or of its second input; -1 if they are unknown."""
    given = node.attributes.get("axis", node.attributes.get("axes"))
    if given is None and len(node.inputs) > 1 and node.inputs[1] in values:
        given = values[node.inputs[1]].reshape(-1).tolist()
    if isinstance(given, int):
        return [given]
    if isinstance(given, Sequence) and given and all(isinstance(axis, int) for axis in given):
        return [int(axis) for axis in given]
    return [0] if node.op_type in ("ArgMax", "ArgMin") else [-1]


def _is_last(axes: Sequence[int], shape: Shape | None) -> bool:
    rank = 0 if shape is None else len(shape)
    return any(axis in (-1, rank - 1) for axis in axes)


def _scalar(values: Mapping[int, Any], tensor: int) -> float | None:
    array = values.get(tensor)
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def _rows(
    node: Node, out: int, shapes: Sequence[Shape | None], values: Mapping[int, Any]
) -> ElementTime | None:
    """Copies whose rows are short: along the last axis each row is a copy of its own."""
    shape = shapes[out]
    if not shape or not isinstance(shape[-1], int) or not shape[-1]:
        return None
    if node.op_type == "Pad":
        pads = values.get(node.inputs[1]) if len(node.inputs) > 1 else None
        pads = [] if pads is None else pads.reshape(-1).tolist()
        pads = pads or node.attributes.get("pads") or []
        rank = len(pads) // 2
        if not rank or (not pads[rank - 1] and not pads[-1]):
            return None
    elif node.op_type == "Gather" and not _is_last([_axis_of(node, 0)], shapes[node.inputs[0]]):
        return None
    elif node.op_type == "Gather":
        return ElementTime(out, 7_000)
    elif node.op_type == "GatherElements":
        return ElementTime(out, 700)
    elif node.op_type == "Concat" and not _is_last([_axis_of(node, 0)], shape):
        return None
    return ElementTime(out, max(1, ROW // shape[-1]))


def _axis_of(node: Node, default: int) -> int:
    axis = node.attributes.get("axis", default)
    return axis if isinstance(axis, int) else default


def _small_products(node: Node, out: int, shapes: Sequence[Shape | None]) -> ElementTime | None:
    """Return the time of the calls: one for each product of a batch."""
    size = _einsum_product(node, shapes) if node.op_type == "Einsum" else _matmul_product(shapes[out])
    return ElementTime(out, max(1, round(CALL / size))) if size and size < _SMALL else None


def _matmul_product(shape: Shape | None) -> int:
    """Return the elements of one product of a batch; 0 if there is no batch, or a size is unknown."""
    if shape is None or len(shape) < 3:
        return 0
    m, n = shape[-2:]
    return m * n if isinstance(m, int) and isinstance(n, int) else 0


def _einsum_product(node: Node, shapes: Sequence[Shape | None]) -> int:
    """Return the elements of one product of an Einsum; 0 if it is unknown.

    Axes of both operands that stay in the result are a batch, the others of the result are rows or columns.
    """
    equation = node.attributes.get("equation")
    equation = equation.decode("ascii", "replace") if isinstance(equation, bytes) else equation
    if not isinstance(equation, str) or "->" not in equation or "." in equation or len(node.inputs) != 2:
        return 0
    operands, result = equation.replace(" ", "").split("->")
    first, _, second = operands.partition(",")
    sizes: dict[str, int] = {}
    for letters, tensor in ((first, node.inputs[0]), (second, node.inputs[1])):
        shape = shapes[tensor] if tensor >= 0 else None
        if shape is None or len(shape) != len(letters):
            return 0
        sizes.update((letter, size) for letter, size in zip(letters, shape, strict=True)
                     if isinstance(size, int))  # fmt: skip
    if not set(result) <= sizes.keys() or not set(first) & set(second) & set(result):
        return 0
    return math.prod(sizes[letter] for letter in result if not (letter in first and letter in second))


def _columns(node: Node, out: int, shapes: Sequence[Shape | None]) -> ElementTime | None:
    """Convolutions over three axes write their columns to memory first; others have kernels of their own."""
    weight = shapes[node.inputs[1]] if len(node.inputs) > 1 and node.inputs[1] >= 0 else None
    if weight is None or len(weight) < 5 or not all(isinstance(size, int) and size for size in weight):
        return None
    sizes = [size for size in weight if isinstance(size, int)]
    if math.prod(sizes[2:]) == 1:
        return None  # the input itself is the columns
    groups = node.attributes.get("group", 1)
    per_group = sizes[0] / (groups if isinstance(groups, int) and groups > 0 else 1)
    return ElementTime(out, max(1, round(COLUMN * math.prod(sizes[1:]) / per_group)))
