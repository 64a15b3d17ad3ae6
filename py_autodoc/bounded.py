"""Checks of JSON and TOML texts before parsing, to reject those that would use too many resources.

A parser needs 60 to 230 bytes for each ``[]`` or ``{}``, code that uses the result may recurse, and TOML's
parser takes quadratic memory for long dotted keys. Counting brackets and commas is cheap.
"""

from __future__ import annotations

import json
import re
from typing import Any

from py_autodoc.limits import MAX_KEY_PARTS, Bounds


class TooMuch(ValueError):
    """A text was rejected; the message gives the reason as the end of a sentence."""


_MARKS = re.compile(r'"(?:[^"\\]+|\\.)*"?|[\[\]{}]', re.DOTALL)
_KEYS = re.compile(r"""(\.)|[ \t]+|([A-Za-z0-9_-]+|"(?:[^"\\\n]+|\\.)*"?|'[^'\n]*'?)|[^ \t]""", re.DOTALL)
"""A dot, white space, a part of a key, anything else."""


def check_json(text: str | bytes, bounds: Bounds) -> None:
    """Reject JSON with too many values or levels, in linear time. Raises: TooMuch."""
    if isinstance(text, str):
        groups, commas = text.count("[") + text.count("{"), text.count(",")
    else:
        groups, commas = text.count(b"[") + text.count(b"{"), text.count(b",")
    # Characters in strings count too, so the limit is certain to hold.
    values = groups + commas
    if values > bounds.values:
        raise TooMuch(f"has more than {bounds.values:,} values")
    if groups > bounds.depth and _deeper(text, bounds.depth):
        raise TooMuch(f"is nested deeper than {bounds.depth} levels")


def _deeper(text: str | bytes, most: int) -> bool:
    depth = 0
    for match in _MARKS.finditer(text if isinstance(text, str) else text.decode("latin-1")):
        mark = match[0][0]
        if mark in "[{":
            depth += 1
            if depth > most:
                return True
        elif mark != '"':
            depth -= 1
    return False


def parse_json(text: str | bytes, bounds: Bounds) -> Any:
    """Parse a JSON text.

    Raises:
        TooMuch: it exceeds the bounds.
        ValueError: it is not JSON.
    """
    check_json(text, bounds)
    try:
        return json.loads(text)
    except RecursionError:
        raise TooMuch("is nested too deeply") from None


def check_toml(text: str, bounds: Bounds) -> None:
    """Reject TOML that would take too much time or memory. Raises: TooMuch."""
    check_json(text, bounds)
    dots = 0
    for match in _KEYS.finditer(text):
        if match[1]:
            dots += 1
            if dots >= MAX_KEY_PARTS:
                raise TooMuch(f"has a key of more than {MAX_KEY_PARTS} parts")
        elif not match[2] and match[0][0] not in " \t":
            dots = 0
