"""Numbers as people read them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.render.units import at_least, confidence, count, exact, seconds, shape, share, size

CASES = json.loads((Path(__file__).parents[1] / "data" / "number_cases.json").read_text(encoding="utf-8"))
"""What the viewer's formatters are tested with as well."""
FORMATS = {
    "count": count,
    "size": size,
    "seconds": seconds,
    "exact": exact,
    "share": share,
    "confidence": confidence,
    "shape": shape,
}


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, cases in CASES.items() for case in cases])
def test_numbers_are_written_as_the_viewer_writes_them(name, case):
    *values, text = case
    assert FORMATS[name](*values) == text


def test_every_formatter_has_cases():
    assert CASES.keys() == FORMATS.keys()
    assert all(len(cases) > 5 for cases in CASES.values())


def test_units():
    assert count(118e6, "MACs") == "118 M MACs"
    assert [count(value) for value in (math.nan, math.inf)] == ["—", "—"]
    assert size(math.nan) == seconds(math.inf) == "—"
    assert count(2**400).endswith(" Y")


def test_a_sum_that_lacks_parts_is_a_lower_bound():
    assert [at_least(118e6, known) for known in (None, 1.0, 0.99)] == ["118 M", "118 M", "≥ 118 M"]
    assert at_least(None, 0.5) == "—"


def test_printable():
    assert printable("plain") == "plain"
    assert printable("a\nb\tc") == "a b c"
    assert printable("\x1b[31m\x00\u202e\u200b\ud800\x9b") == "\ufffd[31m" + "\ufffd" * 5
    assert printable("é 漢 😀") == "é 漢 😀"


def test_shorten():
    assert shorten("abc", 3) == "abc"
    assert shorten("abcdefghij", 7) == "ab…ghij"
    assert len(shorten("x" * 1000, 20)) == 20
