"""Number formatting: three significant digits with SI prefixes, or exact with separators.

The viewer formats in the same way (``src/core/base/numberFormat.ts``); both are tested with
``tests/data/number_cases.json``, and both round halves up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

UNKNOWN = "—"
_COUNTS = ("", "K", "M", "G", "T", "P", "E", "Z", "Y")
_SECONDS = ("s", "ms", "µs", "ns")
_BYTES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_THREE = Context(prec=3, rounding=ROUND_HALF_UP)
_LONG = Context(prec=400)
_PLAIN_FROM = -6
"""Smallest power of ten written without an exponent, as in JavaScript."""


def count(value: float | None, unit: str = "") -> str:
    """Return ``118 M``, ``9.41 K``, ``2.0 Z``, ``64``; ``unit`` follows the prefix. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    digits, power = _scaled(value)
    return " ".join(part for part in (digits, _COUNTS[power], unit) if part)


def at_least(
    value: float | None, known: float | None, written: Callable[[float | None], str] | None = None
) -> str:
    """Return a sum, with ``≥`` if only the share ``known`` of its parts is known. ``written``: ``count``."""
    return ("" if value is None or known is None or known >= 1 else "≥ ") + (written or count)(value)


def plural(count: int, one: str, many: str = "") -> str:
    """Return ``1 layer``, ``12 layers``, with separators."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(value: float | None) -> str:
    """Return bytes with SI prefixes, 1 kB = 1000 B: ``3.21 MB``. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    digits, power = _scaled(value)
    return f"{digits} {_BYTES[power]}B"


def seconds(value: float | None) -> str:
    """Return a time in a suitable unit: ``1.28 ms``, ``5.28 µs``, ``12.3 s``. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    if not value:
        return "0 s"
    shown, unit = abs(value), 0
    while shown < 0.9995 and unit < len(_SECONDS) - 1:
        shown *= 1000
        unit += 1
    return f"{'-' if value < 0 else ''}{_three_digits(shown, unit)} {_SECONDS[unit]}"


def seconds_range(low: float, high: float) -> str:
    """Return ``3.13 to 12.5 ms``, the unit once where both have the same."""
    first, last = seconds(low), seconds(high)
    number, _, unit = first.rpartition(" ")
    return f"{number} to {last}" if number and last.endswith(f" {unit}") else f"{first} to {last}"


def exact(value: int | None) -> str:
    """Return all digits with separators: ``25,557,032``. Unknown is ``—``."""
    return UNKNOWN if value is None else f"{value:,}"


def share(part: float | None, whole: float | None) -> str:
    """Return a share with one decimal: ``12.5 %``, ``42.0 %``. Unknown is ``—``.

    ``0 %`` and ``100 %`` are exact: shares below a tenth of a percent are ``<0.1 %``, and those just below
    the whole ``99.9 %``.
    """
    if part is None or not whole:
        return UNKNOWN
    if part == whole:
        return "100 %"
    # Errors of the division in the sixteenth digit must not affect rounding.
    percent = float(f"{100 * part / whole:.12g}")
    if not math.isfinite(percent):
        return UNKNOWN
    if not percent:
        return "0 %"
    if 0 < percent < 0.1:
        return "<0.1 %"
    if percent <= 100 and part < whole:
        percent = min(percent, 99.9)
    return f"{_rounded(percent, 1)} %"


def confidence(value: float | None) -> str:
    """Return a confidence in whole percent: ``90 %``; ``100 %`` is certain. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    percent = _rounded(float(f"{100 * value:.12g}"), 0)
    return f"{'99' if percent == '100' and value < 1 else percent} %"


def dollars(value: float | None) -> str:
    """Return an amount in dollars with three digits: ``$0.0412``, ``$1.50``, ``$1,230``. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    if abs(value) >= 100:
        return f"${value:,.0f}"
    return f"${value:.2f}" if abs(value) >= 1 else f"${value:.3g}"


def number(value: float | None) -> str:
    """Return a number as it was given, with at most six digits. Unknown is ``—``."""
    return UNKNOWN if value is None else f"{value:.6g}"


def shape(sizes: Iterable[int | str | None] | None) -> str:
    """Return ``1×64×56×56``, ``batch×768``; ``scalar`` without dimensions, ``?`` if unknown."""
    if sizes is None:
        return "?"
    parts = ["?" if d is None else _dim(d) for d in sizes]
    return "×".join(parts) if parts else "scalar"


def _finite(value: float) -> bool:
    """Return whether a number can be formatted; those beyond floats do not occur in models."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _dim(dim: int | str) -> str:
    """Return a dimension, in parentheses if it is an expression with operators."""
    text = str(dim)
    return f"({text})" if any(c in text for c in " +-*/") and not text.lstrip("-").isdigit() else text


def _scaled(value: float) -> tuple[str, int]:
    """Return three significant digits and the power of 1000 they are scaled by."""
    magnitude, power = abs(value), 0
    mantissa = float(magnitude)
    while mantissa >= 999.5 and power < len(_COUNTS) - 1:
        power += 1
        mantissa = magnitude / 1000**power
    sign = "-" if value < 0 else ""
    return sign + _three_digits(mantissa, power), power


def _three_digits(mantissa: float, power: int) -> str:
    if power == 0 and mantissa == int(mantissa):
        return str(int(mantissa))
    if mantissa >= 99.95:
        return _rounded(mantissa, 0)
    if mantissa >= 9.995:
        return _rounded(mantissa, 1)
    if mantissa < 0.01:
        return _small(mantissa)
    text = _rounded(mantissa, 2)
    return text[:-1] if text.endswith("0") else text


def _rounded(value: float, places: int) -> str:
    """Round to ``places`` decimals, halves away from 0."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _LONG))


def _small(value: float) -> str:
    """Return three significant digits where two decimals would give 0: ``0.00123``, ``1.23e-7``."""
    number = _THREE.create_decimal_from_float(value).normalize()
    if number.adjusted() >= _PLAIN_FROM:
        return f"{number:f}"
    digits = number.scaleb(-number.adjusted())
    return f"{digits:f}e{number.adjusted()}"
