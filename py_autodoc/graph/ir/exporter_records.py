"""Module records that this package's exporter writes: metadata keys and the table in the model metadata.

Each node has its module in its own metadata. Many tools drop node metadata but keep model metadata, which
therefore holds a compressed copy: names of nodes and tensors, each with its module.

The table comes from an untrusted file, so its size is bounded and its types and indices are checked.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from py_autodoc.bounded import check_json
from py_autodoc.limits import TABLE as TABLE_BOUNDS

SCOPE = "autodoc.scope"
"""Module path, such as ``encoder.layer.0.attention``; empty for the top-level module."""
TAG = "autodoc.tag"
"""Class path, such as ``/BertModel/BertEncoder/BertLayer.0``."""
VIA = "autodoc.via"
"""Origin of the record: trace, fused, param, context or root."""
SCOPES = "autodoc.scopes"
"""All modules of a node that merges several nodes: a JSON list."""
CALL = "autodoc.call"
"""Call number, from 0, of modules that are called several times: a JSON object of path → number."""
STACK = "autodoc.stack"
"""Module call stack, outermost first, if it differs from the levels of the scope path: a JSON list."""
TABLE = "autodoc.hierarchy"
"""Key of the table in the model's metadata."""
NODE_KEYS = (TAG, SCOPE, VIA, SCOPES, CALL, STACK)

_VERSION = 1
_PREFIX = "gz:"
_MAX_PACKED = 1 << 26
_MAX_JSON = 1 << 28


class Module(msgspec.Struct, array_like=True, frozen=True):
    """A module in the table."""

    path: str
    kind: str
    """Class with its package, such as ``torch.nn.modules.linear.Linear``; empty if unknown."""
    tag: str = ""
    """Empty for a module that tags omit."""
    called: bool = False
    """The module was called on the path to a node; a ModuleList is not."""


class ModuleRecord(msgspec.Struct, array_like=True, frozen=True):
    """The part of a record that several nodes share."""

    scope: str
    tag: str
    via: str
    scopes: tuple[str, ...] = ()
    call: dict[str, int] = {}
    stack: tuple[str, ...] = ()


class NamedModules(msgspec.Struct, array_like=True, frozen=True):
    """A node: index of its record, its name and the names of its outputs."""

    record: int
    name: str
    outputs: tuple[str, ...] = ()


class _Packed(msgspec.Struct):
    """The table as JSON; module paths and tags are stored once."""

    v: int
    exporter: str = ""
    keep: tuple[str, ...] = ()
    modules: tuple[Module, ...] = ()
    aliases: dict[str, str] = {}
    records: tuple[ModuleRecord, ...] = ()
    nodes: tuple[NamedModules, ...] = ()


@dataclass(frozen=True, slots=True)
class ModuleTable:
    """A copy of all tags in the model metadata."""

    exporter: str
    """dynamo, torchscript, hf …"""
    keep: tuple[str, ...]
    """Globs of classes that are kept in tags although they belong to torch."""
    modules: tuple[Module, ...]
    aliases: Mapping[str, str]
    records: tuple[ModuleRecord, ...]
    nodes: tuple[NamedModules, ...]


def pack_table(table: ModuleTable) -> str:
    """Serialise the table as one line of text (gzip, then base 85). Deterministic."""
    packed = _Packed(
        _VERSION,
        table.exporter,
        table.keep,
        table.modules,
        dict(table.aliases),
        table.records,
        table.nodes,
    )
    data = gzip.compress(msgspec.json.encode(packed), 6, mtime=0)
    return _PREFIX + base64.b85encode(data).decode("ascii")


def unpack_table(text: str) -> ModuleTable | None:
    """Parse a table; None if the text is damaged or has another format."""
    if not text.startswith(_PREFIX) or len(text) > _MAX_PACKED:
        return None
    try:
        packed = base64.b85decode(text[len(_PREFIX) :])
        inflate = zlib.decompressobj(wbits=31)
        data = inflate.decompress(packed, _MAX_JSON)
        if not inflate.eof:
            return None
        check_json(data, TABLE_BOUNDS)
        table = msgspec.json.decode(data, type=_Packed)
    except (ValueError, zlib.error, msgspec.DecodeError, RecursionError):
        return None
    if table.v != _VERSION or any(not 0 <= node.record < len(table.records) for node in table.nodes):
        return None
    return ModuleTable(table.exporter, table.keep, table.modules, table.aliases, table.records, table.nodes)


def doc_string(tags: tuple[str, ...], via: str, before: str = "") -> str:
    """Return the ``doc_string`` for a node, for tools that keep it but drop metadata.

    ``before`` is the original doc_string, which is stored inside.
    """
    content: dict[str, object] = {
        "hierarchy_tags": list(tags),
        "hierarchy_path": tags[0],
        "hierarchy_count": len(tags),
        "hierarchy_method": via,
    }
    if before:
        content["doc_string"] = before
    return json.dumps(content, separators=(",", ":"))


class DocString(msgspec.Struct):
    """The ``doc_string`` of a node in the format of this package."""

    hierarchy_tags: list[str]
    hierarchy_path: str
    hierarchy_method: str
    doc_string: str = ""


def read_doc_string(text: str) -> DocString | None:
    """Parse the tags in a node's ``doc_string``; None if it has another format."""
    if not text.startswith('{"hierarchy_tags":'):
        return None
    try:
        return msgspec.json.decode(text, type=DocString)
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None


def string_items(text: str) -> tuple[str, ...]:
    """Parse a JSON list of strings; empty for anything else."""
    try:
        return msgspec.json.decode(text, type=tuple[str, ...]) if text else ()
    except (ValueError, msgspec.DecodeError, RecursionError):
        return ()


def call_numbers(text: str) -> dict[str, int]:
    """Parse a JSON object of path → number; empty for anything else."""
    try:
        return msgspec.json.decode(text, type=dict[str, int]) if text else {}
    except (ValueError, msgspec.DecodeError, RecursionError):
        return {}
