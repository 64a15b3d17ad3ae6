"""Normalizations. They are not folded into preceding layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layers.activation import number
from py_autodoc.keras.settings import unwrapped
from py_autodoc.keras.tensor import KerasTensor, Order, identity_order


def _second(x: KerasTensor, axis: int) -> Order:
    """Return an axis order with ``axis`` second: the stored one, or the closest to it."""
    if x.rank > 1 and x.order[0] == 0 and x.order[1] == axis:
        return x.order
    return (0, axis, *(number for number in range(1, x.rank) if number != axis))


def _weight_or_default(call: LayerCall, name: str, used: bool, default: float, *shape: int) -> Any:
    """Return a weight, or its default if the layer does not have it."""
    return call.take(name, *shape) if used else np.full(shape, default, np.float32)


@layer("BatchNormalization", "SyncBatchNormalization")
def batch_normalization(call: LayerCall) -> KerasTensor:
    """Normalize by the moving mean and variance, as in inference."""
    x, settings = call.floating(), call.settings
    if settings.flag("renorm"):
        raise call.refuse("with renorm")
    axes = settings.axes("axis", x.rank)
    if len(axes) != 1 or axes[0] == 0:
        raise call.refuse(f"over the axes {list(axes)}")
    size, order = call.known_size(x, axes[0]), _second(x, axes[0])
    scale, center = settings.flag("scale", True), settings.flag("center", True)
    weights = {
        "gamma": _weight_or_default(call, "gamma", scale, 1.0, size),
        "beta": _weight_or_default(call, "beta", center, 0.0, size),
        "moving_mean": call.take("moving_mean", size),
        "moving_variance": call.take("moving_variance", size),
    }
    value = call.builder.op(
        "BatchNormalization",
        call.builder.transposed(x, order),
        *(call.builder.weight(array, name) for name, array in weights.items()),
        epsilon=settings.number("epsilon", 1e-3),
    )
    return call.new_tensor(value, x.shape, order).masked(x.mask)


@layer("LayerNormalization")
def layer_normalization(call: LayerCall) -> KerasTensor:
    """Normalize over some axes, which are moved to the end."""
    x, settings = call.floating(), call.settings
    axes, order = _last(call, x)
    shape = tuple(call.known_size(x, axis) for axis in axes)
    epsilon = settings.number("epsilon", 1e-3)
    if settings.flag("rms_scaling"):
        gamma = call.take("gamma", *shape)
        return _by_deviation(call, x, order, gamma, len(axes), epsilon, centred=True).masked(x.mask)
    gamma = _weight_or_default(call, "gamma", settings.flag("scale", True), 1.0, *shape)
    inputs = [call.builder.transposed(x, order), call.builder.weight(gamma, "gamma")]
    if settings.flag("center", True):
        inputs.append(call.builder.weight(call.take("beta", *shape), "beta"))
    value = call.builder.op("LayerNormalization", *inputs, axis=x.rank - len(axes), epsilon=epsilon)
    return call.new_tensor(value, x.shape, order).masked(x.mask)


@layer("RMSNormalization")
def rms_normalization(call: LayerCall) -> KerasTensor:
    """X / √(mean x² + ε) · scale."""
    x = call.floating()
    axes, order = _last(call, x)
    scale = call.take("scale", *(call.known_size(x, axis) for axis in axes))
    return _by_deviation(call, x, order, scale, len(axes), call.settings.number("epsilon", 1e-6))


def _last(call: LayerCall, x: KerasTensor) -> tuple[Order, Order]:
    """Return the normalized axes, and an axis order in which they are last."""
    axes = tuple(sorted(set(call.settings.axes("axis", x.rank))))
    if 0 in axes:
        raise call.refuse("over the batch")
    return axes, (*(axis for axis in x.order if axis not in axes), *axes)


def _by_deviation(
    call: LayerCall,
    x: KerasTensor,
    order: Order,
    scale: Any,
    count: int,
    epsilon: float,
    centred: bool = False,
) -> KerasTensor:
    """Return x / √(mean x² + ε) · scale; with ``centred``, the variance replaces mean x²."""
    op, value = call.builder.op, call.builder.transposed(x, order)
    axes = call.builder.constant(np.arange(-count, 0, dtype=np.int64))
    centred_value = op("Sub", value, op("ReduceMean", value, axes, keepdims=1)) if centred else value
    mean = op("ReduceMean", op("Mul", centred_value, centred_value), axes, keepdims=1)
    root = op("Sqrt", op("Add", mean, number(call, epsilon)))
    name = "gamma" if centred else "scale"
    result = op("Mul", op("Div", value, root), call.builder.weight(scale, name))
    return call.new_tensor(result, x.shape, order)


@layer("UnitNormalization")
def unit_normalization(call: LayerCall) -> KerasTensor:
    """X / √max(Σx², 10⁻¹²)."""
    x, op = call.floating(), call.builder.op
    positions = sorted(map(x.position_of, call.settings.axes("axis", x.rank)))
    axes = call.builder.constant(np.array(positions, np.int64))
    total = op("ReduceSum", op("Mul", x.value, x.value), axes, keepdims=1)
    return call.like(x, op("Div", x.value, op("Sqrt", op("Max", total, number(call, 1e-12)))))


@layer("GroupNormalization")
def group_normalization(call: LayerCall) -> KerasTensor:
    """Normalize over groups of channels; a single operator since opset 21."""
    x, settings, builder = call.floating(), call.settings, call.builder
    axis = settings.axis("axis", x.rank)
    size, order = call.known_size(x, axis), _second(x, axis)
    groups = size if settings.values.get("groups") == -1 else settings.integer("groups", 32)
    if axis == 0 or size % groups:
        raise call.refuse(f"with {groups} groups of {size} channels")
    gamma = _weight_or_default(call, "gamma", settings.flag("scale", True), 1.0, size)
    beta = _weight_or_default(call, "beta", settings.flag("center", True), 0.0, size)
    epsilon = settings.number("epsilon", 1e-3)
    value = builder.transposed(x, order)
    if builder.opset >= 21:
        scale, bias = builder.weight(gamma, "gamma"), builder.weight(beta, "beta")
        result = builder.op("GroupNormalization", value, scale, bias, num_groups=groups, epsilon=epsilon)
        return call.new_tensor(result, x.shape, order).masked(x.mask)
    grouped = builder.op("Reshape", value, builder.constant(np.array([0, groups, -1], np.int64)))
    unit_scale, zeros = np.ones(groups, np.float32), np.zeros(groups, np.float32)
    inner = builder.op(
        "InstanceNormalization",
        grouped,
        builder.constant(unit_scale),
        builder.constant(zeros),
        epsilon=epsilon,
    )
    back = builder.op("Reshape", inner, builder.op("Shape", value))
    wide = (size, *([1] * (x.rank - 2)))
    scaled = builder.op("Mul", back, builder.weight(gamma.reshape(wide), "gamma"))
    result = builder.op("Add", scaled, builder.weight(beta.reshape(wide), "beta"))
    return call.new_tensor(result, x.shape, order).masked(x.mask)


@layer("Normalization")
def normalization(call: LayerCall) -> KerasTensor:
    """(x − mean) / max(√variance, 10⁻⁷), or the inverse with ``invert``."""
    x, op = call.floating(), call.builder.op
    mean, variance = _moments(call, x)
    deviation = np.maximum(np.sqrt(variance), np.float32(1e-7))
    mean_weight, spread = call.builder.weight(mean, "mean"), call.builder.weight(deviation, "deviation")
    order = identity_order(x.rank)
    value = call.builder.transposed(x, order)
    if call.settings.flag("invert"):
        result = op("Add", op("Mul", value, spread), mean_weight)
    else:
        result = op("Div", op("Sub", value, mean_weight), spread)
    return call.new_tensor(result, x.shape, order).masked(x.mask)


def _moments(call: LayerCall, x: KerasTensor) -> tuple[Any, Any]:
    """Return mean and variance in a shape that broadcasts with the tensor."""
    axis_config = call.spec.config.get("axis")
    axes = tuple(sorted(call.settings.axes("axis", x.rank))) if axis_config not in (None, []) else ()
    wide = tuple(call.known_size(x, axis) if axis in axes else 1 for axis in range(x.rank))
    moments = []
    for name in ("mean", "variance"):
        configured = unwrapped(call.spec.config.get(name))
        if configured is None:
            moments.append(
                call.take(name, *(size for number, size in enumerate(wide) if number in axes)).reshape(wide)
            )
            continue
        try:
            array = np.asarray(configured, np.float32)
            array = np.broadcast_to(array, wide) if array.ndim != 1 or not axes else array.reshape(wide)
        except (ValueError, TypeError):
            raise call.settings.wrong(name, f"numbers for {'×'.join(map(str, wide))}") from None
        moments.append(np.ascontiguousarray(array))
    return moments[0], moments[1]


@layer("Rescaling")
def rescaling(call: LayerCall) -> KerasTensor:
    """X · scale + offset, each a number or one value per channel."""
    x, op = call.floating(), call.builder.op
    order = identity_order(x.rank)
    constants: list[ir.Value] = []
    for name, default in (("scale", 1.0), ("offset", 0.0)):
        configured = unwrapped(call.spec.config.get(name, default))
        try:
            array = np.asarray(configured, np.float32)
            np.broadcast_shapes(array.shape, tuple(size or 1 for size in x.shape))
        except (ValueError, TypeError):
            raise call.settings.wrong(name, "a number, or one for each channel") from None
        order = x.order if array.size == 1 and order == identity_order(x.rank) else identity_order(x.rank)
        constants.append(call.builder.constant(array.reshape(()) if array.size == 1 else array, name))
    value = call.builder.transposed(x, order)
    result = op("Add", op("Mul", value, constants[0]), constants[1])
    return call.new_tensor(result, x.shape, order).masked(x.mask)
