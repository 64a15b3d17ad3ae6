"""Layers that move or reshape data without arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layers.conv import channels_second, put_back
from py_autodoc.keras.tensor import KerasTensor, Order, Shape, channels_first, identity_order, permuted

END = np.iinfo(np.int64).max


def int_constant(call: LayerCall, values: Any) -> ir.Value:
    """Return integers as a constant."""
    return call.builder.constant(np.array(values, np.int64))


@layer(
    "Identity",
    "Dropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "AlphaDropout",
    "GaussianDropout",
    "GaussianNoise",
    "ActivityRegularization",
    "RandomFlip",
    "RandomRotation",
    "RandomZoom",
    "RandomTranslation",
    "RandomContrast",
    "RandomBrightness",
    "RandomHeight",
    "RandomWidth",
)
def nothing(call: LayerCall) -> KerasTensor:
    """Layers that are only active in training."""
    return call.tensor()


def reshaped(call: LayerCall, x: KerasTensor, shape: Shape, order: Order) -> KerasTensor:
    """Reshape ``x``, stored in ``order``. Raises: Unsupported for several dynamic dimensions."""
    value = x.value if x.same_memory(order) else call.builder.transposed(x, order)
    free = sum(size is None for size in shape[1:])
    if free > 1:
        raise call.refuse("with more than one unknown dimension")
    fixed = shape[0] is not None
    # Only one -1 is possible; the batch can be copied from the input if it is the first axis.
    first = shape[0] if fixed else 0 if x.order[0] == 0 or value is not x.value else -1
    target = [first, *(-1 if size is None else size for size in shape[1:])]
    if target.count(-1) > 1:
        raise call.refuse("with more than one unknown dimension")
    target_order = identity_order(len(shape))
    if len(shape) > 3 and all(size == 1 for size in shape[1:-1]):
        # An image of one pixel, as before a convolution: its axes can be stored in any order.
        target_order = channels_first(len(shape))
        target = [target[axis] for axis in target_order]
    return call.new_tensor(call.builder.op("Reshape", value, int_constant(call, target)), shape, target_order)


@layer("Flatten")
def flatten(call: LayerCall) -> KerasTensor:
    """Flatten all axes but the batch, in Keras's order."""
    x = call.tensor()
    order = identity_order(x.rank)
    if call.settings.channels_first() and x.rank > 1:
        order = (0, *range(2, x.rank), 1)
    if x.rank == 1:
        return replace(
            call.new_tensor(call.builder.op("Unsqueeze", x.value, int_constant(call, [1])), (*x.shape, 1)),
            kind=x.kind,
        )
    value = x.value if x.order[0] == 0 and x.same_memory(order) else call.builder.transposed(x, order)
    size = None if None in x.shape[1:] else math.prod(size or 1 for size in x.shape[1:])
    flat = value if x.rank == 2 else call.builder.op("Flatten", value, axis=1)
    return call.new_tensor(flat, (x.shape[0], size), kind=x.kind)


@layer("Reshape")
def reshape(call: LayerCall) -> KerasTensor:
    """Reshape to ``target_shape``, in which one dimension may be -1."""
    x = call.tensor()
    target_shape = call.spec.config.get("target_shape")
    if not isinstance(target_shape, list) or not all(
        isinstance(size, int) and size >= -1 for size in target_shape
    ):
        raise call.settings.wrong("target_shape", "a list of sizes")
    given_size = math.prod(size for size in target_shape if size != -1)
    input_size = None if None in x.shape[1:] else math.prod(size or 1 for size in x.shape[1:])
    wrong = (
        input_size is not None
        and (input_size % given_size if -1 in target_shape else input_size != given_size)
        if given_size
        else True
    )
    if target_shape.count(-1) > 1 or wrong:
        raise call.settings.wrong("target_shape", f"{input_size} numbers")
    missing = None if input_size is None else input_size // given_size
    shape = tuple(missing if size == -1 else size for size in target_shape)
    return replace(reshaped(call, x, (x.shape[0], *shape), identity_order(x.rank)), kind=x.kind)


@layer("Permute")
def permute(call: LayerCall) -> KerasTensor:
    """Permute the axes, without a node until the order matters."""
    x = call.tensor()
    dims = call.settings.int_tuple(call.spec.config.get("dims"), "dims", x.rank - 1, 1)
    if sorted(dims) != list(range(1, x.rank)):
        raise call.settings.wrong("dims", f"the numbers 1 to {x.rank - 1}")
    return permute_axes(call, x, (0, *dims))


def permute_axes(call: LayerCall, x: KerasTensor, axes: Order) -> KerasTensor:
    """Return the tensor with axis ``axes[i]`` as axis i, without changing how it is stored."""
    new = tuple(axes.index(axis) for axis in x.order)
    return replace(x, shape=permuted(x.shape, axes), order=new, mask=None, maker=call.builder.current_frames)


@layer("RepeatVector")
def repeat_vector(call: LayerCall) -> KerasTensor:
    """Repeat the features for n steps."""
    x = call.in_shape_order(call.tensor())
    call.rank(x, 2)
    times = call.settings.integer("n")
    wide = call.builder.op("Unsqueeze", x.value, int_constant(call, [1]))
    value = call.builder.op("Expand", wide, int_constant(call, [1, times, 1]))
    return call.new_tensor(value, (x.shape[0], times, x.shape[1]), kind=x.kind)


def _margins(call: LayerCall, key: str, dims: int) -> list[tuple[int, int]]:
    """Return margins (begin, end) for each axis: from one number, one per axis, or two per axis."""
    margins = call.spec.config.get(key, 1)
    margins = [margins] * dims if isinstance(margins, int) else margins
    if (
        dims == 1
        and isinstance(margins, list)
        and len(margins) == 2
        and all(isinstance(margin, int) for margin in margins)
    ):
        margins = [margins]
    if not isinstance(margins, list) or len(margins) != dims:
        raise call.settings.wrong(key, f"sizes for {dims} axes")
    pairs = [[margin, margin] if isinstance(margin, int) else margin for margin in margins]
    return [call.settings.int_tuple(margin, key, 2, 0) for margin in pairs]  # type: ignore[misc]


def _spatial(call: LayerCall, dims: int) -> tuple[KerasTensor, list[int]]:
    """Return the input and its spatial axes."""
    x = call.tensor()
    call.rank(x, dims + 2)
    first = dims > 1 and call.settings.channels_first()
    return x, [axis + (1 if first else 0) for axis in range(1, dims + 1)]


def _resized(x: KerasTensor, changed: dict[int, int | None]) -> Shape:
    return tuple(changed.get(axis, size) for axis, size in enumerate(x.shape))


@layer("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(call: LayerCall) -> KerasTensor:
    """Pad images with zeros."""
    dims = int(call.spec.kind[-2])
    x, axes = _spatial(call, dims)
    pads = np.zeros((2, x.rank), np.int64)
    changed: dict[int, int | None] = {}
    for axis, (begin, end) in zip(axes, _margins(call, "padding", dims), strict=True):
        pads[:, x.position_of(axis)] = begin, end
        size = x.shape[axis]
        changed[axis] = None if size is None else size + begin + end
    value = call.builder.op("Pad", x.value, int_constant(call, pads.reshape(-1)))
    return call.new_tensor(value, _resized(x, changed), x.order, x.kind)


@layer("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(call: LayerCall) -> KerasTensor:
    """Crop the margins of images."""
    dims = int(call.spec.kind[-2])
    x, axes = _spatial(call, dims)
    starts, ends, changed = [], [], dict[int, "int | None"]()
    for axis, (begin, end) in zip(axes, _margins(call, "cropping", dims), strict=True):
        size = x.shape[axis]
        if size is not None and size <= begin + end:
            raise call.settings.wrong("cropping", f"less than {size}")
        starts.append(begin)
        ends.append(-end if end else END)
        changed[axis] = None if size is None else size - begin - end
    positions = [x.position_of(axis) for axis in axes]
    value = call.builder.op(
        "Slice", x.value, int_constant(call, starts), int_constant(call, ends), int_constant(call, positions)
    )
    return call.new_tensor(value, _resized(x, changed), x.order, x.kind)


@layer("UpSampling1D", "UpSampling2D", "UpSampling3D")
def up_sampling(call: LayerCall) -> KerasTensor:
    """Repeat each pixel, or interpolate bilinearly between pixel centres."""
    dims = int(call.spec.kind[-2])
    x = call.floating()
    call.rank(x, dims + 2)
    times = call.settings.integers("size", dims, 2)
    interpolation = (
        call.settings.text("interpolation", ("nearest", "bilinear"), "nearest") if dims == 2 else "nearest"
    )
    order = channels_second(call, x.rank) if dims > 1 else (0, 2, 1)
    shape = permuted(x.shape, order)
    scales = call.builder.constant(np.array([1, 1, *times], np.float32))
    modes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    if interpolation == "bilinear":
        modes = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    value = call.builder.op("Resize", call.builder.transposed(x, order), None, scales, **modes)
    sizes = [None if size is None else size * n for size, n in zip(shape[2:], times, strict=True)]
    return put_back(call, value, (*shape[:2], *sizes), order)
