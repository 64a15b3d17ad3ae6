"""Integer sums of products: matrix products and convolutions, up to the int32 accumulator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from py_autodoc.quantize.reference.arithmetic import Array, along

Kernel = Literal["exact", "pairs"]
"""Kind of x86 kernel.

``pairs``: without VNNI, the products of two neighbouring elements of a u8 and an s8 operand are added in 16
bits and saturate. ``exact``: all others.
"""
_LOW, _HIGH = -(1 << 15), (1 << 15) - 1
_GROUP = 4
"""Kernels pad the summed axis with zeros to a multiple of this."""


def matmul(a: Array, a_zero: Array | int, b: Array, b_zero: Array | int, kernel: Kernel = "exact") -> Array:
    """Return (a - a_zero) @ (b - b_zero) in int32, wrapping like the kernels' registers.

    a: [..., M, K]; b: [..., K, N]; ``b_zero``: one for all, or [N] for the columns.
    """
    if kernel == "pairs" and a.dtype == np.uint8 and b.dtype == np.int8:
        return _in_pairs(a, a_zero, b, b_zero)
    # Products of 8-bit values and their sums are integers below 2^53, so float64 holds them exactly.
    a_shifted = a.astype(np.float64) - np.asarray(a_zero, np.float64)
    b_shifted = b.astype(np.float64) - np.asarray(b_zero, np.float64)
    return np.asarray(a_shifted @ b_shifted).astype(np.int64).astype(np.int32)


def _in_pairs(a: Array, a_zero: Array | int, b: Array, b_zero: Array | int) -> Array:
    """Saturate sums of products k and k + 1 at 16 bits; zero points are applied exactly afterwards."""
    depth = a.shape[-1]
    a_wide, b_wide = a.astype(np.int32), b.astype(np.int32)
    missing = -depth % _GROUP
    if missing:
        a_wide = np.concatenate([a_wide, np.zeros((*a_wide.shape[:-1], missing), np.int32)], -1)
        b_wide = np.concatenate(
            [b_wide, np.zeros((*b_wide.shape[:-2], missing, b_wide.shape[-1]), np.int32)], -2
        )
    total: Array = np.zeros((), np.int32)
    for k in range(0, a_wide.shape[-1], 2):
        pair = (
            a_wide[..., k, None] * b_wide[..., None, k, :]
            + a_wide[..., k + 1, None] * b_wide[..., None, k + 1, :]
        )
        total = total + np.clip(pair, _LOW, _HIGH)
    offset, columns = int(np.asarray(a_zero).reshape(-1)[0]), np.asarray(b_zero, np.int64)
    sums = b_wide.sum(-2, keepdims=True, dtype=np.int64) * offset
    rows = a_wide.sum(-1, keepdims=True, dtype=np.int64)
    return np.asarray(total - sums - rows * columns + depth * offset * columns).astype(np.int32)


def conv(
    x: Array,
    x_zero: int,
    w: Array,
    w_zero: Array,
    attributes: Mapping[str, Any],
    kernel: Kernel = "exact",
) -> Array:
    """Return the accumulator of a convolution without bias: [N, M, *out] in int32.

    x: [N, C, *in]; w: [M, C/group, *kernel]; ``w_zero``: one for all, or [M]. Padding is x's zero point, the
    real 0. The summed axis runs over the kernel's positions first and the channels last.
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
    depthwise = group == x.shape[1] and w.shape[1] == 1
    results = []
    for index in range(group):
        channels, filters = w.shape[1], w.shape[0] // group
        group_windows = windows[:, index * channels : (index + 1) * channels]
        rows = np.moveaxis(group_windows, 1, -1).reshape(-1, int(np.prod(spatial)) * channels)
        group_weights = w[index * filters : (index + 1) * filters]
        columns = np.moveaxis(group_weights, 1, -1).reshape(filters, -1).T
        zero = w_zero[index * filters : (index + 1) * filters] if w_zero.size > 1 else w_zero.reshape(())
        # Depthwise kernels always multiply into 32 bits.
        total = matmul(rows, x_zero, columns, zero, "exact" if depthwise else kernel)
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
