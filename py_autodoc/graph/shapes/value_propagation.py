"""Values of small tensors, numeric or symbolic, as far as shapes depend on them.

Numeric arrays keep their numpy type; arrays with symbols are object arrays of ints, expressions
and None. Nothing allocates more than ``MAX_VALUE`` elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx

from py_autodoc.graph.ir.model import Dim
from py_autodoc.graph.shapes.shape_context import (
    MAX_VALUE,
    ShapeContext,
    dims_array,
    numel,
    numeric,
    small_sizes,
)
from py_autodoc.graph.symbolic_dims import dim_arithmetic

__all__ = ["binary", "cast", "dims_array", "numel", "scalar", "unary", "variadic", "where"]

_INTEGERS = frozenset({2, 3, 4, 5, 6, 7, 12, 13})
_FLOATS = frozenset({1, 10, 11, 16})
_NUMPY: dict[int, Any] = {}


def numpy_type(dtype: int) -> Any:
    """Return the numpy type of an ONNX element type with value propagation, else None."""
    if dtype not in _NUMPY:
        usable = dtype in _INTEGERS or dtype in (1, 9, 10, 11)
        _NUMPY[dtype] = onnx.helper.tensor_dtype_to_np_dtype(dtype) if usable else None
    return _NUMPY[dtype]


def scalar(dim: Dim) -> Any:
    """Return a dimension as an array of rank 0, None if unknown."""
    if dim is None:
        return None
    return dims_array([dim]).reshape(())


def _erf(x: Any) -> Any:
    return np.vectorize(math.erf)(x)


_UNARY: dict[str, Callable[[Any], Any]] = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Ceil": np.ceil,
    "Floor": np.floor,
    "Round": np.rint,
    "Sqrt": np.sqrt,
    "Exp": np.exp,
    "Log": np.log,
    "Not": np.logical_not,
    "Reciprocal": np.reciprocal,
    "Sign": np.sign,
    "Relu": lambda x: np.maximum(x, 0),
    "Identity": lambda x: x,
    "BitwiseNot": np.invert,
}
_SYMBOLIC_KEEP = frozenset({"Identity", "Ceil", "Floor", "Round", "Abs", "Relu"})


def unary(op: ShapeContext) -> Any:
    """Return the value of a unary operator, or None."""
    x, kind = op.value(0), op.node.op_type
    if kind == "Identity":
        return x
    if not numeric(x):
        return x if kind in _SYMBOLIC_KEEP else None
    if kind in ("ScatterND", "ScatterElements"):
        return _scatter(op)
    if kind == "CumSum":
        return _cumsum(op)
    if kind == "Clip":
        return _clip(op)
    fn = _UNARY.get(kind)
    if fn is None or x.dtype.kind not in "fiub":
        return None
    with np.errstate(all="ignore"):
        return np.asarray(fn(x)).astype(x.dtype)


def _scatter(op: ShapeContext) -> Any:
    if op.node.op_type != "ScatterND" or op.text_attr("reduction", "none") != "none":
        return None
    data, index, updates = op.value(0), op.value(1), op.value(2)
    if index is None or updates is None or not numeric(index) or index.ndim < 1:
        return None
    out = data.astype(object) if updates.dtype == object else data.copy()
    try:
        for position in np.ndindex(*index.shape[:-1]):
            out[tuple(index[position].tolist())] = updates[position]
    except (IndexError, ValueError):
        return None
    return out


def _cumsum(op: ShapeContext) -> Any:
    axis = op.ints_in(1)
    if axis is None or len(axis) != 1 or op.int_attr("reverse", 0) or op.int_attr("exclusive", 0):
        return None
    x = op.value(0)
    return np.cumsum(x, axis=axis[0], dtype=x.dtype) if -x.ndim <= axis[0] < x.ndim else None


def _clip(op: ShapeContext) -> Any:
    x = op.value(0)
    low, high = op.attrs.get("min"), op.attrs.get("max")
    for i, bound in ((1, "low"), (2, "high")):
        if op.has(i):
            v = op.value(i)
            if not numeric(v) or v.size != 1:
                return None
            if bound == "low":
                low = v.item()
            else:
                high = v.item()
    if low is None and high is None:
        return x
    return np.clip(x, low, high).astype(x.dtype)


def _elementwise(fn: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Apply a function on dimensions to every pair of elements."""
    try:
        x, y = np.broadcast_arrays(a, b)
    except ValueError:
        return None
    if x.size > MAX_VALUE:
        return None
    out = np.empty(x.shape, dtype=object)
    flat = out.reshape(-1)
    for i, (p, q) in enumerate(zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True)):
        flat[i] = fn(_as_dim(p), _as_dim(q))
    return flat.reshape(x.shape)


def _as_dim(v: Any) -> Any:
    if isinstance(v, float):
        return int(v) if v.is_integer() and abs(v) < 1 << 53 else None
    return v if isinstance(v, (bool, int, str)) else None


def _divide(integer: bool) -> Callable[[Dim, Dim], Dim]:
    def div(a: Dim, b: Dim) -> Dim:
        q = dim_arithmetic.floordiv(a, b)
        return q if integer or dim_arithmetic.mul(q, b) == a else None

    return div


def _equal(a: Dim, b: Dim) -> Any:
    if a is None or b is None:
        return None
    if a == b:
        return True
    # A size is never negative, so "seq == -1" is decided even if seq is unknown.
    name, number = (a, b) if isinstance(a, str) else (b, a)
    if isinstance(name, str):
        lone = dim_arithmetic.symbols_of(name) == (name,)
        return False if lone and isinstance(number, int) and number < 0 else None
    return False


def _extreme(larger: bool) -> Callable[[Dim, Dim], Dim]:
    def pick(a: Dim, b: Dim) -> Dim:
        if a == b:
            return a
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b) if larger else min(a, b)
        return dim_arithmetic.extreme(larger, a, b)

    return pick


def _mod(a: Dim, b: Dim) -> Dim:
    return dim_arithmetic.sub(a, dim_arithmetic.mul(dim_arithmetic.floordiv(a, b), b))


def _order(test: Callable[[int], bool]) -> Callable[[Dim, Dim], Any]:
    def compare(a: Dim, b: Dim) -> Any:
        gap = dim_arithmetic.sub(a, b)
        return test(gap) if isinstance(gap, int) else None

    return compare


_NUMERIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Pow": np.power,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "Max": np.maximum,
    "Min": np.minimum,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
}
_SYMBOLIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": dim_arithmetic.add,
    "Sub": dim_arithmetic.sub,
    "Mul": dim_arithmetic.mul,
    "Equal": _equal,
    "Max": _extreme(True),
    "Min": _extreme(False),
    "Mod": _mod,
    "Greater": _order(lambda g: g > 0),
    "GreaterOrEqual": _order(lambda g: g >= 0),
    "Less": _order(lambda g: g < 0),
    "LessOrEqual": _order(lambda g: g <= 0),
}

FOLDED_UNARY = frozenset({*_UNARY, *_SYMBOLIC_KEEP, "Clip", "CumSum", "ScatterND"})
FOLDED_BINARY = frozenset({*_NUMERIC, "Div", "Mod"})
FOLDED_VARIADIC = frozenset({"Max", "Min", "Sum"})


def _numbers(kind: str, a: Any, b: Any, fmod: bool) -> Any:
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        return None
    try:
        if np.broadcast(a, b).size > MAX_VALUE:
            return None
    except ValueError:
        return None
    with np.errstate(all="ignore"):
        if kind in ("Div", "Mod") and a.dtype.kind in "iu" and not np.all(b):
            return None
        if kind == "Div":
            if a.dtype.kind in "iu":
                return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)
            return np.divide(a, b).astype(a.dtype)
        if kind == "Mod":
            return (np.fmod(a, b) if fmod else np.mod(a, b)).astype(a.dtype)
        fn = _NUMERIC.get(kind)
        if fn is None or (kind == "Pow" and a.dtype.kind in "iu" and np.any(b < 0)):
            return None
        out = np.asarray(fn(a, b))
        return out if out.dtype == bool else out.astype(a.dtype)


def binary(op: ShapeContext) -> Any:
    """Return the value of a binary operator if both inputs have values, else None."""
    a, b, kind = op.value(0), op.value(1), op.node.op_type
    if numeric(a) and numeric(b):
        return _numbers(kind, a, b, bool(op.int_attr("fmod", 0)) if kind == "Mod" else False)
    fn = _divide(op.dtype(0) in _INTEGERS) if kind == "Div" else _SYMBOLIC.get(kind)
    return None if fn is None else _elementwise(fn, a, b)


def variadic(op: ShapeContext) -> Any:
    """Return the value of Max, Min, Sum or Mean, or None."""
    total = op.value(0)
    kind = "Add" if op.node.op_type == "Sum" else op.node.op_type
    for i in range(1, len(op.inputs)):
        operand = op.value(i)
        if total is None or operand is None:
            return None
        if numeric(total) and numeric(operand):
            total = _numbers(kind, total, operand, False)
        else:
            fn = _SYMBOLIC.get(kind)
            total = None if fn is None else _elementwise(fn, total, operand)
    return None if kind == "Mean" else total


def where(op: ShapeContext) -> Any:
    """Return the value of Where; an undecided element is known if both choices agree."""
    cond, a, b = op.value(0), op.value(1), op.value(2)
    if cond is None or (a is None and b is None):
        return None
    if numeric(cond) and cond.size and (cond.all() or not cond.any()):
        chosen = a if cond.all() else b
        sizes = small_sizes(op.state.shapes[op.outputs[0]])
        return None if chosen is None or sizes is None else np.broadcast_to(chosen, sizes).copy()
    if a is None or b is None:
        return None
    try:
        c, x, y = np.broadcast_arrays(cond, a, b)
    except ValueError:
        return None
    if c.size > MAX_VALUE:
        return None
    if numeric(cond):
        if numeric(a) and numeric(b):
            return np.where(c, x, y).astype(a.dtype)
        return np.where(c, x.astype(object), y.astype(object))
    out = np.empty(c.shape, dtype=object)
    flat = out.reshape(-1)
    rows = zip(c.reshape(-1).tolist(), x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True)
    for i, (k, p, q) in enumerate(rows):
        flat[i] = (p if p == q else None) if k is None else p if k else q
    return flat.reshape(c.shape)


def cast(op: ShapeContext, to: int) -> Any:
    """Return the value after a cast; symbols survive casts between numbers."""
    x = op.value(0)
    if x.dtype == object:
        return x if to in _INTEGERS or to in _FLOATS else None
    target = numpy_type(to)
    if target is None or x.dtype.kind not in "fiub":
        return None
    with np.errstate(all="ignore"):
        return x.astype(target)
