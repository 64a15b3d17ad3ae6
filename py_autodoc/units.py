"""How numbers are written: three significant digits with SI prefixes, or exact with separators.

The viewer writes them in the same way (``src/core/base/numberFormat.ts``); both are tested with the cases in
``tests/data/number_cases.json``, and halves are rounded up in both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

UNKNOWN = "—"
_COUNTS = ("", "K", "M", "G", "T", "P", "E", "Z", "Y")
_SECONDS = ("s", "ms", "µs", "ns")
_BYTES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_THREE = Context(prec=3, rounding=ROUND_HALF_UP)
_LONG = Context(prec=400)
_PLAIN_FROM = -6
"""Smallest power of ten that is written without an exponent, as a browser does."""


def count(value: float | None, unit: str = "") -> str:
    """``118 M``, ``9.41 K``, ``2.0 Z``, ``64``; ``unit`` follows the prefix. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    digits, power = _scaled(value)
    return " ".join(part for part in (digits, _COUNTS[power], unit) if part)


def at_least(value: float | None, known: float | None) -> str:
    """A sum as ``count`` writes it, ``≥`` before it where only the share ``known`` of its parts is known."""
    return ("" if value is None or known is None or known >= 1 else "≥ ") + count(value)


def plural(count: int, one: str, many: str = "") -> str:
    """``1 layer``, ``12 layers``, with separators."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(value: float | None) -> str:
    """Bytes with SI prefixes, 1 kB = 1000 B: ``3.21 MB``. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    digits, power = _scaled(value)
    return f"{digits} {_BYTES[power]}B"


def seconds(value: float | None) -> str:
    """A time in the unit that suits it: ``1.28 ms``, ``5.28 µs``, ``12.3 s``. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    if not value:
        return "0 s"
    shown, unit = abs(value), 0
    while shown < 0.9995 and unit < len(_SECONDS) - 1:
        shown *= 1000
        unit += 1
    return f"{'-' if value < 0 else ''}{_three_digits(shown, unit)} {_SECONDS[unit]}"


def exact(value: int | None) -> str:
    """All digits with separators: ``25,557,032``. Unknown is ``—``."""
    return UNKNOWN if value is None else f"{value:,}"


def share(part: float | None, whole: float | None) -> str:
    """A part of a whole with one decimal: ``12.5 %``, ``42.0 %``. Unknown is ``—``.

    ``0 %`` and ``100 %`` are nothing and all of it, nothing less: what is below a tenth of a percent is
    ``<0.1 %``, and all but very little is ``99.9 %``.
    """
    if part is None or not whole:
        return UNKNOWN
    if part == whole:
        return "100 %"
    # What a division adds in the sixteenth digit must not decide how a half is rounded.
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
    """How sure a guess is, in whole percent: ``90 %``; ``100 %`` is certain. Unknown is ``—``."""
    if value is None or not _finite(value):
        return UNKNOWN
    percent = _rounded(float(f"{100 * value:.12g}"), 0)
    return f"{'99' if percent == '100' and value < 1 else percent} %"


def shape(sizes: Iterable[int | str | None] | None) -> str:
    """``1×64×56×56``, ``batch×768``; ``scalar`` without dimensions, ``?`` where unknown."""
    if sizes is None:
        return "?"
    parts = ["?" if d is None else _dim(d) for d in sizes]
    return "×".join(parts) if parts else "scalar"


def _finite(value: float) -> bool:
    """Whether a number can be written; one that no float can hold is none that a model has."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _dim(dim: int | str) -> str:
    """An expression with operators keeps together in brackets."""
    text = str(dim)
    return f"({text})" if any(c in text for c in " +-*/") and not text.lstrip("-").isdigit() else text


def _scaled(value: float) -> tuple[str, int]:
    """Three significant digits and the power of 1000 they are scaled by."""
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
    """So many places behind the point; a half is rounded away from 0."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _LONG))


def _small(value: float) -> str:
    """Three significant digits of what two places would make 0: ``0.00123``, ``1.23e-7``."""
    number = _THREE.create_decimal_from_float(value).normalize()
    if number.adjusted() >= _PLAIN_FROM:
        return f"{number:f}"
    digits = number.scaleb(-number.adjusted())
    return f"{digits:f}e{number.adjusted()}"
