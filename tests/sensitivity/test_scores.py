"""Scores of results, rounding of weights, targets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_autodoc.errors import AutodocError
from py_autodoc.sensitivity.float_layers import curve_points, fewest_float_layers, target
from py_autodoc.sensitivity.layers import Scheme, activation_scale, quantized_weight
from py_autodoc.sensitivity.scores import FloatResults, Score


def test_equal_results_score_as_equal():
    rows = [np.random.default_rng(0).standard_normal((3, 5))]
    score = FloatResults(rows, classes=True).score(rows)
    assert (score.sqnr_db, score.relative_error, score.agreement) == (None, 0.0, 1.0)
    assert score.kl == pytest.approx(0, abs=1e-12)


def test_scores_as_they_are_defined():
    a, b = np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    score = FloatResults([a], classes=True).score([b])
    assert score.relative_error == pytest.approx(np.sqrt(3 / 5))
    assert score.sqnr_db == pytest.approx(10 * np.log10(5 / 3))
    assert score.agreement == 0.5
    p = np.exp(a) / np.exp(a).sum(1, keepdims=True)
    q = np.exp(b) / np.exp(b).sum(1, keepdims=True)
    assert score.kl == pytest.approx((p * np.log(p / q)).sum() / 2)


def test_probabilities_are_taken_as_they_are():
    p, q = np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]])
    assert FloatResults([p], True).score([q]).kl == pytest.approx(0.9 * np.log(1.8) + 0.1 * np.log(0.2))


def test_what_is_of_no_classes_has_no_divergence():
    score = FloatResults([np.ones((2, 3))], classes=False).score([np.zeros((2, 3))])
    assert (score.kl, score.agreement, score.relative_error) == (None, None, 1.0)
    assert FloatResults([np.ones((2, 1))], classes=True).score([np.ones((2, 1))]).agreement is None


@given(
    st.sampled_from([("s8", 127), ("s7", 63), ("s4", 7)]),
    st.booleans(),
    st.integers(0, 2),
    st.integers(0, 99),
)
def test_weights_are_rounded_to_their_grid(kind, per_channel, axis, seed):
    weight = np.random.default_rng(seed).standard_normal((4, 3, 5)).astype(np.float32)
    weight[(slice(None),) * axis + (0,)] = 0
    made = quantized_weight(weight, axis, Scheme(weights=kind[0], per_channel=per_channel))
    moved = np.moveaxis(made, axis, 0).reshape(made.shape[axis], -1)
    given_ = np.moveaxis(weight, axis, 0).reshape(made.shape[axis], -1)
    peaks = np.abs(given_).max(1, keepdims=True) if per_channel else np.abs(given_).max()
    step = np.where(peaks > 0, peaks / kind[1], 1)
    assert np.abs(moved - given_).max() <= step.max() * 0.51
    assert np.allclose(moved / step, np.round(moved / step), atol=1e-3)
    assert np.abs(np.round(moved / step)).max() <= kind[1]
    assert not moved[0].any()


@given(st.floats(-1e3, 1e3, width=32), st.floats(-1e3, 1e3, width=32))
def test_zero_is_in_every_range(a, b):
    for kind in ("u8", "s8"):
        scale, zero = activation_scale(min(a, b), max(a, b), Scheme(activations=kind))
        assert scale > 0
        info = np.iinfo(zero.dtype)
        low, high = ((info.min - int(zero)) * scale, (info.max - int(zero)) * scale)
        assert low <= 0 <= high
        assert low <= min(a, b) + scale
        assert high >= max(a, b) - scale


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [("agreement>=0.99", "agreement", 0.99), ("agreement >= 99%", "agreement", 0.99),
     ("sqnr>30 dB", "sqnr", 30), ("kl<=1e-2", "kl", 0.01), ("relative_error < 0.05", "relative_error", 0.05)],
)  # fmt: skip
def test_targets(text, name, value):
    found = target(text)
    assert (found.name, found.value) == (name, pytest.approx(value))


@pytest.mark.parametrize(
    "text", ["", "agreement", "agreement<=1", "kl>=1", "speed>=2", "sqnr>=x", "sqnr>=1e"]
)
def test_what_is_no_target(text):
    with pytest.raises(AutodocError, match="is not a valid target"):
        target(text)


def test_a_figure_that_the_model_has_not():
    with pytest.raises(AutodocError, match="does not hold class scores"):
        target("kl<=1").met(Score(10.0, 0.1, None, None))


@pytest.mark.parametrize("layers", [5, 60])
def test_the_fewest_float_layers(layers):
    asked = []

    def score(count):
        asked.append(count)
        return Score(10.0 + count, 0.1, None, None)

    assert fewest_float_layers(layers, target("sqnr>=13"), score) == (3, True)
    assert fewest_float_layers(layers, target("sqnr>=1"), score)[0] == 0
    assert fewest_float_layers(layers, target("sqnr>=1000"), score) == (layers, False)
    assert len(asked) < 30


@given(st.integers(1, 500))
def test_points_of_a_curve(count):
    found = curve_points(count)
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (0, count) or count < 3
    assert len(found) <= 28


def test_results_that_are_not_finite_are_the_worst():
    score = FloatResults([np.ones((2, 3))], classes=True).score([np.full((2, 3), np.nan)])
    assert (score.relative_error, score.kl, score.sqnr_db) == (np.inf, np.inf, None)
    assert not target("sqnr>=-100").met(score)
