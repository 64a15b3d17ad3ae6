"""File names and texts of outcomes as all formats need them."""

from __future__ import annotations

import os
from urllib.parse import quote

from py_autodoc.check.outcomes import CheckOutcome, named
from py_autodoc.render.terminal_text import printable


def relative(file: str) -> str:
    """The path below the current folder with ``/``; of others the base name, never a full path.

    Bytes that are not UTF-8 are replaced.
    """
    return _relative(file).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _relative(file: str) -> str:
    try:
        inside = os.path.relpath(os.path.realpath(file), os.path.realpath("."))
    except ValueError:  # another drive
        return os.path.basename(file)
    if os.path.isabs(inside) or inside.split(os.sep)[0] == os.pardir:
        return os.path.basename(file)
    shown = inside if os.path.isabs(file) else os.path.relpath(file)
    if shown.split(os.sep)[0] == os.pardir:  # through a link
        shown = inside
    return shown.replace(os.sep, "/")


def uri(file: str) -> str:
    """``relative`` as a URI reference."""
    path = _relative(file).encode("utf-8", "surrogateescape")
    return quote(path, safe="/")


def plain(text: str) -> str:
    """A text without halves of surrogate pairs, which no JSON of UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def sentence(one: CheckOutcome) -> str:
    """Message, nodes and hint on one line without control characters."""
    nodes = named(one.nodes, one.node_count)
    parts = [one.message, f"Nodes: {nodes}." if nodes else "", one.hint]
    return printable(" ".join(part for part in parts if part))
