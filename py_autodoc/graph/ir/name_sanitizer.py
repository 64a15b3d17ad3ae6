"""Names from a model as safe text of bounded length."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, MutableSequence
from typing import Any, Protocol

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector

MAX_NAME = 512
"""Longer names are shortened but stay distinct."""
_SHORTENED_LENGTH = 400


def decode_text(value: str | bytes) -> str:
    """Return a protobuf string as ``str``; protobuf returns bytes for invalid UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


def bounded_name(name: str) -> str:
    """Return a name of at most 512 characters: a longer one is cut to its first 400 and a digest of all.

    The digest depends on the name alone, so that two files and the arrays of a sample agree.
    """
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{name[:_SHORTENED_LENGTH]}…#{digest}"


def repair_texts(message: Message) -> None:
    """Convert every text in a protobuf to ``str``, in place, as other libraries require."""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_STRING:
            if isinstance(value, bytes):
                setattr(message, field.name, decode_text(value))
            elif not isinstance(value, str):
                for index, item in enumerate(value):
                    if isinstance(item, bytes):
                        value[index] = decode_text(item)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for inner in (value,) if isinstance(value, Message) else value:
                repair_texts(inner)


def restore_names(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Give the tensors and nodes of a graph and its subgraphs their names back, in place.

    Args:
        graph: the graph.
        names: the names by their shortened form.
    """
    if not names:
        return
    for message in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        message.name = names.get(message.name, message.name)
    for sparse in graph.sparse_initializer:
        sparse.values.name = names.get(sparse.values.name, sparse.values.name)
    for node in graph.node:
        node.name = names.get(node.name, node.name)
        for ends in (node.input, node.output):
            ends[:] = [names.get(end, end) for end in ends]
        for attribute in node.attribute:
            for body in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                restore_names(body, names)


class _NamedProto(Protocol):
    name: str


class NameSanitizer:
    r"""Rewrites the names of a model in place, so that later stages see only valid, short text.

    Invalid UTF-8 bytes become ``\xff``; long names are shortened (``bounded_name``). Equal names stay equal
    and different names stay different.
    """

    def __init__(self, notes: DiagnosticCollector) -> None:
        self._notes = notes
        self._cleaned: dict[str | bytes, str] = {}

    @property
    def shortened(self) -> dict[str, str]:
        """Return the long names by what they became."""
        return {clean: name for name, clean in self._cleaned.items() if isinstance(name, str)}

    def node(self, node: onnx.NodeProto) -> None:
        """Repair the names in a node."""
        for name in (node.name, node.op_type, node.domain, *node.input, *node.output):
            if type(name) is not str or len(name) > MAX_NAME:
                break
        else:
            return
        for field in ("name", "op_type", "domain", "overload"):
            self._field(node, field)
        self.sequence(node.input)
        self.sequence(node.output)

    def message(self, message: _NamedProto | Any) -> None:
        """Repair ``message.name``."""
        name = message.name
        if type(name) is not str or len(name) > MAX_NAME:
            message.name = self._clean(name)

    def messages(self, messages: Iterable[_NamedProto | Any]) -> None:
        """Repair the ``name`` of each message."""
        for message in messages:
            self.message(message)

    def sequence(self, names: MutableSequence[str]) -> None:
        """Repair a repeated string field."""
        for index, name in enumerate(names):
            if type(name) is not str or len(name) > MAX_NAME:
                names[index] = self._clean(name)

    def function(self, function: onnx.FunctionProto) -> None:
        """Repair the names that a function declares."""
        for field in ("name", "domain", "overload"):
            self._field(function, field)
        for names in (function.input, function.output, function.attribute):
            self.sequence(names)
        self.messages(function.attribute_proto)

    def _field(self, message: Any, field: str) -> None:
        name = getattr(message, field)
        if type(name) is not str or len(name) > MAX_NAME:
            setattr(message, field, self._clean(name))

    def _clean(self, name: str | bytes) -> str:
        cleaned = self._cleaned.get(name)
        if cleaned is not None:
            return cleaned
        clean = decode_text(name)
        if not isinstance(name, str):
            self._notes.add("non-utf8-name", "A name is not UTF-8; its bytes are shown escaped.", clean[:80])
        if len(clean) > MAX_NAME:
            message = f"A name of {len(clean):,} characters is cut."
            self._notes.add("long-name", message, clean[:80])
            clean = bounded_name(clean)
        self._cleaned[name] = clean
        return clean
