"""Checks whether the numbers in a text come from the facts it was written from."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

MARK = "[not in the report]"
_UNITS: dict[str, tuple[float, ...]] = {
    "k": (1e3,), "thousand": (1e3,), "m": (1e6,), "million": (1e6,), "g": (1e9,), "billion": (1e9,),
    "b": (1e9, 1.0), "bn": (1e9,), "t": (1e12,), "trillion": (1e12,),
    "kb": (1e3,), "mb": (1e6,), "gb": (1e9,), "tb": (1e12,), "bytes": (1.0,), "byte": (1.0,),
    "kib": (2.0**10,), "mib": (2.0**20,), "gib": (2.0**30,), "tib": (2.0**40,),
    "%": (0.01, 1.0), "percent": (0.01, 1.0),
    # Times in the facts are in milliseconds.
    "ms": (1.0,), "s": (1e3,), "seconds": (1e3,), "second": (1e3,), "µs": (1e-3,), "us": (1e-3,),
    "milliseconds": (1.0,), "microseconds": (1e-3,),
}  # fmt: skip
"""Unit → factors that convert a number to the unit of a fact; two for ambiguous words."""
_PREFIXED = re.compile(r"([kmgt])(?:macs?|flops?|params?|parameters|ops)$", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![\w.])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<power>e[+-]?\d{1,3})?"
    r"(?:(?P<gap>[ \u00a0\u202f-]?)(?P<unit>%|[A-Za-zµ]+))?"
)
"""A number that is not part of a name (``int8``, ``n12``), and the word after it."""
_LISTED = re.compile(r"^\s*\d{1,2}[.)](?=\s)", re.MULTILINE)
"""The number of a list item."""


def mark_unsupported(text: str, facts: Any) -> tuple[str, list[str]]:
    """Return the text with ``MARK`` after every number that is in no fact, and those numbers, each once.

    A number matches a fact rounded to as many digits: 109 M matches 109,482,240.
    """
    fact_numbers = sorted(set(_numbers(facts)))
    listed = {match.start() for match in _LISTED.finditer(text)}
    pieces, copied_to, missing = [], 0, dict[str, None]()
    for match in _NUMBER.finditer(text):
        if any(start <= match.start("number") <= start + 4 for start in listed) and _entry(text, match):
            continue
        end, scales = _scales(match)
        if _is_supported(match, scales, fact_numbers):
            continue
        number = text[match.start() : end]
        missing[number] = None
        pieces += [text[copied_to:end], f" {MARK}"]
        copied_to = end
    return "".join([*pieces, text[copied_to:]]), list(missing)


def _entry(text: str, match: re.Match[str]) -> bool:
    line = text.rfind("\n", 0, match.start()) + 1
    return not text[line : match.start()].strip() and text[match.end("number") :][:1] in (".", ")")


def _scales(match: re.Match[str]) -> tuple[int, tuple[float, ...]]:
    """Return (end of the number with its unit, possible factors)."""
    unit = match["unit"] or ""
    scales = _UNITS.get(unit.lower())
    prefixed = _PREFIXED.match(unit)
    if scales is None and prefixed:
        scales = _UNITS[prefixed[1].lower()]
    if unit == "M" or unit == "m":
        # The facts contain no metres.
        scales = (1e6,)
    if scales is None:
        end = match.end("power") if match["power"] else match.end("number")
        return end, (1.0,)
    return match.end("unit"), scales


def _is_supported(match: re.Match[str], scales: tuple[float, ...], fact_numbers: list[float]) -> bool:
    digits = match["number"].replace(",", "")
    power = 10.0 ** int(match["power"][1:]) if match["power"] else 1.0
    value = float(digits) * power
    decimals = len(digits.partition(".")[2])
    # Half of the last digit, plus a tolerance for round-half-even and truncation.
    slack = 0.51 * 10.0**-decimals * power
    for scale in scales:
        low, high = (value - slack) * scale, (value + slack) * scale
        if scale == 1.0 and not decimals and not match["power"]:
            low = high = value
        index = bisect_left(fact_numbers, low - 1e-9 * abs(low))
        if index < len(fact_numbers) and fact_numbers[index] <= high + 1e-9 * abs(high):
            return True
    return False


def _numbers(facts: Any) -> Iterator[float]:
    """Yield all numbers of a document, including those in texts."""
    if isinstance(facts, bool) or facts is None:
        return
    if isinstance(facts, (int, float)):
        yield float(facts)
    elif isinstance(facts, str):
        for match in re.finditer(r"\d+(?:,\d{3})*(?:\.\d+)?", facts):
            yield float(match[0].replace(",", ""))
    elif isinstance(facts, dict):
        for name, value in facts.items():
            yield from _numbers(name)
            yield from _numbers(value)
    elif isinstance(facts, (list, tuple)):
        yield float(len(facts))
        for value in facts:
            yield from _numbers(value)
