"""Operators that regroup dimensions: Reshape, Squeeze, Transpose, Flatten, Expand, Concat, DepthToSpace."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.graph.shapes.shape_context import (
    InvalidNode,
    ShapeContext,
    agree,
    broadcast,
    norm_axis,
    numel,
    rule,
    small_sizes,
)
from py_autodoc.graph.symbolic_dims import dim_arithmetic


def _regroup(op: ShapeContext, shape: Shape) -> None:
    """Reshape a small value."""
    value, sizes = op.value(0), small_sizes(shape)
    if value is not None and sizes is not None and math.prod(sizes) == value.size:
        op.set_value(0, value.reshape(sizes))


def divide_dims(total: Shape, parts: tuple[Dim, ...]) -> Dim:
    """Return the dimension with which ``parts`` has as many elements as ``total``; None if unknown."""
    numerator, denominator = list(total), []
    for d in parts:
        if d is not None and d != 0 and d in numerator:
            numerator.remove(d)
        else:
            denominator.append(d)
    if None in numerator or None in denominator:
        return None
    num, den = dim_arithmetic.product(numerator), dim_arithmetic.product(denominator)
    if num is None or den is None or den == 0:
        return None
    quotient = dim_arithmetic.floordiv(num, den)
    return quotient if dim_arithmetic.mul(quotient, den) == num else None


@rule("Reshape", folds=True)
def reshape(op: ShapeContext) -> None:
    """0 copies a dimension (unless ``allowzero``), a single -1 is inferred."""
    op.set(0, None, op.dtype(0))
    shape = op.shape(0)
    target = op.dims_in(1) if op.has(1) else op.ints_attr("shape")
    if target is None:
        return
    allow_zero = bool(op.int_attr("allowzero", 0))
    out: list[Dim] = []
    minus: list[int] = []
    for i, d in enumerate(target):
        if d == 0 and not allow_zero:
            out.append(_copied(shape, i))
        elif isinstance(d, int) and d < 0:
            if d != -1:
                raise InvalidNode("bad-shape", f"the new shape {list(target)} holds {d}")
            minus.append(i)
            out.append(None)
        else:
            out.append(d)
    if len(minus) > 1:
        raise InvalidNode("bad-shape", f"the new shape {list(target)} has more than one -1")
    if shape is not None:
        _solve(shape, out, minus)
    op.set(0, tuple(out))
    _regroup(op, tuple(out))


def _copied(shape: Shape | None, i: int) -> Dim:
    if shape is None:
        return None
    if i >= len(shape):
        raise InvalidNode("bad-shape", f"the new shape copies dimension {i} of a tensor of rank {len(shape)}")
    return shape[i]


def _solve(shape: Shape, out: list[Dim], minus: list[int]) -> None:
    """Find the unknown dimension and check that the element counts agree."""
    unknown = minus or [i for i, d in enumerate(out) if d is None]
    if len(unknown) == 1:
        other_dims = tuple(out[: unknown[0]] + out[unknown[0] + 1 :])
        total, count = numel(shape), dim_arithmetic.product(other_dims)
        if isinstance(total, int) and isinstance(count, int) and count and total % count:
            raise InvalidNode(
                "shape-mismatch",
                f"{total:,} elements do not fit {list(other_dims)} and one inferred dimension",
            )
        out[unknown[0]] = divide_dims(shape, other_dims)
    elif not unknown:
        total, count = numel(shape), dim_arithmetic.product(out)
        if isinstance(total, int) and isinstance(count, int) and total != count:
            raise InvalidNode(
                "shape-mismatch", f"{list(shape)} has {total:,} elements, {list(out)} has {count:,}"
            )
        agree(total, count)


def _axes(op: ShapeContext) -> tuple[int, ...] | None:
    """Return the axes of Squeeze and Unsqueeze; None if they are an unknown input."""
    if op.has(1):
        return op.ints_in(1)
    return op.ints_attr("axes")


@rule("Squeeze", folds=True)
def squeeze(op: ShapeContext) -> None:
    """Remove the given axes, or all dimensions of 1."""
    op.set(0, None, op.dtype(0))
    shape, axes = op.shape(0), _axes(op)
    if shape is None or (axes is None and op.has(1)):
        return
    if axes is None:
        if not all(isinstance(d, int) for d in shape):
            return
        out = tuple(d for d in shape if d != 1)
    else:
        drop = {norm_axis(a, len(shape)) for a in axes}
        for a in drop:
            if isinstance(shape[a], int) and shape[a] != 1:
                raise InvalidNode("shape-mismatch", f"axis {a} has size {shape[a]}, it cannot be squeezed")
            if not agree(shape[a], 1):
                return
        out = tuple(d for i, d in enumerate(shape) if i not in drop)
    op.set(0, out)
    _regroup(op, out)


@rule("Unsqueeze", folds=True)
def unsqueeze(op: ShapeContext) -> None:
    """Insert dimensions of 1."""
    op.set(0, None, op.dtype(0))
    shape, axes = op.shape(0), _axes(op)
    if shape is None or axes is None:
        return
    rank = len(shape) + len(axes)
    new_axes = {norm_axis(a, rank) for a in axes}
    if len(new_axes) != len(axes):
        raise InvalidNode("bad-attribute", f"axes {list(axes)} name one place twice")
    remaining = iter(shape)
    out = tuple(1 if i in new_axes else next(remaining) for i in range(rank))
    op.set(0, out)
    _regroup(op, out)


@rule("Flatten", folds=True)
def flatten(op: ShapeContext) -> None:
    """Two dimensions: the products before and after the axis."""
    op.set(0, (None, None), op.dtype(0))
    shape = op.shape(0)
    if shape is None:
        return
    axis = op.int_attr("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise InvalidNode("bad-attribute", f"axis {axis} is out of range for rank {len(shape)}")
    axis += len(shape) if axis < 0 else 0
    out = (dim_arithmetic.product(shape[:axis]), dim_arithmetic.product(shape[axis:]))
    op.set(0, out)
    _regroup(op, out)


@rule("Transpose", folds=True)
def transpose(op: ShapeContext) -> None:
    """Permute axes; without ``perm`` reverse them."""
    op.set(0, None, op.dtype(0))
    shape, perm = op.shape(0), op.ints_attr("perm")
    if shape is None:
        if perm is not None:
            op.set(0, (None,) * len(perm))
        return
    perm = perm if perm is not None else tuple(range(len(shape)))[::-1]
    if sorted(perm) != list(range(len(shape))):
        raise InvalidNode("bad-attribute", f"perm {list(perm)} is not a permutation of {len(shape)} axes")
    op.set(0, tuple(shape[p] for p in perm))
    value = op.value(0)
    if value is not None:
        op.set_value(0, value.transpose(perm))


@rule("Expand", folds=True)
def expand(op: ShapeContext) -> None:
    """Broadcast to a shape given by a tensor."""
    op.set(0, None, op.dtype(0))
    shape, target = op.shape(0), op.dims_in(1)
    if shape is None or target is None:
        return
    op.set(0, broadcast(shape, target))
    value, out = op.value(0), op.state.shapes[op.outputs[0]]
    if value is not None and out is not None:
        op.set_value(0, stretched(value, out))


def stretched(value: Any, shape: Shape) -> Any:
    """Return a small value broadcast to a small known shape, else None."""
    sizes = small_sizes(shape)
    return None if sizes is None else np.broadcast_to(value, sizes).copy()


@rule("DepthToSpace", "SpaceToDepth")
def depth_space(op: ShapeContext) -> None:
    """Move blocks between channels and spatial axes, [N, C, H, W]."""
    op.set(0, None, op.dtype(0))
    shape, block = op.shape(0), op.int_attr("blocksize", 0)
    if block <= 0:
        raise InvalidNode("bad-attribute", f"blocksize is {block}")
    if shape is None:
        return
    if len(shape) != 4:
        raise InvalidNode("shape-mismatch", f"the input has rank {len(shape)}, not 4")
    n, c, h, w = shape
    if op.node.op_type == "DepthToSpace":
        out = (
            n,
            dim_arithmetic.floordiv(c, block * block),
            dim_arithmetic.mul(h, block),
            dim_arithmetic.mul(w, block),
        )
    else:
        out = (
            n,
            dim_arithmetic.mul(c, block * block),
            dim_arithmetic.floordiv(h, block),
            dim_arithmetic.floordiv(w, block),
        )
    op.set(0, out)


@rule("Concat", folds=True)
def concat(op: ShapeContext) -> None:
    """Dimensions add up along the axis and agree elsewhere."""
    n = len(op.inputs)
    op.set(0, None, next((op.dtype(i) for i in range(n) if op.dtype(i)), 0))
    shapes = [op.shape(i) for i in range(n)]
    known_shapes = [s for s in shapes if s is not None]
    if not known_shapes:
        return
    rank = len(known_shapes[0])
    if any(len(s) != rank for s in known_shapes):
        raise InvalidNode("shape-mismatch", f"inputs have ranks {sorted({len(s) for s in known_shapes})}")
    axis = op.axis(rank, default=1 if op.opset < 4 else 0)
    out = list(known_shapes[0])
    for s in known_shapes[1:]:
        for i, d in enumerate(s):
            if i != axis:
                out[i] = _agree(out[i], d, i)
    sizes = [None if s is None else s[axis] for s in shapes]
    out[axis] = None if None in sizes else sum_dims(sizes)
    op.set(0, tuple(out))
    _concat_value(op, axis, rank)


def sum_dims(sizes: list[Dim]) -> Dim:
    """Return the sum of dimensions, numbers first to keep long lists cheap."""
    total: Dim = sum(s for s in sizes if isinstance(s, int))
    for s in sizes:
        if not isinstance(s, int):
            total = dim_arithmetic.add(total, s)
    return total


def _agree(a: Dim, b: Dim, axis: int) -> Dim:
    if isinstance(a, int) and isinstance(b, int) and a != b:
        raise InvalidNode("shape-mismatch", f"inputs differ in dimension {axis}: {a} and {b}")
    agree(a, b)
    return a if isinstance(a, int) or b is None else b if isinstance(b, int) or a is None else a


def _concat_value(op: ShapeContext, axis: int, rank: int) -> None:
    """Concatenate values; an input with known length but unknown value gives unknown elements."""
    values, size = [], 0
    for i in range(len(op.inputs)):
        v = op.value(i)
        if v is None:
            dims = op.dims_in(i) if rank == 1 else None
            if dims is None or len(op.inputs) > 64:
                return
            v = np.array(dims, dtype=object)
        size += v.size
        if size > 1024 or v.ndim != rank:
            return
        values.append(v)
    if any(v.dtype == object for v in values):
        values = [v.astype(object) for v in values]
    try:
        op.set_value(0, np.concatenate(values, axis=axis))
    except ValueError:
        return
