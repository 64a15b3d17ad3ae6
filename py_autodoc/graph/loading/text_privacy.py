"""Private details in the free text of a model: paths of the exporting machine and stack traces.

Most models contain no such path, so the serialized structure is searched first and individual texts only
after a hit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import onnx

from py_autodoc.graph.ir.model import LocalPaths, TextFacts
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.protobuf.protobuf_wire import WireError, varint

STACK_TRACE = b"pkg.torch.onnx.stack_trace"
"""Metadata key for the stack trace that torch.onnx records for a node."""
MAX_KINDS = 50
"""Maximum number of kinds of places listed."""

_HOMES = ("/home/", "/Users/", "/root/", "\\Users\\", "\\Documents and Settings\\")
_UNIX = r"(?:(?<![\w./\\-])|(?<=file://))(?P<unix>/(?:home|Users|mnt/[a-z]/Users)/)(?P<a>[^/\\\s\"'<>|:;,(){}\[\]]+)/"
_WINDOWS = (
    r"(?<!\w)(?P<windows>[A-Za-z]:(?:\\{1,2}|/)(?:Users|Documents and Settings)(?:\\{1,2}|/))"
    r"(?P<b>[^\\/:*?\"<>|\r\n]+)[\\/]"
)
_ROOT = r"(?:(?<![\w./\\-])|(?<=file://))(?P<root>/root/)(?=\S)"
_PATH = re.compile(f"{_UNIX}|{_WINDOWS}|{_ROOT}")
_NOBODY = frozenset({
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
    if not any(home.encode() in structure for home in _HOMES):
        return TextFacts(traces, size)
    found: Counter[tuple[str, str, bool]] = Counter()
    for place, held in _texts(proto, graphs):
        hit = _first_path(held)
        if hit is not None:
            found[place, hit[0], hit[1]] += 1
    order = sorted(found.items(), key=lambda item: (not item[0][2], -item[1], item[0]))
    return TextFacts(traces, size, tuple(LocalPaths(p, f, n, who) for (p, f, who), n in order[:MAX_KINDS]))


def _stack_traces(structure: bytes) -> tuple[int, int]:
    """Return (stack traces, their bytes). A StringStringEntryProto is the key, then field 2 with the text."""
    count = size = 0
    at = structure.find(STACK_TRACE)
    while at >= 0:
        at += len(STACK_TRACE)
        if structure[at : at + 1] == b"\x12":
            try:
                length, start = varint(structure, at + 1)
            except (WireError, IndexError):
                length, start = len(structure) + 1, at
            if start + length <= len(structure):
                count, size, at = count + 1, size + length, start + length
        at = structure.find(STACK_TRACE, at)
    return count, size


def _first_path(held: str) -> tuple[str, bool] | None:
    """Return (start of the first local path, whether its user may be a person); None without a path."""
    if not any(home in held for home in _HOMES):
        return None
    found: tuple[str, bool] | None = None
    for match in _PATH.finditer(held):
        if match["root"]:
            found = found or ("/root/", False)
            continue
        user = (match["a"] or match["b"] or "").strip().lower()
        begin = match["unix"] or match["windows"]
        if user not in _NOBODY:
            return f"{begin}<user>", True
        found = found or (f"{begin}<user>", False)
    return found


def _texts(proto: onnx.ModelProto, graphs: Iterable[onnx.GraphProto]) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every free text."""
    yield "doc_string", decode_text(proto.doc_string)
    for entry in proto.metadata_props:
        yield f"metadata {_key(entry.key)}", decode_text(entry.value)
    for graph in graphs:
        yield "graph doc_string", decode_text(graph.doc_string)
        yield from _of_nodes(graph.node)
    for function in proto.functions:
        yield "function doc_string", decode_text(function.doc_string)
        yield from _of_nodes(function.node)


def _of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if node.doc_string:
            yield "node doc_string", decode_text(node.doc_string)
        for entry in node.metadata_props:
            yield f"node metadata {_key(entry.key)}", decode_text(entry.value)


def _key(key: str | bytes) -> str:
    """Shorten a metadata key for display, and remove any path in it."""
    shown = decode_text(key)
    return "<path>" if any(home in shown for home in _HOMES) else shown[:80]
