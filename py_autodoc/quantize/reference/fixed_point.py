"""Integer-only requantization: a multiplier, a shift and a rounding mode, as in hardware."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import DTypeLike

from py_autodoc.quantize.reference.arithmetic import Array, limits, requantize

Rounding = Literal["half-up", "half-away", "half-even", "down"]
"""Rounding of right shifts: ties up, ties away from zero, ties to even, or always down."""
_INT32 = (-(1 << 31), (1 << 31) - 1)


@dataclass(frozen=True)
class Multiplier:
    """real ≈ value·2^(-shift); ``value`` has ``bits`` bits, its highest one set, unless the real is 0."""

    value: Array
    shift: Array
    bits: int

    @property
    def real(self) -> Array:
        """Value of the pair in float64."""
        return np.asarray(self.value.astype(np.float64) * np.exp2(-self.shift.astype(np.float64)))


def multiplier(real: Array, bits: int = 31) -> Multiplier:
    """Return the nearest integer multiplier of ``bits`` bits (1 to 31) for positive real ones.

    Raises: ValueError: bits out of range, or a real that is negative or not finite.
    """
    values = np.asarray(real, np.float64)
    if not 1 <= bits <= 31:
        raise ValueError("A multiplier must have 1 to 31 bits.")
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError("A multiplier must be finite and not negative.")
    fraction, exponent = np.frexp(values)
    value = np.rint(fraction * (1 << bits)).astype(np.int64)
    full = value == 1 << bits
    value = np.where(full, value >> 1, value)
    shift = bits - np.where(full, exponent + 1, exponent)
    return Multiplier(value, np.where(value == 0, 0, shift).astype(np.int64), bits)


def shift_right(value: Array, shift: Array, rounding: Rounding) -> Array:
    """Return value·2^(-shift) of int64 values with one rounding; a negative shift multiplies."""
    wide = np.asarray(value, np.int64) << np.maximum(-shift, 0)
    # With a shift of 62 or more, every int32 product is below one half.
    right = np.clip(shift, 0, 62).astype(np.int64)
    half = (np.int64(1) << right) >> 1
    if rounding == "down":
        return np.asarray(wide >> right)
    if rounding == "half-up":
        return np.asarray((wide + half) >> right)
    if rounding == "half-away":
        return np.asarray(np.sign(wide) * ((np.abs(wide) + half) >> right))
    quotient = wide >> right
    remainder = wide - (quotient << right)
    round_up = (remainder > half) | ((remainder == half) & (right > 0) & (quotient & 1 == 1))
    return np.asarray(quotient + round_up)


def one_shift(accumulator: Array, by: Multiplier, rounding: Rounding = "half-up") -> Array:
    """Return accumulator·value >> shift in 64 bits with one rounding, as in basic hardware."""
    return shift_right(accumulator.astype(np.int64) * by.value, by.shift, rounding)


def _high_product(a: Array, b: Array, half_away: bool) -> Array:
    """Return the high half of 2·a·b of int32 values, rounded with ties away from zero or up; saturates."""
    product = a.astype(np.int64) * b.astype(np.int64)
    high = shift_right(product, np.asarray(31), "half-away" if half_away else "half-up")
    return np.clip(high, *_INT32)


def gemmlowp(accumulator: Array, real: Array) -> Array:
    """gemmlowp, the default of TFLite's reference kernels: high half of a doubled product, then a shift.

    Both steps round half away from zero, so a value can be rounded twice.
    """
    value, shift = _high_pair(real)
    shifted_left = _int32(accumulator.astype(np.int64) << np.maximum(-shift, 0))
    return shift_right(_high_product(shifted_left, value, half_away=True), np.maximum(shift, 0), "half-away")


def tflite_single(accumulator: Array, real: Array) -> Array:
    """TFLite built with single rounding: the 64-bit product, shifted once, ties up."""
    return one_shift(accumulator, multiplier(real, 31), "half-up")


def cmsis_nn(accumulator: Array, real: Array) -> Array:
    """CMSIS-NN by default: the high half rounds ties up, the shift rounds half away from zero."""
    value, shift = _high_pair(real)
    shifted_left = _int32(accumulator.astype(np.int64) << np.maximum(-shift, 0))
    return shift_right(_high_product(shifted_left, value, half_away=False), np.maximum(shift, 0), "half-away")


def _high_pair(real: Array) -> tuple[Array, Array]:
    """Return the 31-bit multiplier, and the remaining shift after taking the high half."""
    result = multiplier(real, 31)
    return result.value, result.shift - 31


def _int32(value: Array) -> Array:
    return np.asarray(value, np.int64).astype(np.int32)


VARIANTS: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "gemmlowp": gemmlowp,
    "tflite-single": tflite_single,
    "cmsis-nn": cmsis_nn,
    "q31": lambda accumulator, real: one_shift(accumulator, multiplier(real, 31)),
    "q15": lambda accumulator, real: one_shift(accumulator, multiplier(real, 15)),
    "q7": lambda accumulator, real: one_shift(accumulator, multiplier(real, 7)),
}
"""Name → (int32 accumulator, positive real multiplier) → the scaled integer, without zero point."""


def requantized(accumulator: Array, real: Array, zero_point: int, dtype: DTypeLike, variant: str) -> Array:
    """Requantize an accumulator to 8 bits by one of ``VARIANTS``.

    Raises: KeyError: unknown variant.
    """
    value = VARIANTS[variant](accumulator, real) + zero_point
    return np.asarray(np.clip(value, *limits(dtype))).astype(dtype)


@dataclass(frozen=True)
class Mismatch:
    """Difference of a variant from ONNX Runtime's float32 multiplier."""

    variant: str
    differing: int
    values: int
    largest: int
    """Largest difference, in units of the output."""

    @property
    def rate(self) -> float:
        """Share of differing values, 0 to 1."""
        return self.differing / self.values if self.values else 0.0


def mismatch(accumulator: Array, real: Array, zero_point: int, dtype: DTypeLike, variant: str) -> Mismatch:
    """Compare a variant with ``requantize`` on real accumulators."""
    exact = requantize(accumulator, np.asarray(real, np.float32), zero_point, dtype).astype(np.int64)
    result = requantized(accumulator, real, zero_point, dtype, variant).astype(np.int64)
    differences = np.abs(result - exact)
    return Mismatch(
        variant, int((differences > 0).sum()), int(differences.size), int(differences.max(initial=0))
    )
