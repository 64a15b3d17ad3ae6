"""Quantized average pooling."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from py_autodoc.quantize.reference.arithmetic import F32, Array, dequantize, limits, requantize, scalar
from py_autodoc.quantize.reference.products import padding


def global_average(
    x: Array, x_scale: Array, x_zero: Array | None, y_scale: Array, y_zero: Array | None, last: bool
) -> Array:
    """Return the mean over all spatial axes: an integer sum, times x_scale/(y_scale·elements).

    x: [N, C, *in], or [N, *in, C] with ``last``.
    """
    axes = tuple(range(1, x.ndim - 1)) if last else tuple(range(2, x.ndim))
    count = int(np.prod([x.shape[axis] for axis in axes]))
    total = x.astype(np.int64).sum(axes, keepdims=True) - scalar(x_zero) * count
    multiplier = F32(x_scale.item()) / (F32(y_scale.item()) * F32(count))
    return requantize(total, np.asarray(multiplier), scalar(y_zero), x.dtype)


def average(
    x: Array,
    x_scale: Array,
    x_zero: Array | None,
    y_scale: Array,
    y_zero: Array | None,
    attributes: Mapping[str, Any],
) -> Array:
    """Return the mean of each window in float32: summed in row order, divided, and quantized.

    x: [N, C, *in], or [N, *in, C] with ``channels_last``; 1 to 3 spatial axes.
    """
    channels_last = bool(attributes.get("channels_last", 0))
    channels_first = np.moveaxis(x, -1, 1) if channels_last else x
    kernel = tuple(int(size) for size in attributes["kernel_shape"])
    rank = len(kernel)
    strides = [int(stride) for stride in attributes.get("strides") or [1] * rank]
    pads = padding(channels_first.shape[2:], kernel, strides, [1] * rank, attributes)
    ceil = bool(attributes.get("ceil_mode", 0)) and attributes.get("auto_pad", b"NOTSET") in (
        b"NOTSET",
        "NOTSET",
    )
    sizes = [
        _steps(length + sum(pad), width, stride, ceil, length + pad[0])
        for length, width, stride, pad in zip(channels_first.shape[2:], kernel, strides, pads, strict=True)
    ]
    real = dequantize(channels_first, x_scale.reshape(()), scalar(x_zero))
    out = np.zeros((*channels_first.shape[:2], *sizes), F32)
    outer_axes: tuple[Any, ...] = (slice(None), slice(None))
    for position in product(*(range(size) for size in sizes)):
        starts = [index * stride - pad[0] for index, stride, pad in zip(position, strides, pads, strict=True)]
        spans = [
            range(max(start, 0), min(start + width, length))
            for start, width, length in zip(starts, kernel, channels_first.shape[2:], strict=True)
        ]
        total = np.zeros(channels_first.shape[:2], F32)
        for offset in product(*spans):
            total = total + real[outer_axes + offset]
        includes_padding = bool(attributes.get("count_include_pad", 0))
        count = np.prod(kernel) if includes_padding else np.prod([len(span) for span in spans])
        out[outer_axes + position] = total / F32(count)
    low, high = limits(x.dtype)
    value = np.rint(out / F32(y_scale.item()) + F32(scalar(y_zero)))
    result = np.clip(value, low, high).astype(x.dtype)
    return np.ascontiguousarray(np.moveaxis(result, 1, -1)) if channels_last else result


def _steps(length: int, width: int, stride: int, ceil: bool, end: int) -> int:
    """Return the number of window positions; with ``ceil``, the last may overhang.

    It must start before ``end``.
    """
    steps = (length - width + (stride - 1 if ceil else 0)) // stride + 1
    return steps - 1 if ceil and (steps - 1) * stride >= end else steps
