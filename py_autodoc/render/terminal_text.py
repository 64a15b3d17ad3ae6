"""Sanitise text from a model for terminals."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control and format characters (escape sequences, bidi overrides, zero-width), lone surrogates, and the line
and paragraph separators of Unicode, at which some readers of a log end a line."""
_LINES = frozenset("\t\n\r")
_BREAKS = frozenset("\t\n\v\f\r\u0085\u2028\u2029")


def printable(text: str) -> str:
    """Return ``text`` on one line, with all control characters replaced by U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        " " if c in _BREAKS else "\ufffd" if unicodedata.category(c) in _HIDDEN else c for c in text
    )


def printable_text(text: str) -> str:
    """Return ``text`` with its lines kept and all other control characters replaced by U+FFFD.

    Carriage returns are kept: they end a line, or restart it, as in progress bars.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in _LINES or unicodedata.category(c) not in _HIDDEN else "\ufffd" for c in text)


def printable_json(text: str) -> str:
    """Escape all control characters in JSON text: the same value, safe to display."""
    if text.isascii() and "\x7f" not in text:
        return text  # JSON already escapes the other control characters
    return "".join(c if c in _LINES or unicodedata.category(c) not in _HIDDEN else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def shorten(text: str, width: int) -> str:
    """Shorten ``text`` to ``width`` characters; names keep their end, which distinguishes them."""
    if len(text) <= width:
        return text
    if width < 2:
        return text[:width]
    head = (width - 1) // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"
