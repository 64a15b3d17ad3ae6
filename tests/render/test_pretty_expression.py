"""Expressions as the summary shows them."""

import pytest

from py_autodoc.graph.symbolic_dims.poly import ExprError
from py_autodoc.render.expression import format_expression


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("84934656*batch*seq + 18432*batch*seq*seq", "18.4 K·batch·seq² + 84.9 M·batch·seq"),
        ("batch", "batch"),
        ("7", "7"),
        ("0", "0"),
        ("2*a*a*a*b", "2·a³·b"),
        ("3*ceil(h/32)*ceil(h/32)*batch", "3·batch·⌈h/32⌉²"),
        ("(h + 1)//3 - 4", "⌊(h + 1)/3⌋ - 4"),
        ("1500 - a", "1.5 K - a"),
        ("max(2000*a*b, 5000*a)", "max(2.0 K·a·b, 5.0 K·a)"),
        ("3*min(a, 2000)", "3·min(2000, a)"),
        ("a + b + c + d + e + f + g + h", "a + b + c + d + e + f + … 2 more terms"),
        ("a + b + c + d + e + f + g", "a + b + c + d + e + f + g"),
    ],
)
def test_counts(text, shown):
    assert format_expression(text) == shown


def test_bytes_carry_their_unit():
    assert format_expression("4096*batch + 56", "bytes") == "4.1 kB·batch + 56 B"
    assert format_expression("max(4*a*b, 2000*a)", "bytes") == "max(2.0 kB·a, 4 B·a·b)"


def test_names_of_the_file():
    assert format_expression("2*batch_size", names={"batch_size": "batch size"}) == "2·batch size"


def test_no_expression():
    with pytest.raises(ExprError):
        format_expression("2 batch")
