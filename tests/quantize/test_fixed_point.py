"""Integer multipliers and roundings against fractions, which round nowhere."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_autodoc.quantize.reference.fixed_point import (
    VARIANTS,
    cmsis_nn,
    gemmlowp,
    mismatch,
    multiplier,
    one_shift,
    requantized,
    shift_right,
    tflite_single,
)

ACCUMULATORS = st.integers(-(2**31), 2**31 - 1)
REALS = st.floats(2.0**-24, 0.999, allow_nan=False)
INT32 = (-(2**31), 2**31 - 1)


def half_up(value):
    return floor(value + Fraction(1, 2))


def half_away(value):
    return half_up(value) if value >= 0 else -half_up(-value)


def half_even(value):
    return round(value)


@given(
    st.integers(-(2**62), 2**62),
    st.integers(0, 62),
    st.sampled_from(["half-up", "half-away", "half-even", "down"]),
)
def test_one_rounding(value, shift, rounding):
    value = value >> (shift // 31)
    exact = Fraction(value, 2**shift)
    expected = {"half-up": half_up, "half-away": half_away, "half-even": half_even, "down": floor}[rounding](
        exact
    )
    if abs(value) < 2**61:
        assert shift_right(np.int64(value), np.int64(shift), rounding) == expected


@given(st.floats(1e-12, 1e6), st.integers(2, 31))
def test_a_multiplier_is_the_nearest(real, bits):
    found = multiplier(np.float64(real), bits)
    assert 2 ** (bits - 1) <= found.value < 2**bits
    assert abs(float(found.real) / real - 1) <= 2.0**-bits


@given(ACCUMULATORS, REALS)
def test_gemmlowp_rounds_twice_away_from_zero(accumulator, real):
    pair = multiplier(np.float64(real))
    high = half_away(Fraction(accumulator * int(pair.value), 2**31))
    high = max(INT32[0], min(INT32[1], high))
    expected = half_away(Fraction(high, 2 ** (int(pair.shift) - 31)))
    assert gemmlowp(np.int32(accumulator), np.float64(real)) == expected


@given(ACCUMULATORS, REALS)
def test_cmsis_nn_rounds_up_then_away(accumulator, real):
    pair = multiplier(np.float64(real))
    high = half_up(Fraction(accumulator * int(pair.value), 2**31))
    high = max(INT32[0], min(INT32[1], high))
    assert cmsis_nn(np.int32(accumulator), np.float64(real)) == half_away(
        Fraction(high, 2 ** (int(pair.shift) - 31))
    )


@given(ACCUMULATORS, REALS)
def test_tflite_can_round_once(accumulator, real):
    pair = multiplier(np.float64(real))
    exact = Fraction(accumulator * int(pair.value), 2 ** int(pair.shift))
    assert tflite_single(np.int32(accumulator), np.float64(real)) == half_up(exact)


def test_the_variants_differ_on_ties():
    # A multiplier of 1/2: 3/2 and -3/2 are ties.
    odd = np.array([3, -3, 5, -5], np.int32)
    assert tflite_single(odd, np.float64(0.5)).tolist() == [2, -1, 3, -2]
    assert gemmlowp(odd, np.float64(0.5)).tolist() == [2, -2, 3, -3]
    assert cmsis_nn(odd, np.float64(0.5)).tolist() == [2, -1, 3, -2]
    assert one_shift(odd, multiplier(np.float64(0.5)), "half-even").tolist() == [2, -2, 2, -2]
    assert one_shift(odd, multiplier(np.float64(0.5)), "down").tolist() == [1, -2, 2, -3]


def test_fewer_bits_differ_more_often():
    dice = np.random.default_rng(0)
    accumulators = dice.integers(-50000, 50000, (4000, 4)).astype(np.int32)
    real = np.array([0.0023, 0.0019, 0.00071, 0.0031])
    rates = [mismatch(accumulators, real, 0, np.int8, one) for one in ("q31", "q15", "q7")]
    assert rates[0].rate < 0.001
    assert rates[0].differing <= rates[1].differing < rates[2].differing
    assert rates[1].rate < 0.01 < rates[2].rate
    assert rates[2].largest >= rates[1].largest
    assert all(one.values == 16000 for one in rates)
    for name in VARIANTS:
        found = requantized(accumulators, real, -5, np.int8, name)
        assert found.dtype == np.int8
        assert mismatch(accumulators, real, -5, np.int8, name).largest <= 1


@pytest.mark.parametrize("real", [-1.0, float("nan"), float("inf")])
def test_bad_multipliers_are_refused(real):
    with pytest.raises(ValueError, match="must be finite and not negative"):
        multiplier(np.float64(real))


def test_zero_is_zero():
    assert multiplier(np.float64(0)).value == 0
    assert gemmlowp(np.int32(77), np.float64(0)) == 0
    assert tflite_single(np.int32(77), np.float64(0)) == 0
    with pytest.raises(ValueError, match="1 to 31 bits"):
        multiplier(np.float64(1), 32)
