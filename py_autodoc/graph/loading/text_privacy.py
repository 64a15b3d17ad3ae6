"""Private details in the free text of a model: paths of the exporting machine and stack traces.

Most models contain no such path, so the serialized structure is searched first and individual texts only
after a hit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import onnx

from py_autodoc.graph.ir.model import LocalPaths, TextFacts
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.protobuf.protobuf_wire import WireError, varint

STACK_TRACE = b"pkg.torch.onnx.stack_trace"
"""Metadata key for the stack trace that torch.onnx records for a node."""
MAX_KINDS = 50
"""Maximum number of kinds of places listed."""

_USER_FOLDERS = ("/home/", "/Users/", "/root/", "\\Users\\", "\\Documents and Settings\\")
_UNIX = r"(?:(?<![\w./\\-])|(?<=file://))(?P<unix>/(?:home|Users|mnt/[a-z]/Users)/)(?P<a>[^/\\\s\"'<>|:;,(){}\[\]]+)/"
_WINDOWS = (
    r"(?<!\w)(?P<windows>[A-Za-z]:(?:\\{1,2}|/)(?:Users|Documents and Settings)(?:\\{1,2}|/))"
    r"(?P<b>[^\\/:*?\"<>|\r\n]+)[\\/]"
)
_ROOT = r"(?:(?<![\w./\\-])|(?<=file://))(?P<root>/root/)(?=\S)"
_PATH = re.compile(f"{_UNIX}|{_WINDOWS}|{_ROOT}")
_SYSTEM_USERS = frozenset({
    "<user>", "admin", "administrator", "app", "azureuser", "build", "builder", "circleci", "conda", "debian",
    "default", "docker", "ec2-user", "gitlab-runner", "jenkins", "jovyan", "mambauser", "nobody", "public",
    "root", "runner", "runneradmin", "sagemaker-user", "shared", "student", "test", "ubuntu", "user",
    "username", "users", "vscode", "vsts", "work", "workspace",
})  # fmt: skip
"""Account names used by images, services and examples."""


def text_facts(proto: onnx.ModelProto, graphs: Iterable[onnx.GraphProto], structure: bytes) -> TextFacts:
    """Count stack traces and local paths. ``graphs``: the main graph and all subgraphs.

    ``structure`` is the serialized model without large payloads. Linear in its size.
    """
    traces, size = _stack_traces(structure)
    if not any(folder.encode() in structure for folder in _USER_FOLDERS):
        return TextFacts(traces, size)
    counts: Counter[tuple[str, str, bool]] = Counter()
    for origin, text in _texts(proto, graphs):
        path = _first_path(text)
        if path is not None:
            counts[origin, path[0], path[1]] += 1
    order = sorted(counts.items(), key=lambda item: (not item[0][2], -item[1], item[0]))
    return TextFacts(traces, size, tuple(LocalPaths(p, f, n, who) for (p, f, who), n in order[:MAX_KINDS]))


def _stack_traces(structure: bytes) -> tuple[int, int]:
    """Return (stack traces, their bytes). A StringStringEntryProto is the key, then field 2 with the text."""
    count = size = 0
    offset = structure.find(STACK_TRACE)
    while offset >= 0:
        offset += len(STACK_TRACE)
        if structure[offset : offset + 1] == b"\x12":
            try:
                length, start = varint(structure, offset + 1)
            except (WireError, IndexError):
                length, start = len(structure) + 1, offset
            if start + length <= len(structure):
                count, size, offset = count + 1, size + length, start + length
        offset = structure.find(STACK_TRACE, offset)
    return count, size


def _first_path(text: str) -> tuple[str, bool] | None:
    """Return (start of the first local path, whether its user may be a person); None without a path."""
    if not any(folder in text for folder in _USER_FOLDERS):
        return None
    path: tuple[str, bool] | None = None
    for match in _PATH.finditer(text):
        if match["root"]:
            path = path or ("/root/", False)
            continue
        user = (match["a"] or match["b"] or "").strip().lower()
        begin = match["unix"] or match["windows"]
        if user not in _SYSTEM_USERS:
            return f"{begin}<user>", True
        path = path or (f"{begin}<user>", False)
    return path


def _texts(proto: onnx.ModelProto, graphs: Iterable[onnx.GraphProto]) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every free text."""
    yield "doc_string", decode_text(proto.doc_string)
    for entry in proto.metadata_props:
        yield f"metadata {_key(entry.key)}", decode_text(entry.value)
    for graph in graphs:
        yield "graph doc_string", decode_text(graph.doc_string)
        yield from _of_nodes(graph.node)
        for values in (graph.input, graph.output, graph.value_info, graph.initializer, [graph]):
            yield from _of_values(values)
    for function in proto.functions:
        yield "function doc_string", decode_text(function.doc_string)
        yield from _of_nodes(function.node)


def _of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if node.doc_string:
            yield "node doc_string", decode_text(node.doc_string)
        for entry in node.metadata_props:
            yield f"node metadata {_key(entry.key)}", decode_text(entry.value)


def _of_values(values: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield texts of inputs, outputs, values and initializers, and the metadata of graphs."""
    for value in values:
        if value.doc_string and not isinstance(value, onnx.GraphProto):
            yield "tensor doc_string", decode_text(value.doc_string)
        kind = "graph" if isinstance(value, onnx.GraphProto) else "tensor"
        for entry in value.metadata_props:
            yield f"{kind} metadata {_key(entry.key)}", decode_text(entry.value)


def _key(key: str | bytes) -> str:
    """Shorten a metadata key for display, and remove any path in it."""
    text = decode_text(key)
    return "<path>" if any(folder in text for folder in _USER_FOLDERS) else text[:80]
