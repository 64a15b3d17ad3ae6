"""Text from a model made safe for a terminal."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Control and format characters (escape sequences, bidi overrides, zero-width), halves of surrogate pairs."""
_BREAKS = frozenset("\t\n\v\f\r\u0085\u2028\u2029")


def printable(text: str) -> str:
    """``text`` on one line, with everything that steers a terminal replaced by U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        " " if c in _BREAKS else "\ufffd" if unicodedata.category(c) in _HIDDEN else c for c in text
    )


def shorten(text: str, width: int) -> str:
    """``text`` in at most ``width`` characters; names keep their end, which tells them apart."""
    if len(text) <= width:
        return text
    if width < 2:
        return text[:width]
    head = (width - 1) // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"
