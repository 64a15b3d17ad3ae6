"""How numbers are written: three significant digits with SI prefixes, or exact with separators.

The viewer writes them in the same way (``src/core/units.ts``).
"""

from __future__ import annotations

from collections.abc import Iterable

UNKNOWN = "—"
_COUNTS = ("", "K", "M", "G", "T", "P", "E", "Z", "Y")
_SECONDS = ("s", "ms", "µs", "ns")
_BYTES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")


def count(value: float | None, unit: str = "") -> str:
    """``118 M``, ``9.41 K``, ``2.0 Z``, ``64``; ``unit`` follows the prefix. Unknown is ``—``."""
    if value is None:
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
    if value is None:
        return UNKNOWN
    digits, power = _scaled(value)
    return f"{digits} {_BYTES[power]}B"


def seconds(value: float | None) -> str:
    """A time in the unit that suits it: ``1.28 ms``, ``5.28 µs``, ``12.3 s``. Unknown is ``—``."""
    if value is None:
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
    """A part of a whole as ``12.3 %``; below a tenth of a percent ``<0.1 %``. Unknown is ``—``."""
    if part is None or not whole:
        return UNKNOWN
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "<0.1 %"
    return "100 %" if part == whole else "0 %" if not percent else f"{min(percent, 99.9):.1f} %"


def shape(sizes: Iterable[int | str | None] | None) -> str:
    """``1×64×56×56``, ``batch×768``; ``scalar`` without dimensions, ``?`` where unknown."""
    if sizes is None:
        return "?"
    parts = ["?" if d is None else _dim(d) for d in sizes]
    return "×".join(parts) if parts else "scalar"


def _dim(dim: int | str) -> str:
    """An expression with operators keeps together in brackets."""
    text = str(dim)
    return f"({text})" if any(c in text for c in " +-*/") and not text.lstrip("-").isdigit() else text


def _scaled(value: float) -> tuple[str, int]:
    """Three significant digits and the power of 1000 they are scaled by."""
    magnitude, power = abs(value), 0
    mantissa = float(magnitude)
    while mantissa >= 999.5 and power < len(_COUNTS) - 1:
        if power == 0 and magnitude < 1000:
            break
        power += 1
        mantissa = magnitude / 1000**power
    sign = "-" if value < 0 else ""
    return sign + _three_digits(mantissa, power), power


def _three_digits(mantissa: float, power: int) -> str:
    if power == 0 and mantissa == int(mantissa):
        return str(int(mantissa))
    if mantissa >= 99.95:
        return f"{mantissa:.0f}"
    if mantissa >= 9.995:
        return f"{mantissa:.1f}"
    text = f"{mantissa:.2f}"
    return text[:-1] if text.endswith("0") else text
