"""Arithmetic with symbols, its bounds and its text, against plain integers."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_autodoc.costs.registry import broadcast, ceil_div, maximum, minimum, prod
from py_autodoc.costs.symbolic import (
    EvaluationError,
    Symbolic,
    UndecidedComparison,
    evaluate,
    symbol,
    to_poly,
)
from py_autodoc.costs.symbolic_text import parse, text
from py_autodoc.graph.symbolic_dims import dim_arithmetic, poly_bounds
from py_autodoc.graph.symbolic_dims.poly import ExprError

from . import expression_fixture as fixture

H, W, B = symbol("h"), symbol("w"), symbol("batch")


def test_the_file_of_the_other_evaluator_is_up_to_date():
    assert fixture.FILE.read_text(encoding="utf-8") == fixture.written(), (
        "run tests/costs/expression_fixture.py"
    )


@pytest.mark.parametrize("seed", range(60))
def test_text_comes_back(seed):
    number = fixture.expression(random.Random(seed), 4)
    written = text(number)
    assert written is not None
    again = parse(written)
    assert to_poly(again) == to_poly(number), written
    assert text(again) == written


@pytest.mark.parametrize("seed", range(200))
def test_bounds_hold(seed):
    rng = random.Random(seed)
    number = fixture.expression(rng, 4)
    p = to_poly(number)
    low, high = poly_bounds.lower(p), poly_bounds.upper(p)
    for _ in range(40):
        value = evaluate(number, fixture.binding(rng))
        assert low is None or low <= value
        assert high is None or value <= high
    ones = dict.fromkeys(fixture.NAMES, 1)
    assert low is None or low <= evaluate(number, ones)


@pytest.mark.parametrize("seed", range(60))
def test_the_extremes_kept_are_enough(seed):
    rng = random.Random(seed)
    parts = [to_poly(fixture.expression(rng, 3)) for _ in range(6)]
    for largest in (True, False):
        kept = poly_bounds.remove_dominated(parts, largest)
        assert kept
        for _ in range(20):
            sizes = fixture.binding(rng)
            pick = max if largest else min

            def best(polys, pick=pick, sizes=sizes):
                return pick(evaluate(Symbolic(p) if p.as_int() is None else p.as_int(), sizes) for p in polys)

            assert best(kept) == best(parts)


SIZES = st.fixed_dictionaries({name: st.integers(1, 500) for name in ("h", "w", "batch")})


@settings(max_examples=100, deadline=None)
@given(SIZES)
def test_helpers_of_the_rules_mean_the_same(sizes):
    h, w, b = sizes["h"], sizes["w"], sizes["batch"]

    def same(number, expected):
        assert evaluate(number, sizes) == expected

    same(prod((B, 3, H, W)), b * 3 * h * w)
    same(ceil_div(H, 7), -(-h // 7))
    same(ceil_div(H * 5, W), -(-h * 5 // w))
    same(minimum(H, 64), min(h, 64))
    same(maximum(H - W, 0), max(h - w, 0))
    same(maximum(maximum(H, W), B), max(h, w, b))
    same(H % 8, h % 8)
    same(1000 % W, 1000 % w)
    same(1000 // W, 1000 // w)
    same(5 - H, 5 - h)
    same(-(H // 2) + W, -(h // 2) + w)
    same(broadcast(H, 1), h)
    same(broadcast(H, H), h)
    same(broadcast(7, H), 7)


def test_results_without_symbols_are_integers():
    assert type(H - H) is int
    assert type((H * 8) % 4) is int
    assert H * 0 == 0


@pytest.mark.parametrize(
    ("relation", "answer"),
    [
        (lambda: H == H, True),
        (lambda: H == H + 1, False),
        (lambda: H * W >= H, True),
        (lambda: 2 * H > H, True),
        (lambda: H < 1, False),
        (lambda: H != -1, True),
        (lambda: bool(H), True),
        (lambda: H - 2 * (H // 2) <= 1, True),
        (lambda: 64 * H * W >= 256 * (H // 2) * (W // 2), True),
    ],
)
def test_decided(relation, answer):
    assert relation() is answer


@pytest.mark.parametrize(
    "relation",
    [
        lambda: H == 1,
        lambda: H == W,
        lambda: H > 1,
        lambda: W <= H,
        lambda: bool(H - 1),
        lambda: bool(H % 2),
        lambda: 4 * (H // 4) == H,
        lambda: H // (W - 1),
    ],
)
def test_undecided(relation):
    with pytest.raises(UndecidedComparison):
        relation()


def test_a_symbol_is_no_key():
    with pytest.raises(TypeError):
        hash(H)


def test_too_large_is_refused():
    with pytest.raises(UndecidedComparison):
        prod([H] * 40)
    wide = sum((symbol(f"s{i}") for i in range(200)), 0)
    with pytest.raises(UndecidedComparison):
        _ = wide * wide
    with pytest.raises(UndecidedComparison):
        _ = H * (1 << 130)


def test_values_need_sizes():
    assert H.evaluate({"h": 3}) == 3
    for sizes in ({}, {"h": 0}, {"h": -2}):
        with pytest.raises(EvaluationError):
            (H + 1).evaluate(sizes)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (H * 5 + B * W * 3, "3*batch*w + 5*h"),
        ((H + 31) // 32, "ceil(h/32)"),
        (2 * ((H * W + 31) // 32) * B, "2*ceil((h*w)/32)*batch"),
        (2 * (H // 3), "2*(h//3)"),
        (-(H // 3), "-(h//3)"),
        (B - H // 3, "batch - h//3"),
        ((H + 1) // W, "(h + 1)//w"),
        (maximum(H, W * 2), "max(2*w, h)"),
        (7, "7"),
    ],
)
def test_text(number, written):
    assert text(number) == written
    assert to_poly(parse(written)) == to_poly(number)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "h w",
        "max(h)w",
        "ceil(h)",
        "ceil(h/w)",
        "ceil(h/0)",
        "h/2",
        "2**8",
        "(h",
        "max(h,",
        "f(h)",
        "h//0",
        "(" * 60 + "h",
    ],
)
def test_what_is_no_expression(source):
    with pytest.raises(ExprError):
        parse(source)


def test_dimensions_keep_their_own_grammar():
    with pytest.raises(dim_arithmetic.ExprError):
        dim_arithmetic.parse("ceil(h/2)")
    assert dim_arithmetic.parse("max").text == "max"
