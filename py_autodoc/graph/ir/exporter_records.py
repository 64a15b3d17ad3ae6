"""What the exporter of this package writes into a model: keys, and the table in the model's metadata.

Nodes carry their module in their own metadata. Many tools drop that, but nearly all keep the model's
metadata, where a compressed copy lies: the names of nodes and tensors, each with its module.

The table comes from an untrusted file: its size is bounded and its types and indices are checked.
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
"""Path of the module, as ``encoder.layer.0.attention``; empty at the top."""
TAG = "autodoc.tag"
"""Path of classes, as ``/BertModel/BertEncoder/BertLayer.0``."""
VIA = "autodoc.via"
"""How it is known: trace, fused, param, context or root."""
SCOPES = "autodoc.scopes"
"""All modules of a node that was made from several nodes: a JSON list."""
CALL = "autodoc.call"
"""Which call of modules that are called several times: a JSON object of path → number from 0."""
STACK = "autodoc.stack"
"""Modules being called, outermost first, where that is not what the scope's path says: a JSON list."""
TABLE = "autodoc.hierarchy"
"""Key of the table in the model's metadata."""
NODE_KEYS = (TAG, SCOPE, VIA, SCOPES, CALL, STACK)

_VERSION = 1
_PREFIX = "gz:"
_MAX_PACKED = 1 << 26
_MAX_JSON = 1 << 28


class Module(msgspec.Struct, array_like=True, frozen=True):
    """A module of the table."""

    path: str
    kind: str
    """Class with its package, as ``torch.nn.modules.linear.Linear``; empty when unknown."""
    tag: str = ""
    """Empty for a module that is left out of tags."""
    called: bool = False
    """It was called on the way to some node; a ModuleList is not."""


class ModuleRecord(msgspec.Struct, array_like=True, frozen=True):
    """What several nodes have in common."""

    scope: str
    tag: str
    via: str
    scopes: tuple[str, ...] = ()
    call: dict[str, int] = {}
    stack: tuple[str, ...] = ()


class NamedModules(msgspec.Struct, array_like=True, frozen=True):
    """A node: index of its record, its name, the names of its outputs."""

    record: int
    name: str
    outputs: tuple[str, ...] = ()


class _Packed(msgspec.Struct):
    """The table as JSON; paths and tags of modules are written once."""

    v: int
    exporter: str = ""
    keep: tuple[str, ...] = ()
    modules: tuple[Module, ...] = ()
    aliases: dict[str, str] = {}
    records: tuple[ModuleRecord, ...] = ()
    nodes: tuple[NamedModules, ...] = ()


@dataclass(frozen=True, slots=True)
class ModuleTable:
    """The copy of all tags in the model's metadata."""

    exporter: str
    """dynamo, torchscript, hf …"""
    keep: tuple[str, ...]
    """Globs of the classes kept in tags although they are torch's own."""
    modules: tuple[Module, ...]
    aliases: Mapping[str, str]
    records: tuple[ModuleRecord, ...]
    nodes: tuple[NamedModules, ...]


def pack_table(table: ModuleTable) -> str:
    """The table as one line of text (gzip, then base 85); the same table gives the same text."""
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
    """Read a table; None when the text is not one of ours or damaged."""
    if not text.startswith(_PREFIX) or len(text) > _MAX_PACKED:
        return None
    try:
        packed = base64.b85decode(text[len(_PREFIX) :])
        inflate = zlib.decompressobj(wbits=31)
        data = inflate.decompress(packed, _MAX_JSON)
        if not inflate.eof:
            return None
        check_json(data, TABLE_BOUNDS)
        found = msgspec.json.decode(data, type=_Packed)
    except (ValueError, zlib.error, msgspec.DecodeError, RecursionError):
        return None
    if found.v != _VERSION or any(not 0 <= node.record < len(found.records) for node in found.nodes):
        return None
    return ModuleTable(found.exporter, found.keep, found.modules, found.aliases, found.records, found.nodes)


def doc_string(tags: tuple[str, ...], via: str, before: str = "") -> str:
    """What a node's ``doc_string`` says, for tools that keep it and drop the metadata.

    ``before`` is the doc_string the node had; it is kept inside.
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
    """A node's ``doc_string`` as this package writes it."""

    hierarchy_tags: list[str]
    hierarchy_path: str
    hierarchy_method: str
    doc_string: str = ""


def read_doc_string(text: str) -> DocString | None:
    """The tags in a node's ``doc_string``; None when it holds something else."""
    if not text.startswith('{"hierarchy_tags":'):
        return None
    try:
        return msgspec.json.decode(text, type=DocString)
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None


def string_items(text: str) -> tuple[str, ...]:
    """A JSON list of strings; empty when it is anything else."""
    try:
        return msgspec.json.decode(text, type=tuple[str, ...]) if text else ()
    except (ValueError, msgspec.DecodeError, RecursionError):
        return ()


def call_numbers(text: str) -> dict[str, int]:
    """A JSON object of path → number; empty when it is anything else."""
    try:
        return msgspec.json.decode(text, type=dict[str, int]) if text else {}
    except (ValueError, msgspec.DecodeError, RecursionError):
        return {}
