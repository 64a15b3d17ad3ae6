"""Elementwise quantized operators: sums, products, look-up tables, concatenation, softmax."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from py_autodoc.quantize.reference.arithmetic import (
    F32,
    Array,
    codes,
    dequantize,
    fma,
    limits,
    quantize,
    scalar,
    table,
)

_ALPHA = (
    4.37031012579801e-11,
    1.15627324459942e-07,
    6.08574864600143e-05,
    8.51377133304701e-03,
    2.48287947061529e-01,
)
_BETA = (
    6.10247389755681e-13,
    5.76102136993427e-09,
    6.29106785017040e-06,
    1.70198817374094e-03,
    1.16817656904453e-01,
    9.93151921023180e-01,
)
_LOGISTIC_RANGE = 18.0
_SOFTMAX_RESERVE = 5.0


def add(
    a: Array,
    a_scale: Array,
    a_zero: Array | None,
    b: Array,
    b_scale: Array,
    b_zero: Array | None,
    y_scale: Array,
    y_zero: Array | None,
    dtype: DTypeLike,
) -> Array:
    """Return a + b. Scales are first divided by the output's, and all zero points become one constant.

    x86 kernels add the two products to this constant by FMA, b first; if a broadcast makes one side a
    constant, its product becomes part of the constant.
    """
    ratio_a, ratio_b = F32(a_scale.item()) / F32(y_scale.item()), F32(b_scale.item()) / F32(y_scale.item())
    constant = F32(scalar(y_zero)) - fma(ratio_a, F32(scalar(a_zero)), ratio_b * F32(scalar(b_zero)))
    of_a, of_b = a.astype(F32), b.astype(F32)
    constant_operand = constant_side(a.shape, b.shape)
    if constant_operand == "a":
        total = fma(of_b, ratio_b, fma(of_a, ratio_a, constant))
    else:
        total = fma(of_a, ratio_a, fma(of_b, ratio_b, constant))
    return _round_and_clip(total, dtype)


def constant_side(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    """Return the operand with one value for the innermost differing axes: ``a``, ``b`` or neither."""
    rank = max(len(a), len(b))
    a_shape, b_shape = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    for a_size, b_size in zip(reversed(a_shape), reversed(b_shape), strict=True):
        if a_size == b_size == 1:
            continue
        return "" if a_size == b_size else ("a" if a_size == 1 else "b")
    return "a"


def _round_and_clip(total: Array, dtype: DTypeLike) -> Array:
    low, high = limits(dtype)
    return np.asarray(np.clip(np.rint(total.astype(np.float64)), low, high)).astype(dtype)


def mul(
    a: Array,
    a_scale: Array,
    a_zero: Array | None,
    b: Array,
    b_scale: Array,
    b_zero: Array | None,
    y_scale: Array,
    y_zero: Array | None,
    dtype: DTypeLike,
) -> Array:
    """Return a·b: integer product, then one float32 multiplier, then the zero point, each rounded."""
    ratio = F32(a_scale.item()) * F32(b_scale.item()) / F32(y_scale.item())
    product = (a.astype(np.int32) - scalar(a_zero)) * (b.astype(np.int32) - scalar(b_zero))
    return _round_and_clip(product.astype(F32) * ratio + F32(scalar(y_zero)), dtype)


def apply_table(
    function: Callable[[Array], Array],
    x: Array,
    x_scale: Array,
    x_zero: Array | None,
    y_scale: Array,
    y_zero: Array | None,
) -> Array:
    """Apply a float32 function to an 8-bit tensor through a table of 256 entries."""
    real = dequantize(codes(x.dtype), x_scale.reshape(()), scalar(x_zero))
    return table(x, quantize(function(real), y_scale.reshape(()), scalar(y_zero), x.dtype))


def logistic(x: Array) -> Array:
    """Return the logistic function as the kernels' ratio of two polynomials in x², with FMA."""
    value = np.clip(x, F32(-_LOGISTIC_RANGE), F32(_LOGISTIC_RANGE)).astype(F32)
    square = value * value
    numerator, denominator = np.full_like(value, F32(_ALPHA[0])), np.full_like(value, F32(_BETA[0]))
    for coefficient in _ALPHA[1:]:
        numerator = fma(numerator, square, F32(coefficient))
    for coefficient in _BETA[1:]:
        denominator = fma(denominator, square, F32(coefficient))
    return np.asarray(np.clip(numerator * value / denominator + F32(0.5), F32(0), F32(1)))


def leaky_relu(alpha: float) -> Callable[[Array], Array]:
    """X where x ≥ 0, else alpha·x."""
    return lambda x: np.where(x >= 0, x, F32(alpha) * x).astype(F32)


def concat(
    y_scale: Array, y_zero: Array | None, parts: list[tuple[Array, Array, Array | None]], axis: int
) -> Array:
    """Copy parts with the output's scale and zero point; convert others through a table."""
    converted = []
    for x, scale, zero in parts:
        same = F32(scale.item()) == F32(y_scale.item()) and scalar(zero) == scalar(y_zero)
        converted.append(x if same else apply_table(lambda real: real, x, scale, zero, y_scale, y_zero))
    return np.concatenate(converted, axis)


def softmax(x: Array, x_scale: Array, y_scale: Array, y_zero: Array | None, axis: int, opset: int) -> Array:
    """Return the softmax from a table of exponentials relative to each row's maximum; sums run in order.

    Sums are float32.
    """
    axis %= x.ndim
    if opset < 13:
        rows = x.reshape(int(np.prod(x.shape[:axis])), -1)
        return _softmax_rows(rows, x_scale, y_scale, y_zero).reshape(x.shape)
    moved = np.swapaxes(x, axis, -1)
    rows = np.ascontiguousarray(moved).reshape(-1, x.shape[axis])
    result = _softmax_rows(rows, x_scale, y_scale, y_zero).reshape(moved.shape)
    return np.ascontiguousarray(np.swapaxes(result, axis, -1))


def softmax_table(x_scale: Array, y_scale: Array, count: int) -> tuple[Array, np.float32]:
    """Return 256 exponentials for rows of ``count`` values, the last for the maximum, and the code for 1."""
    scale = float(F32(x_scale.item()))
    shift = float(np.log(np.finfo(F32).max / F32(count)))
    shift = max(0.0, shift - _SOFTMAX_RESERVE) / scale
    exponentials = np.array([math.exp((code - 255 + shift) * scale) for code in range(256)]).astype(F32)
    return exponentials, F32(np.floor(F32(1) / F32(y_scale.item())))


def _softmax_rows(rows: Array, x_scale: Array, y_scale: Array, y_zero: Array | None) -> Array:
    exponentials, steps = softmax_table(x_scale, y_scale, rows.shape[1])
    low, high = limits(rows.dtype)
    # Entry 255 of the table is for the maximum of the row.
    indices = 255 + rows.astype(np.int32) - rows.max(1, keepdims=True).astype(np.int32)
    entries = exponentials[indices]
    sums = np.cumsum(entries, axis=1, dtype=F32)[:, -1:]
    with np.errstate(over="ignore"):
        value = np.rint(entries * steps / sums)
    # Rows of one or two elements can overflow float32. Conversion to an integer then gives the minimum
    # of int32 for signed types, and 0 for unsigned ones.
    overflow = -(1 << 31) if low < 0 else 0
    shifted = np.where(np.isfinite(value), value, overflow).astype(np.int64) + scalar(y_zero)
    return np.clip(shifted.astype(np.int32), low, high).astype(rows.dtype)
