"""The integer reference against ONNX Runtime: every operator, every pair of types, every bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import CASES, S8, U8, Case, by_onnx_runtime

from py_autodoc.quantize.kernels import current_runtime
from py_autodoc.quantize.reference import OPERATORS, evaluate
from py_autodoc.quantize.reference.arithmetic import fma, requantize
from py_autodoc.quantize.reference.operators import ACCUMULATORS
from py_autodoc.quantize.reference.products import matmul

pytest.importorskip("onnxruntime")
PAIRS = [(op, types) for op, (_, pairs) in CASES.items() for types in pairs]
IDS = ["-".join([op, *(np.dtype(one).name for one in types)]) for op, types in PAIRS]
KERNEL = "pairs" if current_runtime() == "cpu-avx2" else "exact"
"""Of this machine."""


def test_every_operator_is_compared():
    assert set(CASES) == set(OPERATORS)


@pytest.mark.skipif(current_runtime() == "cpu-arm", reason="kernels of ARM requantize by fixed point")
@pytest.mark.parametrize(("op_type", "types"), PAIRS, ids=IDS)
def test_equals_onnx_runtime(op_type, types):
    make = CASES[op_type][0]

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.integers(0, 2**32 - 1))
    def equal(seed):
        case = make(np.random.default_rng(seed), *types)
        expected = by_onnx_runtime(case)
        found = evaluate(op_type, case.inputs, case.attributes, KERNEL)
        for one, other in zip(expected, found, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_array_equal(one, other)

    equal()


SHAPES = [
    ((5,), (5, 3)),
    ((2, 5), (5,)),
    ((5,), (5,)),
    ((2, 4, 5), (2, 5, 3)),
    ((4, 5), (2, 5, 3)),
    ((2, 1, 4, 5), (3, 5, 6)),
    ((2, 4, 5), (5,)),
]


@pytest.mark.skipif(current_runtime() == "cpu-arm", reason="kernels of ARM requantize by fixed point")
@pytest.mark.parametrize("op_type", ["MatMulInteger", "QLinearMatMul", "MatMulIntegerToFloat"])
@pytest.mark.parametrize(("a_shape", "b_shape"), SHAPES)
def test_products_of_any_rank(op_type, a_shape, b_shape):
    dice = np.random.default_rng(len(a_shape) * 7 + len(b_shape))
    a, b = dice.integers(200, 256, a_shape, U8), dice.integers(100, 128, b_shape).astype(S8)
    scale, zero, b_zero = (np.asarray(one) for one in (np.float32(0.1), U8(3), S8(-2)))
    inputs = {
        "MatMulInteger": [a, b, zero, b_zero],
        "QLinearMatMul": [a, scale, zero, b, scale, b_zero, np.asarray(7, np.float32), zero],
        "MatMulIntegerToFloat": [a, b, scale, scale, zero, b_zero],
    }[op_type]
    (expected,) = by_onnx_runtime(Case(op_type, list(inputs), {}, frozenset()))
    (found,) = evaluate(op_type, inputs, {}, KERNEL)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    # Whatever kernels are here: two pairs of five saturate for every element.
    exact, pairs = (
        ACCUMULATORS["MatMulInteger"]([a, b, zero, b_zero], {}, kernel) for kernel in ("exact", "pairs")
    )
    assert (pairs < exact).all()


def test_a_wrong_reference_would_be_seen():
    make = CASES["QLinearConv"][0]
    differs = 0
    for seed in range(20):
        case = make(np.random.default_rng(seed), U8, S8)
        inputs = list(case.inputs)
        inputs[6] = np.nextafter(inputs[6] * np.float32(1.01), np.float32(9))
        expected, found = (
            by_onnx_runtime(case)[0],
            evaluate("QLinearConv", inputs, case.attributes, KERNEL)[0],
        )
        differs += bool((expected != found).any())
    assert differs > 10


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None, database=None)
def test_pairs_saturate_as_loops_do(seed):
    dice = np.random.default_rng(seed)
    m, k, n = (int(one) for one in dice.integers(1, 12, 3))
    a, b = dice.integers(0, 256, (m, k), np.uint8), dice.integers(-128, 128, (k, n)).astype(np.int8)
    a_zero, b_zero = int(dice.integers(0, 256)), dice.integers(-128, 128, n).astype(np.int8)
    expected = np.zeros((m, n), np.int64)
    for row in range(m):
        for column in range(n):
            total = 0
            for at in range(0, k, 2):
                pair = sum(int(a[row, i]) * int(b[i, column]) for i in range(at, min(at + 2, k)))
                total += max(-32768, min(32767, pair))
            total -= a_zero * int(b[:, column].astype(np.int64).sum())
            total -= int(b_zero[column]) * int(a[row].astype(np.int64).sum())
            expected[row, column] = total + k * a_zero * int(b_zero[column])
    found = matmul(a, a_zero, b, b_zero, "pairs")
    np.testing.assert_array_equal(found, expected)
    if np.abs(b.astype(int)).max() <= 63:
        np.testing.assert_array_equal(found, matmul(a, a_zero, b, b_zero))


def test_pairs_only_clip_unsigned_by_signed():
    a, b = np.full((1, 4), 255, np.uint8), np.full((4, 1), 127, np.int8)
    assert matmul(a, 0, b, 0)[0, 0] == 4 * 255 * 127
    assert matmul(a, 0, b, 0, "pairs")[0, 0] == 2 * 32767
    assert matmul(a, 0, b.astype(np.uint8), 0, "pairs")[0, 0] == 4 * 255 * 127
    signed = np.full((1, 4), -128, np.int8)
    assert matmul(signed, 0, b, 0, "pairs")[0, 0] == -4 * 128 * 127


def test_depthwise_does_not_clip():
    x, w = np.full((1, 2, 3, 3), 255, np.uint8), np.full((2, 1, 3, 3), 127, np.int8)
    one, zero = np.float32(1), np.uint8(0)
    big = np.asarray(2000, np.float32)
    inputs = [
        x,
        np.asarray(one),
        np.asarray(zero),
        w,
        np.asarray(one),
        np.int8(0),
        big,
        np.asarray(zero),
        None,
    ]
    exact = evaluate("QLinearConv", inputs, {"group": 2})[0]
    np.testing.assert_array_equal(exact, evaluate("QLinearConv", inputs, {"group": 2}, "pairs")[0])
    wide = [*inputs[:3], np.repeat(w, 2, 1), *inputs[4:]]
    assert (evaluate("QLinearConv", wide)[0] > evaluate("QLinearConv", wide, {}, "pairs")[0]).all()


def test_a_fused_product_is_rounded_once():
    # The square of 1 + 2^-12 ends in 2^-24, which float32 has no room for beside 1.
    a, sum_of_rest = np.float32(1 + 2**-12), np.float32(-(1 + 2**-11))
    assert a * a + sum_of_rest == 0
    assert fma(a, a, sum_of_rest) == np.float32(2.0**-24)


def test_a_missing_input_is_named():
    with pytest.raises(ValueError, match="input 3 is missing"):
        evaluate(
            "QLinearConv",
            [np.zeros((1, 1, 1, 1), U8), np.float32(1), np.uint8(0), None, None, None, None, np.uint8(0)],
        )
    with pytest.raises(KeyError):
        evaluate("Conv", [])


def test_requantize_clamps_before_it_rounds():
    huge = np.array([2**31 - 1, -(2**31)], np.int32)
    assert requantize(huge, np.float32(1), 3, S8).tolist() == [127, -128]
