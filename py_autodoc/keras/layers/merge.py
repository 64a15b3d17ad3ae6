"""Layers that combine several tensors into one."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import onnx_ir as ir

from py_autodoc.keras.conversion_errors import broken
from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layers.activation import number
from py_autodoc.keras.layers.shape import int_constant
from py_autodoc.keras.tensor import KerasTensor, Mask, Order, Shape, identity_order

_OPERATORS = {
    "Add": "Add", "Multiply": "Mul", "Subtract": "Sub", "Average": "Mean", "Maximum": "Max", "Minimum": "Min",
}  # fmt: skip
_SEVERAL = {"Mean", "Max", "Min"}


def aligned(call: LayerCall, tensors: list[KerasTensor]) -> tuple[list[ir.Value], Order]:
    """Return the values of tensors of one rank in a common axis order.

    It is that of the first tensor stored in another order than its shape.
    """
    order = next((one.order for one in tensors if not one.is_in_shape_order), identity_order(tensors[0].rank))
    return [call.builder.transposed(one, order) for one in tensors], order


def broadcast(call: LayerCall, shapes: list[Shape]) -> Shape:
    """Return the broadcast shape. Raises: InputError if the shapes do not fit."""
    shape: list[int | None] = []
    for sizes in zip(*shapes, strict=True):
        known = {size for size in sizes if size not in (None, 1)}
        if len(known) > 1:
            raise broken(
                call.file, f"{call.spec.label} joins the shapes {_shapes_text(shapes)}, which do not fit."
            )
        free = None in sizes
        shape.append(known.pop() if known else None if free else 1)
    return tuple(shape)


def _shapes_text(shapes: list[Shape]) -> str:
    return " and ".join("×".join("?" if one is None else str(one) for one in shape) for shape in shapes[:4])


def lifted(call: LayerCall, tensors: list[KerasTensor], axis: int) -> list[KerasTensor]:
    """Return tensors of one rank: smaller ones get axes of size 1 at ``axis``."""
    rank = max(one.rank for one in tensors)
    result = []
    for one in tensors:
        missing = rank - one.rank
        if missing:
            ordered = call.in_shape_order(one)
            value = call.builder.op(
                "Unsqueeze", ordered.value, int_constant(call, list(range(axis, axis + missing)))
            )
            shape = (*one.shape[:axis], *([1] * missing), *one.shape[axis:])
            one = replace(call.new_tensor(value, shape, kind=one.kind), mask=one.mask)
        result.append(one)
    return result


def _several(call: LayerCall) -> list[KerasTensor]:
    tensors = call.tensors()
    if len(tensors) < 2:
        raise broken(
            call.file, f"{call.spec.label} is called with {len(tensors)} tensors, and joins several."
        )
    return tensors


def joined_mask(call: LayerCall, tensors: list[KerasTensor]) -> Mask | None:
    """Combine masks: with "or" in Keras 3, with "and" over the tensors that have one in Keras 2."""
    masks = [one.mask for one in tensors if one.mask is not None]
    if call.major >= 3 and len(masks) < len(tensors):
        return None
    if len(masks) < 2:
        return masks[0] if masks else None
    operator = "Or" if call.major >= 3 else "And"

    def make() -> KerasTensor:
        first, *others = (call.in_shape_order(mask.tensor()) for mask in masks)
        value = reduce(
            lambda a, b: call.builder.op(operator, a, call.in_shape_order(b).value), others, first.value
        )
        return call.new_tensor(value, first.shape, kind=ir.DataType.BOOL)

    return call.lazily(make)


def _mask_of_steps(call: LayerCall, tensors: list[KerasTensor], axis: int) -> Mask | None:
    """Concatenate the masks like the steps."""
    masks = [one.mask for one in tensors if one.mask is not None]
    if not masks:
        return None

    def make() -> KerasTensor:
        if axis != 1 or len(masks) < len(tensors):
            raise call.refuse("of sequences that are masked in part")
        parts = [call.in_shape_order(mask.tensor()) for mask in masks]
        sizes = [one.shape[1] for one in parts]
        steps = None if None in sizes else sum(size or 0 for size in sizes)
        value = call.builder.op("Concat", *(one.value for one in parts), axis=1)
        return call.new_tensor(value, (parts[0].shape[0], steps), kind=ir.DataType.BOOL)

    return call.lazily(make)


@layer(*_OPERATORS)
def merge(call: LayerCall) -> KerasTensor:
    """Elementwise; tensors of smaller rank get axes of size 1 after the batch."""
    floats = [call.builder.cast(one, ir.DataType.FLOAT) for one in _several(call)]
    kind = _OPERATORS[call.spec.kind]
    if kind == "Sub" and len(floats) != 2:
        raise broken(call.file, f"{call.spec.label} is called with {len(floats)} tensors, and takes two.")
    tensors = lifted(call, floats, 1)
    shape = broadcast(call, [one.shape for one in tensors])
    values, order = aligned(call, tensors)
    if kind in _SEVERAL:
        value = call.builder.op(kind, *values)
    else:
        value = reduce(lambda a, b: call.builder.op(kind, a, b), values)
    return call.new_tensor(value, shape, order).masked(joined_mask(call, floats))


@layer("Concatenate")
def concatenate(call: LayerCall) -> KerasTensor:
    """Concatenation along an axis."""
    tensors = _several(call)
    if len({one.kind for one in tensors}) > 1:
        tensors = [call.builder.cast(one, ir.DataType.FLOAT) for one in tensors]
    first = tensors[0]
    if len({one.rank for one in tensors}) > 1:
        raise broken(
            call.file, f"{call.spec.label} joins the shapes {_shapes_text([one.shape for one in tensors])}."
        )
    axis = call.settings.axis("axis", first.rank)
    other_dims = [(*one.shape[:axis], 1, *one.shape[axis + 1 :]) for one in tensors]
    shape = list(broadcast(call, other_dims))
    sizes = [one.shape[axis] for one in tensors]
    shape[axis] = None if None in sizes else sum(size or 0 for size in sizes)
    values, order = aligned(call, tensors)
    value = call.builder.op("Concat", *values, axis=order.index(axis))
    result = call.new_tensor(value, tuple(shape), order, first.kind)
    last = axis == first.rank - 1
    return result.masked(joined_mask(call, tensors) if last else _mask_of_steps(call, tensors, axis))


@layer("Dot")
def dot(call: LayerCall) -> KerasTensor:
    """Batched product over one axis of each."""
    tensors = _several(call)
    if len(tensors) != 2 or any(one.rank not in (2, 3) for one in tensors):
        raise call.refuse("of other than two tensors with 2 or 3 axes")
    configured = call.spec.config.get("axes")
    axes = [configured, configured] if isinstance(configured, int) else configured
    if not isinstance(axes, list) or len(axes) != 2 or not all(isinstance(one, int) for one in axes):
        raise call.settings.wrong("axes", "one axis, or one for each tensor")
    sides = []
    for side, (one, axis) in enumerate(zip(tensors, axes, strict=True)):
        if not -one.rank <= axis < one.rank or axis % one.rank == 0:
            raise call.settings.wrong("axes", f"axes of a tensor of {one.rank}")
        sides.append(_side(call, call.builder.cast(one, ir.DataType.FLOAT), axis % one.rank, side))
    value = call.builder.op("MatMul", sides[0][0], sides[1][0])
    kept = [[size for at, size in enumerate(one.shape) if at not in (0, axis % one.rank)]
            for one, axis in zip(tensors, axes, strict=True)]  # fmt: skip
    shape: Shape = (tensors[0].shape[0], *kept[0], *kept[1])
    drop = [1] * (not kept[0]) + [2] * (not kept[1])
    if len(drop) == 2:
        drop, shape = [2], (*shape, 1)
    value = call.builder.op("Squeeze", value, int_constant(call, drop)) if drop else value
    return call.new_tensor(value, shape)


def _side(call: LayerCall, x: KerasTensor, axis: int, side: int) -> tuple[ir.Value, KerasTensor]:
    """Return a factor of a matrix product: the summed axis is last in the first, second in the other."""
    op = call.builder.op
    other = [at for at in range(1, x.rank) if at != axis]
    order = (0, *other, axis) if side == 0 else (0, axis, *other)
    value = call.builder.transposed(x, order)
    if call.settings.flag("normalize"):
        at = int_constant(call, [order.index(axis)])
        total = op("ReduceSum", op("Mul", value, value), at, keepdims=1)
        value = op("Div", value, op("Sqrt", op("Max", total, number(call, 1e-12))))
    if not other:
        value = op("Unsqueeze", value, int_constant(call, [1 if side == 0 else 2]))
    return value, x
