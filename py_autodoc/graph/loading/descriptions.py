"""Doc strings and metadata of graphs, inputs, outputs, initializers, values and functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import onnx

from py_autodoc.graph.ir.model import Description
from py_autodoc.graph.ir.name_sanitizer import decode_text

MAX_DESCRIPTIONS = 100
"""Maximum number that is kept; more are counted."""
MAX_CHARACTERS = 1024
"""Maximum length of a text."""
_MAX_ENTRIES = 16
_RECORDS = ("pkg.", "autodoc.")
"""Prefixes of metadata that exporters and this package record for tools."""


def descriptions(
    proto: onnx.ModelProto, graphs: Sequence[onnx.GraphProto]
) -> tuple[tuple[Description, ...], int]:
    """Return the first texts of a model and the number of all. ``graphs``: the main graph and all subgraphs.

    Records of exporters are not included: they are for tools, and one for each tensor.
    """
    kept, count = list[Description](), 0

    def add(kind: str, parts: Iterable[Any]) -> None:
        nonlocal count
        for part in parts:
            if not part.doc_string and not part.metadata_props:
                continue
            metadata = _metadata(part.metadata_props)
            if not part.doc_string and not metadata:
                continue
            count += 1
            if len(kept) < MAX_DESCRIPTIONS:
                kept.append(Description(kind, decode_text(part.name), _short(part.doc_string), metadata))

    for number, graph in enumerate(graphs):
        add("subgraph" if number else "graph", [graph])
        if not number:
            add("input", graph.input)
            add("output", graph.output)
        add("initializer", graph.initializer)
        add("value", graph.value_info)
    add("function", proto.functions)
    return tuple(kept), count


def _metadata(entries: Iterable[onnx.StringStringEntryProto]) -> dict[str, str]:
    texts = ((decode_text(entry.key), entry.value) for entry in entries)
    found = [(key, value) for key, value in texts if not key.startswith(_RECORDS)]
    return {key[:MAX_CHARACTERS]: _short(value) for key, value in found[:_MAX_ENTRIES]}


def _short(text: str | bytes) -> str:
    decoded = decode_text(text)
    return decoded if len(decoded) <= MAX_CHARACTERS else f"{decoded[: MAX_CHARACTERS - 1]}…"
