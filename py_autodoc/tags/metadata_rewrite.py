"""Rewrites the node metadata of a serialized model; everything else is copied unchanged.

Weights are never parsed, only nodes, one at a time. Memory does not grow with the file size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import BinaryIO

import onnx
from google.protobuf.message import DecodeError

from py_autodoc.graph.protobuf.protobuf_wire import BYTES, WireError, WireSource, encode_bytes, fields
from py_autodoc.graph.protobuf.structure_scan import MessagePieces, PayloadReference
from py_autodoc.outputs.marks import WRITTEN
from py_autodoc.tags.tag_storage import nested_nodes

_GRAPH, _METADATA, _FUNCTION = 7, 14, 25
_GRAPH_NODE, _FUNCTION_NODE = 1, 7
_CHUNK = 1 << 22

Edit = Callable[[onnx.NodeProto], None]


def rewrite(source: WireSource, out: BinaryIO, edit: Edit, metadata: Mapping[str, str]) -> None:
    """Write the model in ``source`` to ``out``.

    Args:
        source: a serialized ``ModelProto``.
        out: destination of the result.
        edit: called with every node in file order (a node, then its subgraphs); modifies it.
        metadata: entries that replace model metadata with the same keys.

    Raises:
        WireError: the protobuf is broken.
    """
    parts = MessagePieces()
    # The record of who wrote the file no longer holds.
    dropped = {WRITTEN, *metadata}
    functions: list[tuple[int, int, int]] = []
    copied = 0
    entries = list(fields(source, 0, source.size))
    # The main graph comes first in the node order, wherever functions are in the file.
    graphs = {
        key: _nodes(source, a, b, _GRAPH_NODE, edit) for n, w, key, a, b in entries if _is(n, w, _GRAPH)
    }
    for number, wire, key, start, stop in entries:
        if _is(number, wire, _FUNCTION):
            functions.append((key, start, stop))
    bodies = {key: _nodes(source, a, b, _FUNCTION_NODE, edit) for key, a, b in functions}
    for number, wire, key, start, stop in entries:
        if key in graphs or key in bodies:
            parts.span(copied, key)
            parts.message(number, graphs[key] if key in graphs else bodies[key])
            copied = stop
        elif _is(number, wire, _METADATA) and _key(source.read(start, stop)) in dropped:
            parts.span(copied, key)
            copied = stop
    parts.span(copied, source.size)
    for key_text, value in metadata.items():
        entry = onnx.StringStringEntryProto(key=key_text, value=value)
        parts.literal(encode_bytes(_METADATA, entry.SerializeToString()))
    _write(source, parts, out)


def _is(number: int, wire: int, field: int) -> bool:
    return number == field and wire == BYTES


def _nodes(source: WireSource, pos: int, end: int, field: int, edit: Edit) -> MessagePieces:
    parts = MessagePieces()
    copied = pos
    for number, wire, key, start, stop in fields(source, pos, end):
        if _is(number, wire, field):
            try:
                node = onnx.NodeProto.FromString(source.read(start, stop))
            except DecodeError:
                raise WireError(start, "a broken node") from None
            for inner in nested_nodes(node):
                edit(inner)
            parts.span(copied, key)
            parts.literal(encode_bytes(field, node.SerializeToString()))
            copied = stop
    parts.span(copied, end)
    return parts


def _key(entry: bytes) -> str:
    try:
        return str(onnx.StringStringEntryProto.FromString(entry).key)
    except DecodeError:
        return ""


def _write(source: WireSource, parts: MessagePieces, out: BinaryIO) -> None:
    for item in parts.items:
        if isinstance(item, tuple):
            start, stop = item
            for offset in range(start, stop, _CHUNK):
                out.write(source.read(offset, min(offset + _CHUNK, stop)))
        else:
            out.write(item.data if isinstance(item, PayloadReference) else item)
