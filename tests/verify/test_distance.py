"""Distances of tensors, summed over samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from py_autodoc.verify.distance import Agreement, Distance


def of(*pairs):
    found = Distance()
    for a, b in pairs:
        found.add(np.asarray(a, np.float32), np.asarray(b, np.float32))
    return found


@given(arrays(np.float32, 40, elements=st.floats(-1e3, 1e3, width=32)), st.floats(1e-3, 1.0))
def test_as_numpy_says_and_however_it_is_cut(a, size):
    b = (a + np.float32(size)).astype(np.float32)
    whole, cut = of((a, b)), of((a[:7], b[:7]), (a[7:], b[7:]))
    x, y = a.astype(np.float64), b.astype(np.float64)
    if np.any(x):
        assert whole.relative == pytest.approx(np.linalg.norm(y - x) / np.linalg.norm(x), rel=1e-9)
        assert cut.relative == pytest.approx(whole.relative, rel=1e-9)
        assert whole.sqnr_db == pytest.approx(min(200, -20 * math.log10(whole.relative)), rel=1e-9)
    assert cut.largest == whole.largest == np.abs(y - x).max()


def test_equal_and_empty():
    same = of(([1, 2], [1, 2]))
    assert (same.relative, same.sqnr_db, same.exact, same.largest) == (0.0, None, True, 0.0)
    assert Distance().relative is None
    assert of(([0, 0], [0, 0])).relative == 0.0
    assert of(([0, 0], [0, 1])).relative == math.inf


def test_what_is_not_finite_counts_only_where_it_differs():
    nan, inf = math.nan, math.inf
    both = of(([nan, inf, -inf, 1], [nan, inf, -inf, 1]))
    assert (both.incomparable, both.relative, both.exact) == (0, 0.0, True)
    for other in (1.0, -inf, nan):
        one = of(([inf, 1], [other, 1]))
        assert (one.incomparable, one.relative, one.exact) == (1, inf, False)
        assert (one.sqnr_db, one.cosine) == (None, None)


def test_cosine_and_agreement():
    assert of(([1, 0], [0, 1])).cosine == 0.0
    assert of(([1, 2], [2, 4])).cosine == pytest.approx(1.0)
    found = Agreement()
    found.add(np.array([[1, 2], [3, 1]]), np.array([[0, 9], [1, 3]]))
    assert found.share == 0.5
    none = Agreement()
    none.add(np.zeros((3, 1)), np.zeros((3, 1)))
    assert none.share is None
