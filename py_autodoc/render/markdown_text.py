"""Escape text for Markdown (as rendered by code hosts and the Hugging Face Hub), Mermaid and YAML."""

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
"""Characters that start a list, title or table at the beginning of a line."""
_PLAIN_LABEL = re.compile(r"[^\w ,.:/×·…+-]")
Picture: TypeAlias = tuple[str, str | None]
"""Paths of an image and of its variant for dark pages."""
MAX_CHARACTERS = 400
"""Maximum number of characters of one text from the model."""


def escape(text: str) -> str:
    """Escape text so that Markdown renders it literally, without markup, HTML, links or formulas."""
    one_line = re.sub(r"\s+", " ", printable(text))
    # Bare URLs become links automatically, so they must be broken up.
    parts = _LINKS.split(one_line)
    escaped = [_escape_part(parts[0])]
    for index in range(1, len(parts), 3):
        escaped += [
            parts[index],
            "&#58;" if parts[index + 1] == ":" else "&#46;",
            _escape_part(parts[index + 2]),
        ]
    return _BEGINS.sub(r"\1\2\\\3", "".join(escaped))


def _escape_part(text: str) -> str:
    marked = "".join(_ENTITIES.get(character, character) for character in text)
    # The # of an entity does not start a title.
    return re.sub(r"(&#?\w+;)|" + _MARKS.pattern, lambda match: match[1] or f"\\{match[0]}", marked)


def code(text: str) -> str:
    """Return a name in a code span, unchanged; a dash if empty."""
    one_line = shorten(" ".join(printable(text).split()), MAX_CHARACTERS)
    if not one_line:
        return "—"
    longest = max((len(run) for run in _BACKTICKS.findall(one_line)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if one_line[0] == "`" or one_line[-1] == "`" else ""
    # In a table, a bar ends the cell even in code, unless escaped.
    return f"{fence}{padding}{one_line}{padding}{fence}".replace("|", "\\|")


def mermaid(text: str) -> str:
    """Escape a Mermaid label: all but letters, digits and a few signs become numeric entities."""
    one_line = shorten(" ".join(printable(text).split()), 60) or "—"
    return _PLAIN_LABEL.sub(lambda match: f"#{ord(match[0])};", one_line)


def quote_yaml(text: str) -> str:
    """Quote a text for YAML with JSON's quoting, which YAML also accepts."""
    return json.dumps(shorten(" ".join(printable(text).split()), MAX_CHARACTERS), ensure_ascii=False)


def pictures(figures: Mapping[str, str]) -> dict[str, Picture]:
    """Map figures to images; the path of a figure ending in ``-dark`` is the variant for dark pages."""
    return {
        name: (path, figures.get(f"{name}-dark"))
        for name, path in figures.items()
        if not name.endswith("-dark")
    }


def picture(paths: Picture, caption: str) -> str:
    """Return an image with the caption as alternative text."""
    light, dark = (None if path is None else quote(path, safe="/.-_~") for path in paths)
    if dark is None:
        return f"![{escape(caption)}]({light})"
    return (
        f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f'<img alt="{escape(caption)}" src="{light}">\n</picture>'
    )
