"""Sequences and optionals, with the type of each item where known."""

from __future__ import annotations

import numpy as np

from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.graph.shapes.shape_context import BOOL, FLOAT, INT64, Element, ShapeContext, norm_axis, rule
from py_autodoc.graph.symbolic_dims import dim_arithmetic

Item = tuple[int, Shape | None]
MAX_ITEMS = 256


def common(items: tuple[Item, ...]) -> Item:
    """Return the common type of all items; differing sizes and ranks become unknown."""
    dtype, shape = items[0] if items else (0, None)
    for item_dtype, item_shape in items[1:]:
        dtype = dtype if dtype == item_dtype else 0
        if shape is None or item_shape is None or len(item_shape) != len(shape):
            shape = None
        else:
            shape = tuple(a if a == b else None for a, b in zip(shape, item_shape, strict=True))
    return dtype, shape


def _store(op: ShapeContext, element: Element, out: int = 0) -> None:
    if op.has_out(out):
        op.state.elements[op.outputs[out]] = element
        op.state.dtypes[op.outputs[out]] = element.dtype


def _of_items(items: tuple[Item, ...], dtype: int = 0) -> Element:
    common_dtype, shape = common(items)
    return Element("sequence", common_dtype or dtype, shape, items if len(items) <= MAX_ITEMS else None)


def _element(op: ShapeContext, i: int = 0) -> Element | None:
    return op.state.elements.get(op.inputs[i]) if op.has(i) else None


@rule("SequenceConstruct")
def construct(op: ShapeContext) -> None:
    """A sequence of the inputs."""
    _store(op, _of_items(tuple((op.dtype(i), op.shape(i)) for i in range(len(op.inputs)))))


@rule("SequenceEmpty")
def empty(op: ShapeContext) -> None:
    """An empty sequence."""
    _store(op, Element("sequence", op.int_attr("dtype", FLOAT), None, ()))


def _position(op: ShapeContext, i: int, length: int) -> int | None:
    values = op.ints_in(i)
    if values is None or len(values) != 1:
        return None
    return values[0] + length if values[0] < 0 else values[0]


@rule("SequenceAt")
def sequence_at(op: ShapeContext) -> None:
    """One item, or the common type of all."""
    e = _element(op)
    if e is None:
        return
    dtype, shape = e.dtype, e.shape
    if e.items is not None:
        i = _position(op, 1, len(e.items))
        if i is not None and 0 <= i < len(e.items):
            dtype, shape = e.items[i]
    op.set(0, shape, dtype)


@rule("SequenceInsert")
def insert(op: ShapeContext) -> None:
    """Insert an item; without a position at the end."""
    e = _element(op)
    new = (op.dtype(1), op.shape(1))
    if e is None or e.items is None:
        merged = common((new, (e.dtype, e.shape))) if e is not None else (new[0], None)
        _store(op, Element("sequence", *merged))
        return
    i = len(e.items) if not op.has(2) else _position(op, 2, len(e.items))
    if i is None:
        _store(op, Element("sequence", *common((new, *e.items))))
    else:
        _store(op, _of_items((*e.items[:i], new, *e.items[i:]), e.dtype))


@rule("SequenceErase")
def erase(op: ShapeContext) -> None:
    """Remove an item; without a position the last."""
    e = _element(op)
    if e is None:
        return
    i = None if e.items is None else len(e.items) - 1 if not op.has(1) else _position(op, 1, len(e.items))
    if e.items is None or i is None:
        _store(op, Element("sequence", e.dtype, e.shape))
    else:
        _store(op, _of_items(e.items[:i] + e.items[i + 1 :], e.dtype))


@rule("SequenceLength", folds=True)
def length(op: ShapeContext) -> None:
    """The length as a scalar."""
    op.set(0, (), INT64)
    e = _element(op)
    if e is not None and e.items is not None:
        op.set_value(0, np.array(len(e.items), dtype=np.int64))


@rule("SplitToSequence")
def split_to_sequence(op: ShapeContext) -> None:
    """Parts of a given size, or of given sizes; a scalar split repeats to the end of the axis."""
    shape, dtype = op.shape(0), op.dtype(0)
    if shape is None:
        _store(op, Element("sequence", dtype, None))
        return
    axis = op.axis(len(shape))
    size, keepdims = shape[axis], bool(op.int_attr("keepdims", 1))
    sizes = _split_sizes(op, size)
    squeeze = not keepdims and not op.has(1)

    def item(d: Dim) -> Item:
        return dtype, shape[:axis] + (() if squeeze else (d,)) + shape[axis + 1 :]

    if sizes is None or len(sizes) > MAX_ITEMS:
        size_in_axis = 1 if not op.has(1) else None
        _store(op, Element("sequence", *item(size_in_axis)))
    else:
        _store(op, _of_items(tuple(item(d) for d in sizes), dtype))


def _split_sizes(op: ShapeContext, size: Dim) -> tuple[Dim, ...] | None:
    if not op.has(1):
        return (1,) * size if isinstance(size, int) and size <= MAX_ITEMS else None
    sizes = op.ints_in(1)
    if sizes is None:
        return None
    if op.rank(1) == 0:
        step = sizes[0]
        if not isinstance(size, int) or step <= 0 or size // step > MAX_ITEMS:
            return None
        return tuple(min(step, size - i) for i in range(0, size, step))
    return sizes


@rule("ConcatFromSequence")
def concat_from(op: ShapeContext) -> None:
    """Concatenate the items, or stack them along a new axis."""
    e = _element(op)
    if e is None:
        return
    op.set(0, None, e.dtype)
    if e.shape is None:
        return
    new = bool(op.int_attr("new_axis", 0))
    axis = norm_axis(op.int_attr("axis", 0), len(e.shape) + new)
    if new:
        count: Dim = len(e.items) if e.items is not None else op.fresh(axis)
        op.set(0, (*e.shape[:axis], count, *e.shape[axis:]))
        return
    total: Dim = 0 if e.items is not None else None
    for _, s in e.items or ():
        total = dim_arithmetic.add(total, s[axis] if s is not None else None)
    op.set(0, (*e.shape[:axis], total, *e.shape[axis + 1 :]))


@rule("Optional")
def optional(op: ShapeContext) -> None:
    """Wrap a tensor or a sequence; without an input it is empty."""
    inner = _element(op)
    if inner is not None:
        _store(op, inner)
    elif op.has(0):
        _store(op, Element("optional", op.dtype(0), op.shape(0)))


@rule("OptionalGetElement")
def optional_get(op: ShapeContext) -> None:
    """Unwrap; a plain tensor is returned unchanged."""
    inner = _element(op)
    if inner is None:
        op.same()
    elif inner.container == "sequence":
        _store(op, inner)
    else:
        op.set(0, inner.shape, inner.dtype)


@rule("OptionalHasElement")
def optional_has(op: ShapeContext) -> None:
    """A boolean scalar."""
    op.set(0, (), BOOL)
