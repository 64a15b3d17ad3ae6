"""Amounts in options and policies: ``100M``, ``1.5GiB``, ``10ms``, ``5%``."""

from __future__ import annotations

import re
from math import isnan

from py_autodoc.errors import OptionError
from py_autodoc.report.node_query.query_parser import query_number

_TIME = re.compile(r"(.*?)\s*(us|µs|ms|s)?", re.IGNORECASE)
_TIMES = {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "": 1.0}
_PERCENT = re.compile(r"\+?([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%")

Amount = str | int | float


def amount(text: Amount, option: str) -> float:
    """Parse a count or a size in bytes: ``100M``, ``2GB``, ``1GiB``, ``1e9``. Raises: OptionError."""
    number = query_number(_text(text).replace(" ", ""))
    if isnan(number):
        raise _unreadable(text, option, "100M, 2GB, 512MiB or 1e9")
    return number


def milliseconds(text: Amount, option: str) -> float:
    """Parse a time: ``10ms``, ``0.5s``, ``250us``; a bare number is in milliseconds. Raises: OptionError."""
    match = _TIME.fullmatch(_text(text))
    number = query_number(match[1]) if match and not match[1][-1:].isalpha() else float("nan")
    if match is None or isnan(number):
        raise _unreadable(text, option, "10ms, 0.5s or 250us")
    return number * _TIMES[(match[2] or "").lower()]


def tolerance(text: Amount, option: str) -> float:
    """Parse a growth in percent: ``5%``. Raises: OptionError."""
    match = _PERCENT.fullmatch(_text(text))
    if match is None:
        raise _unreadable(text, option, "5% or 0.5%")
    return float(match[1])


def _text(value: Amount) -> str:
    return "" if isinstance(value, bool) else str(value).strip()


def _unreadable(value: Amount, option: str, example: str) -> OptionError:
    return OptionError(
        "bad-amount", f"{option}: cannot read {str(value)[:40]!r}.", f"Pass a value such as {example}."
    )
