"""Reductions, and operators that create tensors: Reduce*, ArgMax, Constant, Range, random, windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from py_autodoc.graph.ir.model import ConstTensor, Dim, Shape
from py_autodoc.graph.operators.reductions import REDUCTIONS
from py_autodoc.graph.shapes.shape_context import (
    FLOAT,
    INT64,
    MAX_VALUE,
    STRING,
    InvalidNode,
    ShapeContext,
    dims_array,
    norm_axis,
    numeric,
    rule,
    small_sizes,
)
from py_autodoc.graph.symbolic_dims import dim_arithmetic

_FOLDED: dict[str, Any] = {
    "ReduceProd": np.prod,
    "ReduceSum": np.sum,
    "ReduceMax": np.max,
    "ReduceMin": np.min,
}


def reduced(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """Return the shape without the reduced axes, or with 1 for them."""
    reduced_axes = {norm_axis(a, len(shape)) for a in axes}
    if keepdims:
        return tuple(1 if i in reduced_axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in reduced_axes)


@rule(*REDUCTIONS, folds=_FOLDED)
def reduce(op: ShapeContext) -> None:
    """Axes are an attribute, or an input (ReduceSum 13, the others 18); none means all."""
    op.set(0, None, op.dtype(0))
    shape, keepdims = op.shape(0), bool(op.int_attr("keepdims", 1))
    if shape is None:
        return
    if op.has(1):
        axes = op.ints_in(1)
        if axes is None:
            op.set(0, _partly(op, shape, keepdims))
            return
    else:
        axes = op.ints_attr("axes")
    if not axes:
        if op.int_attr("noop_with_empty_axes", 0):
            op.set(0, shape)
            return
        axes = tuple(range(len(shape)))
    op.set(0, reduced(shape, axes, keepdims))
    value = op.value(0)
    if value is not None:
        op.set_value(0, _reduced_value(op.node.op_type, value, axes, keepdims))


def _partly(op: ShapeContext, shape: Shape, keepdims: bool) -> Shape | None:
    """Handle computed axes: the rank is known if dimensions are kept or the number of axes is known."""
    if keepdims:
        return (None,) * len(shape)
    count = op.shape(1)
    if count is not None and len(count) == 1 and isinstance(count[0], int) and 0 < count[0] <= len(shape):
        return (None,) * (len(shape) - count[0])
    return None


def _reduced_value(kind: str, value: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if numeric(value) and value.dtype.kind in "iuf" and value.size:
        fn = _FOLDED.get(kind)
        if fn is None:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(fn(value, axis=axes, keepdims=keepdims)).astype(value.dtype)
    if kind not in ("ReduceProd", "ReduceSum") or value.ndim != 1 or value.dtype != object:
        return None
    total: Dim = 1 if kind == "ReduceProd" else 0
    for v in value.tolist():
        total = dim_arithmetic.mul(total, v) if kind == "ReduceProd" else dim_arithmetic.add(total, v)
    return dims_array([total]).reshape((1,) if keepdims else ())


@rule("ArgMax", "ArgMin")
def arg_extreme(op: ShapeContext) -> None:
    """int64 positions along one axis."""
    op.set(0, None, INT64)
    shape = op.shape(0)
    if shape is not None:
        op.set(0, reduced(shape, (op.axis(len(shape)),), bool(op.int_attr("keepdims", 1))))


@rule("Constant", folds=True)
def constant(op: ShapeContext) -> None:
    """One attribute holds the value."""
    a = op.attrs
    tensor = a.get("value") if a.get("value") is not None else a.get("sparse_value")
    if isinstance(tensor, ConstTensor):
        op.set(0, tensor.shape, tensor.dtype)
        sizes = small_sizes(tensor.shape)
        values = tensor.values
        if values is None:  # in an external file
            values = op.state.model.constants.get(op.node.outputs[0])
        if values is not None and sizes is not None:
            op.set_value(0, np.asarray(values).reshape(sizes))
        return
    for name, dtype, kind in (("value_int", INT64, np.int64), ("value_float", FLOAT, np.float32)):
        if a.get(name) is not None:
            op.set(0, (), dtype)
            op.set_value(0, np.array(a[name], dtype=kind))
        elif a.get(f"{name}s") is not None:
            op.set(0, (len(a[f"{name}s"]),), dtype)
            if len(a[f"{name}s"]) <= MAX_VALUE:
                op.set_value(0, np.array(a[f"{name}s"], dtype=kind))
    if a.get("value_string") is not None:
        op.set(0, (), STRING)
    elif a.get("value_strings") is not None:
        op.set(0, (len(a["value_strings"]),), STRING)


@rule("ConstantOfShape", folds=True)
def constant_of_shape(op: ShapeContext) -> None:
    """A tensor filled with one value; never allocates more than ``MAX_VALUE`` elements."""
    fill = op.attrs.get("value")
    dtype = fill.dtype if isinstance(fill, ConstTensor) else FLOAT
    op.set(0, None, dtype)
    dims = op.dims_in(0)
    if dims is None:
        return
    if any(isinstance(d, int) and d < 0 for d in dims):
        raise InvalidNode("bad-shape", f"the shape {list(dims)} has a negative size")
    op.set(0, dims)
    sizes = small_sizes(dims)
    value: Any = 0.0 if fill is None else None
    if isinstance(fill, ConstTensor) and fill.values is not None and np.size(fill.values) == 1:
        value = np.asarray(fill.values).reshape(())
    if sizes is not None and value is not None:
        op.set_value(0, np.full(sizes, value, dtype=None if fill is not None else np.float32))


@rule("Range", folds=True)
def range_(op: ShapeContext) -> None:
    """``ceil((limit - start) / delta)`` elements."""
    op.set(0, (op.fresh(),), op.dtype(0) or op.dtype(1))
    start, limit, delta = (_scalar(op, i) for i in range(3))
    if start is None or limit is None or delta is None:
        return
    if delta == 0:
        raise InvalidNode("bad-attribute", "the step is 0")
    if isinstance(start, str) or isinstance(limit, str) or isinstance(delta, str):
        if isinstance(delta, int) and not isinstance(start, float) and not isinstance(limit, float):
            span = dim_arithmetic.sub(limit, start) if delta > 0 else dim_arithmetic.sub(start, limit)
            count = dim_arithmetic.ceildiv(span, abs(delta))
            op.set(0, (max(count, 0) if isinstance(count, int) else count or op.fresh(),))
        return
    n = _count(start, limit, delta)
    if n is None:
        return
    op.set(0, (n,))
    if n <= MAX_VALUE:
        op.set_value(0, (np.arange(n) * delta + start).astype(op.value(0).dtype))


def _count(start: float, limit: float, delta: float) -> int | None:
    if all(isinstance(v, int) for v in (start, limit, delta)):
        return max(-int((start - limit) // delta), 0)
    n = (limit - start) / delta
    return max(math.ceil(n), 0) if math.isfinite(n) else None


def _scalar(op: ShapeContext, i: int) -> Any:
    value = op.value(i)
    return None if value is None or value.size != 1 else value.reshape(-1).tolist()[0]


@rule("EyeLike", "RandomNormalLike", "RandomUniformLike", "Bernoulli")
def like(op: ShapeContext) -> None:
    """Shape of the input, type from the attribute if present."""
    op.set(0, op.shape(0), op.int_attr("dtype", 0) or op.dtype(0))


@rule("RandomNormal", "RandomUniform")
def random(op: ShapeContext) -> None:
    """Shape from the attribute."""
    shape = op.ints_attr("shape")
    if shape is not None and any(d < 0 for d in shape):
        raise InvalidNode("bad-attribute", f"shape {list(shape)} has a negative size")
    op.set(0, shape, op.int_attr("dtype", FLOAT))


@rule("Multinomial")
def multinomial(op: ShapeContext) -> None:
    """[batch, samples]."""
    shape = op.shape(0)
    op.set(0, (shape[0] if shape else None, op.int_attr("sample_size", 1)), op.int_attr("dtype", 6))


@rule("Det")
def det(op: ShapeContext) -> None:
    """Drops the last two axes."""
    shape = op.shape(0)
    op.set(0, shape[:-2] if shape is not None else None, op.dtype(0))
