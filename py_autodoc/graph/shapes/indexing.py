"""Indexing operators: Gather, Slice, Split, Pad, Tile, TopK, OneHot, NonZero."""

from __future__ import annotations

from typing import Any

import numpy as np

from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.graph.shapes.shape_context import (
    INT64,
    MAX_VALUE,
    InvalidNode,
    ShapeContext,
    assumptions,
    norm_axis,
    rule,
    small_sizes,
)
from py_autodoc.graph.symbolic_dims import dim_arithmetic

_OPEN_END = 10**8
"""Ends of at least this value mean "to the end"."""


@rule("Gather", folds=True)
def gather(op: ShapeContext) -> None:
    """Indices replace one dimension."""
    data, index = op.shape(0), op.shape(1)
    op.set(0, None, op.dtype(0))
    if data is None or index is None:
        return
    if not data:
        raise InvalidNode("shape-mismatch", "the data is a scalar")
    axis = op.axis(len(data))
    op.set(0, data[:axis] + index + data[axis + 1 :])
    value, indices = op.value(0), op.value(1)
    if indices is None or indices.dtype.kind not in "iu" or indices.size > MAX_VALUE:
        return
    _check_indices(indices, data[axis])
    if value is None:
        return
    try:
        op.set_value(0, np.take(value, indices, axis=axis))
    except (IndexError, ValueError):
        raise InvalidNode("bad-shape", f"an index is outside 0…{value.shape[axis] - 1}") from None


def _check_indices(indices: Any, size: Dim) -> None:
    """Check known indices against a known dimension. Raises: InvalidNode."""
    if (
        isinstance(size, int)
        and indices.size
        and not (-size <= int(indices.min()) and int(indices.max()) < size)
    ):
        raise InvalidNode("bad-shape", f"an index is outside 0…{size - 1}")


@rule("GatherElements")
def gather_elements(op: ShapeContext) -> None:
    """Shape of the indices."""
    op.set(0, op.shape(1), op.dtype(0))


@rule("GatherND")
def gather_nd(op: ShapeContext) -> None:
    """The last dimension of the indices is the number of indexed data dimensions."""
    op.set(0, None, op.dtype(0))
    data, index = op.shape(0), op.shape(1)
    if data is None or index is None or not index or not isinstance(index[-1], int):
        return
    used = op.int_attr("batch_dims", 0) + index[-1]
    if used > len(data):
        raise InvalidNode("shape-mismatch", f"indices address {used} dimensions of {len(data)}")
    op.set(0, index[:-1] + data[used:])


@rule("Slice", folds=True)
def slice_(op: ShapeContext) -> None:
    """Starts, ends, axes, steps: inputs from opset 10, attributes before."""
    op.set(0, None, op.dtype(0))
    shape = op.shape(0)
    if shape is None:
        return
    starts: tuple[Dim, ...] | None
    ends: tuple[Dim, ...] | None
    if op.opset < 10:
        starts, ends, axes = op.ints_attr("starts"), op.ints_attr("ends"), op.ints_attr("axes")
        steps: tuple[Dim, ...] | None = None
    else:
        starts, ends = op.dims_in(1), op.dims_in(2)
        axes, steps = op.ints_in(3), op.dims_in(4)
        if (op.has(3) and axes is None) or (op.has(4) and steps is None):
            op.set(0, _unknown_like(op, shape, axes))
            return
    if starts is None or ends is None:
        op.set(0, _unknown_like(op, shape, axes))
        return
    axes = axes if axes is not None else tuple(range(len(starts)))
    steps = steps if steps is not None else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise InvalidNode("bad-shape", "starts, ends, axes and steps differ in length")
    out = list(shape)
    for start, end, declared_axis, step in zip(starts, ends, axes, steps, strict=True):
        axis = norm_axis(declared_axis, len(shape))
        if step == 0:
            raise InvalidNode("bad-attribute", f"the step of axis {axis} is 0")
        walked, length = _loop_slice(op, out[axis], start, end) if step == 1 else (False, None)
        out[axis] = length if walked else slice_size(out[axis], start, end, step)
    op.set(0, tuple(out))
    _slice_value(op, starts, ends, axes, steps)


def _unknown_like(op: ShapeContext, shape: Shape, axes: tuple[int, ...] | None) -> Shape:
    """Only the sliced axes are unknown."""
    if axes is None:
        return (None,) * len(shape)
    sliced_axes = {norm_axis(a, len(shape)) for a in axes}
    return tuple(None if i in sliced_axes else d for i, d in enumerate(shape))


def _loop_slice(op: ShapeContext, size: Dim, start: Dim, end: Dim) -> tuple[bool, Dim]:
    """Return (whether a loop slices a dimension piece by piece, length of a piece).

    A loop is assumed to stay inside the dimension: the length is unknown only if the count is known to exceed
    it.
    """
    steps = op.state.steps
    if not steps or not isinstance(start, str) or not isinstance(end, str):
        return False, None
    names = [name for name in dim_arithmetic.symbols_of(start) if name in steps]
    length = dim_arithmetic.sub(end, start)
    if not names or not isinstance(length, int) or length <= 0:
        return False, None
    trips = {name: count - 1 for name in names if (count := steps[name]) is not None and count > 0}
    last = dim_arithmetic.substitute(end, trips) if len(trips) == len(names) else None
    exceeds = isinstance(last, int) and isinstance(size, int) and last > size
    return True, None if exceeds else length


def slice_size(size: Dim, start: Dim, end: Dim, step: Dim) -> Dim:
    """Return the length of ``[start:end:step]`` on a dimension; symbols are assumed to be large enough."""
    if not isinstance(step, int) or start is None or end is None:
        return None
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        return len(range(*slice(start, _open(end, step), step).indices(size)))
    if isinstance(start, int) and isinstance(end, int) and start >= 0 and step > 0 and end < _OPEN_END:
        if start >= end >= 0:
            return 0
        if size is None or (end > 1 and end > start):
            return _constant_window(size, start, end, step)
    if step < 0:
        is_reversal = step == -1 and start in (-1, size) and isinstance(end, int) and end < -_OPEN_END
        return size if is_reversal else None
    return _symbolic_window(size, start, end, step)


def _open(end: int, step: int) -> int | None:
    return None if step < 0 and end < -_OPEN_END else end


def _constant_window(size: Dim, start: int, end: int, step: int) -> Dim:
    """Handle ``[a:b]`` with 1 < b on a symbolic size: it may be smaller than b, so the length is unknown."""
    if size is None or isinstance(size, int):
        return None
    gap = dim_arithmetic.sub(size, end)
    return -(-(end - start) // step) if isinstance(gap, int) and gap >= 0 else None


def _symbolic_window(size: Dim, start: Dim, end: Dim, step: int) -> Dim:
    """Subtract expressions, for example ``[seq - 1:seq]`` → 1 and ``[1:]`` → ``seq - 1``.

    A symbolic end on a fixed buffer (``positions[:, :seq]``) is assumed to lie inside the buffer;
    once ``seq`` is bound, exact clamping applies.
    """
    if isinstance(start, int) and start < 0:
        start = dim_arithmetic.add(size, start)
        if isinstance(end, int) and 0 <= end < _OPEN_END:
            return None
    if isinstance(end, int) and end < 0:
        end = dim_arithmetic.add(size, end)
    elif isinstance(end, int) and end >= _OPEN_END:
        end = size
    elif end != size and isinstance(end, str):
        excess = dim_arithmetic.sub(end, size)
        if isinstance(excess, int):
            end = size if excess > 0 else end
        elif size is None or not (isinstance(size, int) or assumptions() or _within(end, size)):
            return None
    length = dim_arithmetic.sub(end, start)
    if isinstance(length, int):
        length = max(length, 0)
    assumed = assumptions()
    if assumed is not None:  # nothing is clamped
        ascending = [d for d in (0, start, end, size) if d is not None]
        if len(ascending) < 4 or not assumed.require_ascending(*ascending):
            return None
    return length if step == 1 or length is None else dim_arithmetic.ceildiv(length, step)


def _within(end: str, size: str) -> bool:
    """True if ``end`` <= ``size`` for all non-negative values of the symbols."""
    gap = dim_arithmetic.sub(size, end)
    if not isinstance(gap, str):
        return isinstance(gap, int) and gap >= 0
    return all(c >= 0 for c in dim_arithmetic.parse(gap).terms.values())


def _slice_value(
    op: ShapeContext,
    starts: tuple[Dim, ...],
    ends: tuple[Dim, ...],
    axes: tuple[int, ...],
    steps: tuple[Dim, ...],
) -> None:
    value = op.value(0)
    if value is None:
        return
    index: list[slice] = [slice(None)] * value.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if not (isinstance(start, int) and isinstance(end, int) and isinstance(step, int)):
            return
        index[norm_axis(axis, value.ndim)] = slice(start, _open(end, step), step)
    op.set_value(0, value[tuple(index)])


@rule("Split", folds=True)
def split(op: ShapeContext) -> None:
    """Equal parts, or the sizes given as attribute (before opset 13) or input."""
    n, shape = len(op.outputs), op.shape(0)
    for i in range(n):
        op.set(i, None, op.dtype(0))
    if op.int_attr("num_outputs", n) != n:
        raise InvalidNode(
            "bad-attribute", f"num_outputs is {op.int_attr('num_outputs', n)}, there are {n} outputs"
        )
    if shape is None:
        return
    axis = op.axis(len(shape))
    sizes: tuple[Dim, ...] | None = op.ints_attr("split")
    if op.has(1):
        sizes = op.dims_in(1) or (None,) * n
    if sizes is None:
        sizes = _equal_parts(shape[axis], n)
    if len(sizes) != n:
        raise InvalidNode("shape-mismatch", f"{len(sizes)} sizes for {n} outputs")
    total = dim_arithmetic.product((1,)) if None in sizes else sum(s for s in sizes if isinstance(s, int))
    if all(isinstance(s, int) for s in sizes) and isinstance(shape[axis], int) and total != shape[axis]:
        raise InvalidNode("shape-mismatch", f"parts {list(sizes)} do not add up to {shape[axis]}")
    value = op.value(0)
    offset = 0
    for i, size in enumerate(sizes):
        op.set(i, (*shape[:axis], size, *shape[axis + 1 :]))
        if value is not None and isinstance(size, int) and offset >= 0:
            op.set_value(i, np.take(value, range(offset, offset + size), axis=axis))
            offset += size
        else:
            offset = -1


def _equal_parts(size: Dim, n: int) -> tuple[Dim, ...]:
    """Chunks of ``ceil(size / n)``; the last may be smaller."""
    chunk = dim_arithmetic.ceildiv(size, n) if isinstance(size, int) else dim_arithmetic.floordiv(size, n)
    if isinstance(size, int) and isinstance(chunk, int):
        if n > 1 and size - chunk * (n - 1) < 0:
            raise InvalidNode("shape-mismatch", f"{size} cannot be split into {n} parts")
        return (chunk,) * (n - 1) + (size - chunk * (n - 1),)
    return (chunk,) * n if dim_arithmetic.mul(chunk, n) == size else (None,) * n


@rule("Pad")
def pad(op: ShapeContext) -> None:
    """Two amounts per axis, begins first."""
    op.set(0, None, op.dtype(0))
    shape = op.shape(0)
    if shape is None:
        return
    if op.opset < 11:
        pads: tuple[Dim, ...] | None = op.ints_attr("pads" if op.opset > 1 else "paddings")
    else:
        pads = op.dims_in(1)
    axes: tuple[int, ...] | None = tuple(range(len(shape)))
    if op.has(3):
        axes = op.ints_in(3)
    if pads is None or axes is None:
        op.set(0, (None,) * len(shape))
        return
    if len(pads) != 2 * len(axes):
        raise InvalidNode("bad-shape", f"{len(pads)} pads for {len(axes)} axes")
    out = list(shape)
    mirrored = op.text_attr("mode", "constant") == "reflect"
    for i, declared_axis in enumerate(axes):
        axis = norm_axis(declared_axis, len(shape))
        if mirrored:
            _check_mirror(shape[axis], (pads[i], pads[i + len(axes)]), axis)
        out[axis] = dim_arithmetic.add(out[axis], dim_arithmetic.add(pads[i], pads[i + len(axes)]))
        size = out[axis]
        if isinstance(size, int) and size < 0:
            raise InvalidNode("bad-shape", f"dimension {axis} would become {size}")
    op.set(0, tuple(out))


def _check_mirror(size: Dim, pads: tuple[Dim, Dim], axis: int) -> None:
    """Reflection excludes the edge, so it reaches size - 1 elements. Raises: InvalidNode."""
    for amount in pads:
        if isinstance(size, int) and isinstance(amount, int) and 0 < size <= amount:
            raise InvalidNode(
                "bad-shape", f"reflecting {amount} elements of dimension {axis}, which has {size}"
            )


@rule("Tile", folds=True)
def tile(op: ShapeContext) -> None:
    """Each dimension times its repeat."""
    op.set(0, None, op.dtype(0))
    shape = op.shape(0)
    if shape is None:
        return
    if op.opset < 6:
        tiles, axes = op.ints_in(1), op.ints_in(2)
        if tiles and axes:
            axis = norm_axis(axes[0], len(shape))
            op.set(0, (*shape[:axis], dim_arithmetic.mul(shape[axis], tiles[0]), *shape[axis + 1 :]))
        return
    repeats = op.dims_in(1)
    if repeats is None:
        op.set(0, (None,) * len(shape))
        return
    if len(repeats) != len(shape):
        raise InvalidNode("shape-mismatch", f"{len(repeats)} repeats for rank {len(shape)}")
    out = tuple(dim_arithmetic.mul(d, r) for d, r in zip(shape, repeats, strict=True))
    op.set(0, out)
    value = op.value(0)
    if value is not None and small_sizes(out) is not None:
        op.set_value(0, np.tile(value, tuple(r for r in repeats if isinstance(r, int))))


@rule("TopK")
def top_k(op: ShapeContext) -> None:
    """Values and int64 indices; k is an attribute before opset 10."""
    shape = op.shape(0)
    op.set(0, None, op.dtype(0))
    op.set(1, None, INT64)
    if shape is None:
        return
    axis = op.axis(len(shape), default=-1)
    k: Dim = op.int_attr("k", -1) if op.opset < 10 else _first_value(op.dims_in(1))
    size = shape[axis]
    if isinstance(k, int) and isinstance(size, int) and k > size:
        raise InvalidNode("bad-shape", f"the largest {k} of {size} elements")
    out = (*shape[:axis], k, *shape[axis + 1 :])
    op.set(0, out)
    op.set(1, out)


def _first_value(dims: tuple[Any, ...] | None) -> Dim:
    return dims[0] if dims else None


@rule("OneHot")
def one_hot(op: ShapeContext) -> None:
    """Indices with a new axis of ``depth``."""
    op.set(0, None, op.dtype(2))
    shape = op.shape(0)
    if shape is None:
        return
    axis = norm_axis(op.int_attr("axis", -1), len(shape) + 1)
    value = op.value(1)
    depth = None if value is None or value.size != 1 else value.reshape(-1).tolist()[0]
    if isinstance(depth, float):
        depth = int(depth)
    op.set(0, (*shape[:axis], depth, *shape[axis:]))


@rule("NonZero", folds=True)
def non_zero(op: ShapeContext) -> None:
    """[rank, count]; the count depends on data."""
    shape = op.shape(0)
    value = op.value(0)
    count: Dim = op.fresh(1)
    if value is not None and value.dtype != object:
        index = np.array(np.nonzero(value), dtype=np.int64)
        count = index.shape[1]
        op.set_value(0, index)
    op.set(0, (None if shape is None else max(len(shape), 0), count), INT64)


@rule("Compress")
def compress(op: ShapeContext) -> None:
    """The number of kept elements depends on data unless the condition is known."""
    shape, axis = op.shape(0), op.attrs.get("axis")
    cond = op.value(1)
    count: Dim = op.fresh(0)
    if axis is None:
        if cond is not None and cond.dtype != object:
            count = int(np.count_nonzero(cond))
        op.set(0, (count,), op.dtype(0))
        return
    op.set(0, None, op.dtype(0))
    if shape is not None:
        position = op.axis(len(shape))
        if cond is not None and cond.dtype != object:
            count = int(np.count_nonzero(cond))
        op.set(0, (*shape[:position], count, *shape[position + 1 :]))


@rule("Unique")
def unique(op: ShapeContext) -> None:
    """Values, first positions, inverse, counts; the number depends on data unless it is known."""
    shape, value = op.shape(0), op.value(0)
    count: Dim = op.fresh(0)
    for i in range(1, len(op.outputs)):
        op.set(i, (None,), INT64)
    if op.attrs.get("axis") is None:
        if value is not None and value.dtype.kind in "iufb":
            count = int(np.unique(value).size)
        op.set(0, (count,), op.dtype(0))
        op.set(2, (dim_arithmetic.product(shape) if shape is not None else None,))
    else:
        op.set(0, None, op.dtype(0))
        if shape is None:
            return
        position = op.axis(len(shape))
        if value is not None and value.dtype.kind in "iufb":
            count = int(np.unique(value, axis=position).shape[position])
        op.set(0, (*shape[:position], count, *shape[position + 1 :]))
        op.set(2, (shape[position],))
    op.set(1, (count,))
    op.set(3, (count,))


@rule("NonMaxSuppression")
def nms(op: ShapeContext) -> None:
    """[selected, 3]; the number selected depends on data."""
    op.set(0, (op.fresh(0), 3), INT64)
