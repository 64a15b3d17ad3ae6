"""Integer sums of products: matrix products and convolutions, up to the int32 accumulator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from py_autodoc.quantize.reference.arithmetic import Array, along
from py_autodoc.quantize.reference.saturation import product, saturates_pairs, summed, weight_rows

Kernel = Literal["exact", "pairs"]
"""Kind of x86 kernel.

``pairs``: without VNNI, the products of two neighbouring elements of a u8 and an s8 operand are added in 16
bits and saturate. ``exact``: all others.
"""


def matmul(
    a: Array,
    a_zero: Array | int,
    b: Array,
    b_zero: Array | int,
    kernel: Kernel = "exact",
    op_type: str = "MatMulInteger",
) -> Array:
    """Return (a - a_zero) @ (b - b_zero) in int32, wrapping like the kernels' registers.

    a: [..., M, K] or [K]; b: [..., K, N] or [K]; ``a_zero``: one for all, or [M, 1] for the rows; ``b_zero``:
    one for all, or [N] for the columns.
    """
    pairs = kernel == "pairs" and saturates_pairs(op_type, a.dtype, b.dtype)
    return _sum(a, a_zero, b, b_zero, pairs)


def _sum(a: Array, a_zero: Array | int, b: Array, b_zero: Array | int, pairs: bool) -> Array:
    left, right = (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    rows, columns = np.asarray(a_zero, np.int64), np.asarray(b_zero, np.int64)
    total = product(left, right, pairs)
    total = total - rows * right.sum(-2, keepdims=True, dtype=np.int64)
    total = total - left.sum(-1, keepdims=True, dtype=np.int64) * columns
    total = np.asarray(total + left.shape[-1] * rows * columns).astype(np.int32)
    total = total[..., 0, :] if a.ndim == 1 else total
    return np.asarray(total[..., 0] if b.ndim == 1 else total)


def conv(
    x: Array,
    x_zero: int,
    w: Array,
    w_zero: Array,
    attributes: Mapping[str, Any],
    kernel: Kernel = "exact",
    op_type: str = "QLinearConv",
) -> Array:
    """Return the accumulator of a convolution without bias: [N, M, *out] in int32.

    x: [N, C, *in]; w: [M, C/group, *kernel]; ``w_zero``: one for all, or [M]. Padding is x's zero point, the
    real 0. ``saturation`` says which convolutions saturate, and in which order they add.
    """
    spatial = w.shape[2:]
    rank = len(spatial)
    group = int(attributes.get("group", 1))
    strides = [int(stride) for stride in attributes.get("strides") or [1] * rank]
    dilations = [int(dilation) for dilation in attributes.get("dilations") or [1] * rank]
    pads = padding(x.shape[2:], spatial, strides, dilations, attributes)
    padded = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=x.dtype.type(x_zero))
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(spatial, dilations, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=tuple(range(2, 2 + rank)))
    outer_axes = [slice(None), slice(None)]
    steps = [slice(None, None, step) for step in (*strides, *dilations)]
    windows = windows[tuple(outer_axes + steps)]
    out_shape = windows.shape[2 : 2 + rank]
    pairs = kernel == "pairs" and saturates_pairs(op_type, x.dtype, w.dtype, w.shape, group)
    results = []
    for index in range(group):
        channels, filters = w.shape[1], w.shape[0] // group
        group_windows = windows[:, index * channels : (index + 1) * channels]
        rows = summed(op_type, group_windows, 1, 2 + rank).reshape(-1, int(np.prod(spatial)) * channels)
        group_weights = w[index * filters : (index + 1) * filters]
        columns = weight_rows(op_type, group_weights).T
        zero = w_zero[index * filters : (index + 1) * filters] if w_zero.size > 1 else w_zero.reshape(())
        total = _sum(rows, x_zero, columns, zero, pairs)
        results.append(np.moveaxis(total.reshape(x.shape[0], *out_shape, filters), -1, 1))
    return np.concatenate(results, 1)


def padding(
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: list[int],
    dilations: list[int],
    attributes: Mapping[str, Any],
) -> list[tuple[int, int]]:
    """Return the padding before and after each spatial axis, from ``pads`` or ``auto_pad``."""
    auto = attributes.get("auto_pad", "NOTSET")
    auto = auto.decode() if isinstance(auto, bytes) else str(auto)
    rank = len(kernel)
    if auto in ("NOTSET", ""):
        values = [int(value) for value in attributes.get("pads") or [0] * 2 * rank]
        return list(zip(values[:rank], values[rank:], strict=True))
    if auto == "VALID":
        return [(0, 0)] * rank
    pads = []
    for length, width, stride, dilation in zip(size, kernel, strides, dilations, strict=True):
        steps = -(-length // stride)
        needed = max(0, (steps - 1) * stride + (width - 1) * dilation + 1 - length)
        less, more = needed // 2, needed - needed // 2
        pads.append((less, more) if auto == "SAME_UPPER" else (more, less))
    return pads


def add_bias(accumulator: Array, bias: Array | None, axis: int) -> Array:
    """Add an int32 bias with one value per channel to the accumulator."""
    if bias is None:
        return accumulator
    return np.asarray(accumulator + along(bias.astype(np.int32), axis, accumulator.ndim))
