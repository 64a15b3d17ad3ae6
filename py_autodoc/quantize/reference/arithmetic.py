"""Shared parts of quantized operators: ranges, rounding, and requantization of accumulators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
F32 = np.float32


def limits(dtype: DTypeLike) -> tuple[int, int]:
    """Return the minimum and maximum of an integer type."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def scalar(value: Array | None) -> int:
    """Return the zero point of a whole tensor; 0 if it is absent."""
    return 0 if value is None else int(np.asarray(value).reshape(-1)[0])


def along(value: Array, axis: int, rank: int) -> Array:
    """Reshape a vector of one value per channel to broadcast over ``axis``; a single one stays a scalar."""
    if value.size == 1:
        return value.reshape(())
    return value.reshape([-1 if index == axis else 1 for index in range(rank)])


def fma(a: Array, b: Array | np.floating[Any], c: Array | np.floating[Any]) -> Array:
    """Return a·b + c in float32 with a single rounding, like FMA instructions.

    The product of two float32 values is exact in float64, so only the sum is rounded there, and then again to
    float32. The result differs from an FMA if the first rounding lands on a tie of the second.
    """
    return np.asarray(
        np.asarray(a, np.float64) * np.asarray(b, np.float64) + np.asarray(c, np.float64), np.float32
    )


def quantize(x: Array, scale: Array, zero_point: Array | int, dtype: DTypeLike) -> Array:
    """Return saturate(round(x / scale) + zero_point), rounding half to even; x and scale are float32."""
    low, high = limits(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        value = np.rint(np.asarray(x, F32) / np.asarray(scale, F32))
        value = value + np.asarray(zero_point).astype(F32)
    return np.asarray(np.clip(value, F32(low), F32(high))).astype(dtype)


def dequantize(x: Array, scale: Array, zero_point: Array | int) -> Array:
    """Return (x - zero_point)·scale in float32."""
    return np.asarray(
        (x.astype(np.int64) - np.asarray(zero_point).astype(np.int64)).astype(F32) * np.asarray(scale, F32)
    )


def requantize(accumulator: Array, multiplier: Array, zero_point: int, dtype: DTypeLike) -> Array:
    """Return an int32 accumulator times a float32 multiplier, rounded half to even, plus the zero point.

    The product is clamped before rounding, so that large accumulators saturate. ``multiplier`` is
    x_scale·w_scale/y_scale, computed in float32 in this order.
    """
    low, high = limits(dtype)
    scaled = accumulator.astype(F32) * multiplier.astype(F32)
    scaled = np.clip(scaled, F32(low - zero_point), F32(high - zero_point))
    return np.asarray(np.rint(scaled).astype(np.int64) + zero_point).astype(dtype)


def table(x: Array, values: Array) -> Array:
    """Look up 8-bit codes: entry i of ``values`` (256) is for the code whose byte is i."""
    return np.asarray(values[x.view(np.uint8)])


def codes(dtype: DTypeLike) -> Array:
    """Return all 256 codes of an 8-bit type, in byte order."""
    return np.arange(256, dtype=np.uint8).view(dtype)
