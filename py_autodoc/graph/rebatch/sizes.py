"""Arithmetic on shapes: evaluates computations on the batch size at several batch sizes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from py_autodoc.graph.protobuf.tensor_protos import MAX_RANK, MAX_VALUES, small_value
from py_autodoc.graph.rebatch.prepare import StructureNode

PROBES = (1, 2, 3, 5, 1009)
"""Batch sizes used as probes. A value equal at all of them does not depend on the batch."""


def _divide(a: Any, b: Any) -> Any:
    """Divide as ONNX does: integers are truncated towards zero."""
    if np.asarray(a).dtype.kind in "iu":
        quotient = np.abs(a) // np.abs(b)
        return np.where((np.asarray(a) < 0) ^ (np.asarray(b) < 0), -quotient, quotient)
    return np.divide(a, b)


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _divide,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "Identity": np.asarray,
    "Neg": np.negative,
    "Abs": np.abs,
    "Not": np.logical_not,
    "Ceil": np.ceil,
    "Floor": np.floor,
    "Sqrt": np.sqrt,
}


def computed(node: StructureNode, values: Sequence[Any], opset: int) -> Any | None:
    """Return the output of a node on small values; None if its operator is not shape arithmetic.

    ``values`` are the inputs, None for omitted ones.
    """
    if not all(v is None or _small(v) for v in values):
        return None
    kind = node.op_type
    if node.domain or not values:
        return None
    try:
        with np.errstate(all="ignore"):
            if kind in _BINARY and len(values) == 2:
                out = np.asarray(_BINARY[kind](values[0], values[1]))
                return out if out.dtype == bool else out.astype(np.asarray(values[0]).dtype)
            if kind in _UNARY:
                return np.asarray(_UNARY[kind](values[0]))
            result = _EVALUATORS[kind](node, values) if kind in _EVALUATORS else None
    except (LookupError, TypeError, ValueError, ArithmeticError, OverflowError):
        return None
    return np.asarray(result) if result is not None and _small(result) else None


def _small(value: Any) -> bool:
    return np.size(value) <= MAX_VALUES and np.ndim(value) <= MAX_RANK


def _axes(node: StructureNode, values: Sequence[Any], index: int) -> tuple[int, ...] | None:
    if len(values) > index and values[index] is not None:
        return tuple(int(a) for a in np.ravel(values[index]))
    attribute = node.attr("axes")
    return None if attribute is None else tuple(attribute)


def _cast(node: StructureNode, values: Sequence[Any]) -> Any:
    import onnx

    return np.asarray(values[0]).astype(onnx.helper.tensor_dtype_to_np_dtype(node.attr("to")))


def _gather(node: StructureNode, values: Sequence[Any]) -> Any:
    return np.take(values[0], np.asarray(values[1]), axis=node.attr("axis", 0))


def _concat(node: StructureNode, values: Sequence[Any]) -> Any:
    return np.concatenate([np.asarray(v) for v in values], axis=node.attr("axis", 0))


def _squeeze(node: StructureNode, values: Sequence[Any]) -> Any:
    return np.squeeze(values[0], axis=_axes(node, values, 1))


def _unsqueeze(node: StructureNode, values: Sequence[Any]) -> Any:
    return np.expand_dims(values[0], _axes(node, values, 1) or (0,))


def _reshape(node: StructureNode, values: Sequence[Any]) -> Any:
    return np.reshape(values[0], tuple(int(d) for d in np.ravel(values[1])))


def _slice(node: StructureNode, values: Sequence[Any]) -> Any:
    data = np.asarray(values[0])
    if len(values) > 1:
        starts, ends = np.ravel(values[1]), np.ravel(values[2])
        axes = _axes(node, values, 3)
        steps = np.ravel(values[4]) if len(values) > 4 and values[4] is not None else None
    else:
        starts, ends, axes, steps = node.attr("starts"), node.attr("ends"), node.attr("axes"), None
    cut = [slice(None)] * data.ndim
    for k, (first, last) in enumerate(zip(starts, ends, strict=True)):
        step = 1 if steps is None else int(steps[k])
        if step < 1:
            return None
        cut[axes[k] if axes is not None else k] = slice(int(first), int(last), step)
    return data[tuple(cut)]


def _product(node: StructureNode, values: Sequence[Any]) -> Any:
    fn = {"ReduceProd": np.prod, "ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMin": np.min}[node.op_type]
    axes = _axes(node, values, 1)
    if axes == () or (axes is None and node.attr("noop_with_empty_axes", 0)):
        return None
    out = fn(values[0], axis=axes, keepdims=bool(node.attr("keepdims", 1)))  # type: ignore[operator]
    return np.asarray(out).astype(np.asarray(values[0]).dtype)


def _where(node: StructureNode, values: Sequence[Any]) -> Any:
    return np.where(values[0], values[1], values[2])


def _extreme(node: StructureNode, values: Sequence[Any]) -> Any:
    fn = np.maximum if node.op_type == "Max" else np.minimum
    out = values[0]
    for value in values[1:]:
        out = fn(out, value)
    return out


def _mod(node: StructureNode, values: Sequence[Any]) -> Any:
    return None if node.attr("fmod", 0) else np.mod(values[0], values[1])


def _filled(node: StructureNode, values: Sequence[Any]) -> Any:
    shape = tuple(int(d) for d in np.ravel(values[0]))
    if len(shape) > 8 or any(d < 0 or d > MAX_VALUES for d in shape) or np.prod(shape) > MAX_VALUES:
        return None
    fill = node.attr("value")
    if fill is None:
        return np.zeros(shape, np.float32)
    if not hasattr(fill, "dims"):
        return None  # not a tensor
    value = small_value(fill, tuple(fill.dims))
    return None if value is None or value.size < 1 else np.full(shape, value.reshape(-1)[0], value.dtype)


def _expand(node: StructureNode, values: Sequence[Any]) -> Any:
    shape = np.broadcast_shapes(np.shape(values[0]), tuple(int(d) for d in np.ravel(values[1])))
    return np.broadcast_to(values[0], shape) if np.prod(shape) <= MAX_VALUES else None


_EVALUATORS: dict[str, Callable[[StructureNode, Sequence[Any]], Any]] = {
    "Cast": _cast,
    "Gather": _gather,
    "Concat": _concat,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Reshape": _reshape,
    "Slice": _slice,
    "ReduceProd": _product,
    "ReduceSum": _product,
    "ReduceMax": _product,
    "ReduceMin": _product,
    "Where": _where,
    "Max": _extreme,
    "Min": _extreme,
    "Mod": _mod,
    "ConstantOfShape": _filled,
    "Expand": _expand,
}
