"""What all quantized operators share: ranges, rounding, and the way back from an accumulator to 8 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
F32 = np.float32


def limits(dtype: DTypeLike) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    found = np.iinfo(dtype)
    return int(found.min), int(found.max)


def scalar(value: Array | None) -> int:
    """A zero point that holds for a whole tensor; absent: 0."""
    return 0 if value is None else int(np.asarray(value).reshape(-1)[0])


def along(value: Array, axis: int, rank: int) -> Array:
    """A vector of one value a channel, shaped to broadcast over ``axis``; one value stays a scalar."""
    if value.size == 1:
        return value.reshape(())
    return value.reshape([-1 if at == axis else 1 for at in range(rank)])


def fma(a: Array, b: Array | np.floating[Any], c: Array | np.floating[Any]) -> Array:
    """a·b + c in float32 with one rounding, as FMA instructions have it.

    A product of two float32 is exact in float64, so only the sum is rounded there, and then once more to
    float32: the result differs from an FMA where the first rounding lands on a tie of the second.
    """
    return np.asarray(
        np.asarray(a, np.float64) * np.asarray(b, np.float64) + np.asarray(c, np.float64), np.float32
    )


def quantize(x: Array, scale: Array, zero_point: Array | int, dtype: DTypeLike) -> Array:
    """saturate(round(x / scale) + zero_point), rounding half to even; x and scale are float32."""
    low, high = limits(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        value = np.rint(np.asarray(x, F32) / np.asarray(scale, F32))
        value = value + np.asarray(zero_point).astype(F32)
    return np.asarray(np.clip(value, F32(low), F32(high))).astype(dtype)


def dequantize(x: Array, scale: Array, zero_point: Array | int) -> Array:
    """(x - zero_point)·scale in float32."""
    return np.asarray(
        (x.astype(np.int64) - np.asarray(zero_point).astype(np.int64)).astype(F32) * np.asarray(scale, F32)
    )


def requantize(accumulator: Array, multiplier: Array, zero_point: int, dtype: DTypeLike) -> Array:
    """An int32 accumulator times a float32 multiplier, clamped, rounded half to even, plus the zero point.

    The clamp comes first, so that large accumulators saturate. ``multiplier`` is x_scale·w_scale/y_scale,
    computed in float32 in this order.
    """
    low, high = limits(dtype)
    scaled = accumulator.astype(F32) * multiplier.astype(F32)
    scaled = np.clip(scaled, F32(low - zero_point), F32(high - zero_point))
    return np.asarray(np.rint(scaled).astype(np.int64) + zero_point).astype(dtype)


def table(x: Array, values: Array) -> Array:
    """Looks up 8-bit codes: entry i of ``values`` (256) belongs to the code whose byte is i."""
    return np.asarray(values[x.view(np.uint8)])


def codes(dtype: DTypeLike) -> Array:
    """All 256 codes of an 8-bit type, in the order of their bytes."""
    return np.arange(256, dtype=np.uint8).view(dtype)
