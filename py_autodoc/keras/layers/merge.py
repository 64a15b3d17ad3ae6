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
    order = next(
        (tensor.order for tensor in tensors if not tensor.is_in_shape_order), identity_order(tensors[0].rank)
    )
    return [call.builder.transposed(tensor, order) for tensor in tensors], order


def broadcast(call: LayerCall, shapes: list[Shape]) -> Shape:
    """Return the broadcast shape. Raises: InputError if the shapes do not fit."""
    shape: list[int | None] = []
    for sizes in zip(*shapes, strict=True):
        known_sizes = {size for size in sizes if size not in (None, 1)}
        if len(known_sizes) > 1:
            raise broken(
                call.file, f"{call.spec.label} joins the shapes {_shapes_text(shapes)}, which do not fit."
            )
        free = None in sizes
        shape.append(known_sizes.pop() if known_sizes else None if free else 1)
    return tuple(shape)


def _shapes_text(shapes: list[Shape]) -> str:
    return " and ".join(
        "×".join("?" if size is None else str(size) for size in shape) for shape in shapes[:4]
    )


def lifted(call: LayerCall, tensors: list[KerasTensor], axis: int) -> list[KerasTensor]:
    """Return tensors of one rank: smaller ones get axes of size 1 at ``axis``."""
    rank = max(tensor.rank for tensor in tensors)
    result = []
    for tensor in tensors:
        missing = rank - tensor.rank
        if missing:
            ordered = call.in_shape_order(tensor)
            value = call.builder.op(
                "Unsqueeze", ordered.value, int_constant(call, list(range(axis, axis + missing)))
            )
            shape = (*tensor.shape[:axis], *([1] * missing), *tensor.shape[axis:])
            tensor = replace(call.new_tensor(value, shape, kind=tensor.kind), mask=tensor.mask)
        result.append(tensor)
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
    masks = [tensor.mask for tensor in tensors if tensor.mask is not None]
    if call.major >= 3 and len(masks) < len(tensors):
        return None
    if len(masks) < 2:
        return masks[0] if masks else None
    operator = "Or" if call.major >= 3 else "And"

    def compute_mask() -> KerasTensor:
        first, *rest_of_masks = (call.in_shape_order(mask.tensor()) for mask in masks)
        value = reduce(
            lambda a, b: call.builder.op(operator, a, call.in_shape_order(b).value),
            rest_of_masks,
            first.value,
        )
        return call.new_tensor(value, first.shape, kind=ir.DataType.BOOL)

    return call.lazily(compute_mask)


def _mask_of_steps(call: LayerCall, tensors: list[KerasTensor], axis: int) -> Mask | None:
    """Concatenate the masks like the steps."""
    masks = [tensor.mask for tensor in tensors if tensor.mask is not None]
    if not masks:
        return None

    def compute_mask() -> KerasTensor:
        if axis != 1 or len(masks) < len(tensors):
            raise call.refuse("of sequences that are masked in part")
        parts = [call.in_shape_order(mask.tensor()) for mask in masks]
        sizes = [part_mask.shape[1] for part_mask in parts]
        steps = None if None in sizes else sum(size or 0 for size in sizes)
        value = call.builder.op("Concat", *(part_mask.value for part_mask in parts), axis=1)
        return call.new_tensor(value, (parts[0].shape[0], steps), kind=ir.DataType.BOOL)

    return call.lazily(compute_mask)


@layer(*_OPERATORS)
def merge(call: LayerCall) -> KerasTensor:
    """Elementwise; tensors of smaller rank get axes of size 1 after the batch."""
    floats = [call.builder.cast(tensor, ir.DataType.FLOAT) for tensor in _several(call)]
    kind = _OPERATORS[call.spec.kind]
    if kind == "Sub" and len(floats) != 2:
        raise broken(call.file, f"{call.spec.label} is called with {len(floats)} tensors, and takes two.")
    tensors = lifted(call, floats, 1)
    shape = broadcast(call, [tensor.shape for tensor in tensors])
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
    if len({tensor.kind for tensor in tensors}) > 1:
        tensors = [call.builder.cast(tensor, ir.DataType.FLOAT) for tensor in tensors]
    first = tensors[0]
    if len({tensor.rank for tensor in tensors}) > 1:
        raise broken(
            call.file,
            f"{call.spec.label} joins the shapes {_shapes_text([tensor.shape for tensor in tensors])}.",
        )
    axis = call.settings.axis("axis", first.rank)
    other_dims = [(*tensor.shape[:axis], 1, *tensor.shape[axis + 1 :]) for tensor in tensors]
    shape = list(broadcast(call, other_dims))
    sizes = [tensor.shape[axis] for tensor in tensors]
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
    if len(tensors) != 2 or any(tensor.rank not in (2, 3) for tensor in tensors):
        raise call.refuse("of other than two tensors with 2 or 3 axes")
    configured = call.spec.config.get("axes")
    axes = [configured, configured] if isinstance(configured, int) else configured
    if not isinstance(axes, list) or len(axes) != 2 or not all(isinstance(axis, int) for axis in axes):
        raise call.settings.wrong("axes", "one axis, or one for each tensor")
    factors = []
    for index, (tensor, axis) in enumerate(zip(tensors, axes, strict=True)):
        if not -tensor.rank <= axis < tensor.rank or axis % tensor.rank == 0:
            raise call.settings.wrong("axes", f"axes of a tensor of {tensor.rank}")
        factors.append(_factor(call, call.builder.cast(tensor, ir.DataType.FLOAT), axis % tensor.rank, index))
    value = call.builder.op("MatMul", factors[0][0], factors[1][0])
    kept_sizes = [
        [size for number, size in enumerate(tensor.shape) if number not in (0, axis % tensor.rank)]
        for tensor, axis in zip(tensors, axes, strict=True)
    ]
    shape: Shape = (tensors[0].shape[0], *kept_sizes[0], *kept_sizes[1])
    drop = [1] * (not kept_sizes[0]) + [2] * (not kept_sizes[1])
    if len(drop) == 2:
        drop, shape = [2], (*shape, 1)
    value = call.builder.op("Squeeze", value, int_constant(call, drop)) if drop else value
    return call.new_tensor(value, shape)


def _factor(call: LayerCall, x: KerasTensor, axis: int, index: int) -> tuple[ir.Value, KerasTensor]:
    """Return a factor of a matrix product: the summed axis is last in the first, second in the other."""
    op = call.builder.op
    other_axes = [number for number in range(1, x.rank) if number != axis]
    order = (0, *other_axes, axis) if index == 0 else (0, axis, *other_axes)
    value = call.builder.transposed(x, order)
    if call.settings.flag("normalize"):
        position = int_constant(call, [order.index(axis)])
        total = op("ReduceSum", op("Mul", value, value), position, keepdims=1)
        value = op("Div", value, op("Sqrt", op("Max", total, number(call, 1e-12))))
    if not other_axes:
        value = op("Unsqueeze", value, int_constant(call, [1 if index == 0 else 2]))
    return value, x
