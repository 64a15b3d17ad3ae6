"""Lists of values on the command line: ``1,4,16``, ``seq=128,256``, ``x=1x3x224x224,1x3x320x320``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from py_autodoc.errors import OptionError
from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes

_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
_TIMES = {"us": 1e-3, "µs": 1e-3, "": 1.0, "ms": 1.0, "s": 1e3}
_RATES = {
    **dict.fromkeys(("", "fps", "ips", "qps", "rps", "hz", "/s", "/sec", "/second"), 1.0),
    **dict.fromkeys(("items/s", "images/s", "img/s", "frames/s", "requests/s", "samples/s"), 1.0),
    **dict.fromkeys(("/min", "/minute"), 1 / 60),
    **dict.fromkeys(("/h", "/hour"), 1 / 3600),
}
_AMOUNT = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-zµ/]*)\s*", re.IGNORECASE)


def texts(lists: Sequence[str]) -> list[str]:
    """Return the distinct items of comma-separated lists."""
    items = (item.strip() for text in lists for item in text.split(","))
    return list(dict.fromkeys(item for item in items if item))


def counts(lists: Sequence[str], option: str) -> list[int]:
    """Positive integers. Raises: OptionError."""
    numbers = []
    for item in texts(lists):
        if not item.isascii() or not item.isdigit() or not 1 <= int(item[:10]) <= 1 << 20:
            raise OptionError(
                "bad-list",
                f"{option}: {item[:40]!r} is not a number from 1 to 1,048,576.",
                "Pass a list such as 1,4,16.",
            )
        numbers.append(int(item))
    return numbers


def tokens(lists: Sequence[str], option: str) -> list[int]:
    """Parse numbers of tokens; ``k`` is 1,024, ``m`` is 1,024 k. Raises: OptionError."""
    numbers = []
    for item in texts(lists):
        match = re.fullmatch(r"(\d{1,9})([km]?)", item, re.ASCII | re.IGNORECASE)
        count = int(match[1]) << {"": 0, "k": 10, "m": 20}[match[2].lower()] if match else 0
        if not 1 <= count <= 1 << 24:
            raise OptionError(
                "bad-list",
                f"{option}: {item[:40]!r} is not a number from 1 to 16,777,216.",
                "Pass a list such as 1k,4k,32k.",
            )
        numbers.append(count)
    return numbers


def swept(items: Sequence[str]) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return the dimensions with several values, and those with one. Raises: OptionError."""
    several: dict[str, list[int]] = {}
    for item in items:
        name, _, sizes = item.rpartition("=")
        for size in sizes.split(","):
            for key, value in parse_bindings([f"{name}={size}"]).items():
                if value not in several.setdefault(key, []):
                    several[key].append(value)
    fixed = {name: sizes[0] for name, sizes in several.items() if len(sizes) == 1}
    return {name: sizes for name, sizes in several.items() if len(sizes) > 1}, fixed


def shapes(items: Sequence[str]) -> dict[str, list[tuple[int, ...]]]:
    """Return the shapes per input. Raises: OptionError."""
    values: dict[str, list[tuple[int, ...]]] = {}
    for item in items:
        name, _, several = item.rpartition("=")
        for shape in several.split(","):
            for key, value in parse_input_shapes([f"{name}={shape}"]).items():
                if value not in values.setdefault(key, []):
                    values[key].append(value)
    return values


def resolutions(items: Sequence[str], option: str) -> list[tuple[int, int]]:
    """Parse ``224x224,384x512`` (height × width) or ``224`` for both. Raises: OptionError."""
    found: list[tuple[int, int]] = []
    for text in texts(items):
        match = re.fullmatch(r"(\d{1,5})(?:\s*[x×]\s*(\d{1,5}))?", text.strip().lower())
        size = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not all(size):
            raise OptionError(
                "bad-list", f"{option}: {text[:40]!r} is not HEIGHTxWIDTH.", "Pass 224x224,384x384."
            )
        if size not in found:
            found.append(size)
    return found


def byte_size(text: str | None, option: str) -> int | None:
    """Parse ``8GB`` or ``512 MiB`` as bytes. Raises: OptionError."""
    return None if text is None else int(_amount(text, option, _UNITS, "8GB or 512MiB"))


def milliseconds(text: str | None, option: str) -> float | None:
    """Parse ``10ms``, ``0.5 s`` or ``10`` as positive milliseconds. Raises: OptionError."""
    return None if text is None else positive(_amount(text, option, _TIMES, "10ms or 0.5s"), option)


def per_second(text: str | None, option: str) -> float | None:
    """Parse ``30``, ``30fps``, ``1000/s`` or ``600/min`` as a positive rate. Raises: OptionError."""
    if text is None:
        return None
    try:
        rate = float(text)
    except ValueError:
        rate = _amount(text, option, _RATES, "30, 30fps or 1000/s")
    return positive(rate, option)


def _amount(text: str, option: str, units: dict[str, int] | dict[str, float], example: str) -> float:
    match = _AMOUNT.fullmatch(text)
    scale = units.get(match[2].lower()) if match else None
    if match is None or scale is None:
        raise OptionError(
            "bad-amount", f"{option}: cannot read {text[:40]!r}.", f"Pass a value such as {example}."
        )
    return float(match[1]) * scale


def positive(value: float | None, option: str) -> float | None:
    """Return the number if it is positive. Raises: OptionError."""
    if value is not None and not 0 < value < 1e18:
        raise OptionError(
            "bad-amount", f"{option} is {value:g}; it must be above 0.", "Pass a positive number."
        )
    return value
