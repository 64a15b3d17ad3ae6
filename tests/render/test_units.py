"""Numbers as people read them."""

from __future__ import annotations

import pytest

from py_autodoc.render.text import printable, shorten
from py_autodoc.render.units import at_least, count, exact, seconds, shape, share, size


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"), (0, "0"), (7, "7"), (999, "999"), (1000, "1.0 K"), (9408, "9.41 K"), (99_949, "99.9 K"),
        (99_951, "100 K"), (999_499, "999 K"), (999_500, "1.0 M"), (118_013_952, "118 M"),
        (2 * 10**21, "2.0 Z"), (10**28, "10000 Y"), (-1500, "-1.5 K"), (0.5, "0.5"),
    ],
)  # fmt: skip
def test_count(value, text):
    assert count(value) == text


def test_units():
    assert count(118e6, "MACs") == "118 M MACs"
    assert size(3_211_264) == "3.21 MB"
    assert size(512) == "512 B"
    assert size(1_500) == "1.5 kB"
    assert exact(25_557_032) == "25,557,032"
    assert exact(None) == "—"


def test_a_sum_that_lacks_parts_is_a_lower_bound():
    assert [at_least(118e6, known) for known in (None, 1.0, 0.99)] == ["118 M", "118 M", "≥ 118 M"]
    assert at_least(None, 0.5) == "—"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"), (12.34, "12.3 s"), (1, "1 s"), (0.99949, "999 ms"), (0.9996, "1.0 s"),
        (1.284e-3, "1.28 ms"), (9.996e-3, "10.0 ms"), (5.28e-6, "5.28 µs"), (2e-6, "2.0 µs"),
        (3.1e-8, "31.0 ns"), (7.8e-10, "0.78 ns"), (-2e-3, "-2.0 ms"), (None, "—"),
    ],
)  # fmt: skip
def test_seconds(value, text):
    """As ``formatSeconds`` of the viewer writes them."""
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(1, 1, "100 %"), (0, 5, "0 %"), (1, 10_000, "<0.1 %"), (9999, 10_000, "99.9 %"), (1, 8, "12.5 %"),
     (None, 5, "—"), (1, None, "—"), (0, 0, "—")],
)  # fmt: skip
def test_share(part, whole, text):
    assert share(part, whole) == text


def test_shape():
    assert shape([1, 64, 56, 56]) == "1×64×56×56"
    assert shape(["batch", None, "seq + 1"]) == "batch×?×(seq + 1)"
    assert shape([]) == "scalar"
    assert shape(None) == "?"


def test_printable():
    assert printable("plain") == "plain"
    assert printable("a\nb\tc") == "a b c"
    assert printable("\x1b[31m\x00\u202e\u200b\ud800\x9b") == "\ufffd[31m" + "\ufffd" * 5
    assert printable("é 漢 😀") == "é 漢 😀"


def test_shorten():
    assert shorten("abc", 3) == "abc"
    assert shorten("abcdefghij", 7) == "ab…ghij"
    assert len(shorten("x" * 1000, 20)) == 20
