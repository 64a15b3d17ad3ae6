"""Text made inert for Markdown as code hosts and the Hugging Face Hub render it, for Mermaid and for YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TypeAlias
from urllib.parse import quote

from py_autodoc.render.terminal_text import printable, shorten

_MARKS = re.compile(r"[\\`*_\[\]~]")
_BACKTICKS = re.compile("`+")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;", "@": "&#64;", '"': "&quot;"}
_LINKS = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp|www)([:.])")
_BEGINS = re.compile(r"^(\s*)(\d+)?([-+=#:]|(?<=\d)[.)](?=\s|$))")
"""What makes a list, a title or a table at the beginning of a line."""
_PLAIN_LABEL = re.compile(r"[^\w ,.:/×·…+-]")
Picture: TypeAlias = tuple[str, str | None]
"""Paths of a picture, and of that for dark pages."""
LONGEST = 400
"""Characters of one text of the model."""


def escape(text: str) -> str:
    """Text as Markdown that reads as the same text: no markup, HTML, link, mention or formula comes of it."""
    plain = re.sub(r"\s+", " ", printable(text))
    # Addresses become links by themselves, with nothing around them to escape.
    parts = _LINKS.split(plain)
    escaped = [_escaped(parts[0])]
    for at in range(1, len(parts), 3):
        escaped += [parts[at], "&#58;" if parts[at + 1] == ":" else "&#46;", _escaped(parts[at + 2])]
    return _BEGINS.sub(r"\1\2\\\3", "".join(escaped))


def _escaped(text: str) -> str:
    marked = "".join(_ENTITIES.get(character, character) for character in text)
    # The # of an entity is none of a title.
    return re.sub(r"(&#?\w+;)|" + _MARKS.pattern, lambda found: found[1] or f"\\{found[0]}", marked)


def code(text: str) -> str:
    """A name in a code span: what is in it stands as it is. Empty is a dash."""
    plain = shorten(" ".join(printable(text).split()), LONGEST)
    if not plain:
        return "—"
    longest = max((len(found) for found in _BACKTICKS.findall(plain)), default=0)
    fence = "`" * (longest + 1)
    room = " " if plain[0] == "`" or plain[-1] == "`" else ""
    # A table ends a cell at a bar even in code, unless it is escaped.
    return f"{fence}{room}{plain}{room}{fence}".replace("|", "\\|")


def mermaid(text: str) -> str:
    """A label in a diagram: letters, digits and a few signs; others by their number, as Mermaid has it."""
    plain = shorten(" ".join(printable(text).split()), 60) or "—"
    return _PLAIN_LABEL.sub(lambda found: f"#{ord(found[0])};", plain)


def quoted(text: str) -> str:
    """A text in YAML: JSON's quotes, which YAML reads alike."""
    return json.dumps(shorten(" ".join(printable(text).split()), LONGEST), ensure_ascii=False)


def pictures(figures: Mapping[str, str]) -> dict[str, Picture]:
    """Figure → its picture; a path whose figure ends with ``-dark`` is that for dark pages."""
    return {
        name: (path, figures.get(f"{name}-dark"))
        for name, path in figures.items()
        if not name.endswith("-dark")
    }


def picture(found: Picture, caption: str) -> str:
    """A picture with the caption as what stands in its place."""
    light, dark = (None if path is None else quote(path, safe="/.-_~") for path in found)
    if dark is None:
        return f"![{escape(caption)}]({light})"
    return (
        f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f'<img alt="{escape(caption)}" src="{light}">\n</picture>'
    )
