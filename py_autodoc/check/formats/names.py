"""File names and outcome texts, common to all formats."""

from __future__ import annotations

import os
from urllib.parse import quote

from py_autodoc.check.outcomes import CheckOutcome, named
from py_autodoc.render.terminal_text import printable


def relative(file: str) -> str:
    """Return the path relative to the current folder with ``/``; for other files the base name.

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
    path = inside if os.path.isabs(file) else os.path.relpath(file)
    if path.split(os.sep)[0] == os.pardir:  # through a link
        path = inside
    return path.replace(os.sep, "/")


def uri(file: str) -> str:
    """Return ``relative`` as a URI reference."""
    path = _relative(file).encode("utf-8", "surrogateescape")
    return quote(path, safe="/")


def utf8_text(text: str) -> str:
    """Return a text without lone surrogates, which UTF-8 JSON cannot represent."""
    return text.encode("utf-8", "replace").decode("utf-8")


def sentence(outcome: CheckOutcome) -> str:
    """Return message, nodes and hint on one line without control characters."""
    nodes = named(outcome.nodes, outcome.node_count)
    sentences = [outcome.message, f"Nodes: {nodes}." if nodes else "", outcome.hint]
    return printable(" ".join(sentence for sentence in sentences if sentence))
