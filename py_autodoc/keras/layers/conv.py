"""Convolutions, and the padding rules they share with pooling.

``same`` follows TensorFlow: the output has ⌈n / stride⌉ steps; padding is added on both sides, an odd one at
the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layers.activation import activate
from py_autodoc.keras.tensor import KerasTensor, Order, Shape, channels_first, identity_order, permuted

PADDINGS = ("valid", "same")


@dataclass(frozen=True, slots=True)
class ConvWindow:
    """A window that moves over the last axes of a tensor whose second axis is the channels."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str

    def padded(self, sizes: Sequence[int | None]) -> tuple[dict[str, Any], Shape]:
        """Return the attributes of the node and the output dimensions."""
        begins, ends, out = [], [], []
        free = False
        for size, k, stride, dilation in zip(sizes, self.kernel, self.strides, self.dilations, strict=True):
            reach = (k - 1) * dilation + 1
            if self.padding == "valid":
                begin = end = 0
            elif self.padding == "causal":
                begin, end = reach - 1, 0
            elif size is None and stride > 1:
                free, begin, end = True, 0, 0
            else:
                total = (
                    reach - 1 if size is None else max((-(-size // stride) - 1) * stride + reach - size, 0)
                )
                begin, end = total // 2, total - total // 2
            begins.append(begin)
            ends.append(end)
            steps = None if size is None else (size + begin + end - reach) // stride + 1
            out.append(steps)
        if free:
            return {"auto_pad": "SAME_UPPER"}, tuple(out)
        return {"pads": [*begins, *ends]}, tuple(out)

    def attributes(self) -> dict[str, Any]:
        """Return the attributes common to all nodes with a window."""
        attributes: dict[str, Any] = {"kernel_shape": list(self.kernel), "strides": list(self.strides)}
        if any(dilation != 1 for dilation in self.dilations):
            attributes["dilations"] = list(self.dilations)
        return attributes


def channels_second(call: LayerCall, rank: int) -> Order:
    """Return the axis order of a layer's input with channels second."""
    return identity_order(rank) if call.settings.channels_first() else channels_first(rank)


def put_back(call: LayerCall, value: Any, shape: Shape, order: Order) -> KerasTensor:
    """Return a tensor that is stored channels first, with Keras's shape."""
    dims: list[int | None] = [None] * len(shape)
    for position, axis in enumerate(order):
        dims[axis] = shape[position]
    return call.new_tensor(value, tuple(dims), order)


def window(
    call: LayerCall, dims: int, size: str = "kernel_size", paddings: Sequence[str] = PADDINGS
) -> ConvWindow:
    """Return the window described by the layer's settings."""
    settings = call.settings
    kernel = settings.integers(size, dims)
    default = None if size == "pool_size" else 1
    strides = kernel if default is None and settings.values.get("strides") is None else None
    strides = strides or settings.integers("strides", dims, 1)
    dilations = settings.integers("dilation_rate", dims, 1) if size == "kernel_size" else (1,) * dims
    padding = settings.text("padding", paddings, "valid")
    if padding == "same" and any(s > 1 for s in strides) and any(d > 1 for d in dilations):
        raise call.refuse("with strides and dilation at once")
    return ConvWindow(kernel, strides, dilations, padding)


def _start(call: LayerCall, dims: int) -> tuple[KerasTensor, Order, Shape]:
    """Return the input, its required axis order, and its shape in that order."""
    x = call.floating()
    call.rank(x, dims + 2)
    order = channels_second(call, x.rank)
    call.known_size(x, order[1])
    return x, order, permuted(x.shape, order)


def _bias(call: LayerCall, size: int) -> list[Any]:
    if not call.settings.flag("use_bias", True):
        return []
    return [call.builder.weight(call.take("bias", size), "bias")]


def _convolved(
    call: LayerCall,
    x: KerasTensor,
    order: Order,
    kernel: Any,
    name: str,
    moves: ConvWindow,
    groups: int,
    bias: list[Any],
) -> KerasTensor:
    shape = permuted(x.shape, order)
    padding, out = moves.padded(shape[2:])
    if any(size is not None and size < 1 for size in out):
        raise call.refuse(f"with an input of {'×'.join(map(str, shape[2:]))}, smaller than its window")
    value = call.builder.op(
        "Conv",
        call.builder.transposed(x, order),
        call.builder.weight(kernel, name),
        *bias,
        **moves.attributes(),
        **padding,
        **({"group": groups} if groups != 1 else {}),
    )
    return put_back(call, value, (shape[0], kernel.shape[0], *out), order)


@layer("Conv1D", "Conv2D", "Conv3D")
def conv(call: LayerCall) -> KerasTensor:
    """The kernel in Keras is (sizes, input channels, filters), in ONNX (filters, input channels, sizes)."""
    dims = int(call.spec.kind[4])
    x, order, shape = _start(call, dims)
    moves = window(call, dims, paddings=("valid", "same", "causal") if dims == 1 else PADDINGS)
    filters, groups = call.settings.integer("filters"), call.settings.integer("groups", 1)
    kernel = call.take("kernel", *moves.kernel, (shape[1] or 0) // groups, filters)
    filters_first = kernel.transpose(dims + 1, dims, *range(dims))
    bias = _bias(call, filters)
    return activate(call, _convolved(call, x, order, filters_first, "kernel", moves, groups, bias))


def _depthwise(call: LayerCall, dims: int, channels: int) -> Any:
    """Return the kernel; in Keras (sizes, channels, multiplier), in ONNX (channels·multiplier, 1, sizes)."""
    sizes = call.settings.integers("kernel_size", dims)
    multiplier = call.settings.integer("depth_multiplier", 1)
    kernel = call.take("depthwise_kernel", *sizes, channels, multiplier)
    return kernel.transpose(dims, dims + 1, *range(dims)).reshape(channels * multiplier, 1, *sizes)


@layer("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise(call: LayerCall) -> KerasTensor:
    """Convolution of each channel separately."""
    dims = int(call.spec.kind[-2])
    x, order, shape = _start(call, dims)
    channels = shape[1] or 0
    kernel = _depthwise(call, dims, channels)
    bias = _bias(call, kernel.shape[0])
    result = _convolved(call, x, order, kernel, "depthwise_kernel", window(call, dims), channels, bias)
    return activate(call, result)


@layer("SeparableConv1D", "SeparableConv2D")
def separable(call: LayerCall) -> KerasTensor:
    """Convolution of each channel separately, followed by a pointwise convolution."""
    dims = int(call.spec.kind[-2])
    x, order, shape = _start(call, dims)
    channels, filters = shape[1] or 0, call.settings.integer("filters")
    paddings = ("valid", "same", "causal") if dims == 1 else PADDINGS
    moves = window(call, dims, paddings=paddings)
    kernel = _depthwise(call, dims, channels)
    between = _convolved(call, x, order, kernel, "depthwise_kernel", moves, channels, [])
    unit = (1,) * dims
    points = call.take("pointwise_kernel", *unit, kernel.shape[0], filters)
    filters_first = points.transpose(dims + 1, dims, *range(dims))
    point = ConvWindow(unit, unit, unit, "valid")
    bias = _bias(call, filters)
    return activate(call, _convolved(call, between, order, filters_first, "pointwise_kernel", point, 1, bias))


@layer("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")
def transposed(call: LayerCall) -> KerasTensor:
    """Gradient of a convolution; ``same`` gives n·stride steps.

    The steps that correspond to padding of the forward convolution are cut off.
    """
    dims = int(call.spec.kind[4])
    x, order, shape = _start(call, dims)
    moves = window(call, dims)
    filters, output_padding = call.settings.integer("filters"), call.spec.config.get("output_padding")
    extra = None if output_padding is None else call.settings.integers("output_padding", dims, low=0)
    kernel = call.take("kernel", *moves.kernel, filters, shape[1] or 0)
    begins, ends, more, out = [], [], [], []
    for index, size in enumerate(shape[2:]):
        begin, end, added = _cut(moves, index, None if extra is None else extra[index])
        reach = (moves.kernel[index] - 1) * moves.dilations[index] + 1
        begins.append(begin)
        ends.append(end)
        more.append(added)
        steps = None if size is None else (size - 1) * moves.strides[index] + reach - begin - end + added
        out.append(steps)
    value = call.builder.op(
        "ConvTranspose",
        call.builder.transposed(x, order),
        call.builder.weight(kernel.transpose(dims + 1, dims, *range(dims)), "kernel"),
        *_bias(call, filters),
        **moves.attributes(),
        pads=[*begins, *ends],
        **({"output_padding": more} if any(more) else {}),
    )
    return activate(call, put_back(call, value, (shape[0], filters, *out), order))


def _cut(moves: ConvWindow, index: int, extra: int | None) -> tuple[int, int, int]:
    """Return the steps cut off at the beginning and the end, and steps added, along one axis."""
    k, stride = moves.kernel[index], moves.strides[index]
    reach = (k - 1) * moves.dilations[index] + 1
    # The windows cover (n - 1)·stride + reach steps in total.
    if extra is None:
        total = reach - stride if moves.padding == "same" else min(reach - stride, 0)
    else:
        total = (2 * (reach // 2) if moves.padding == "same" else 0) - extra
    if total >= 0:
        # TensorFlow puts the smaller half of the padding first.
        return total // 2, total - total // 2, 0
    return 0, 0, -total
