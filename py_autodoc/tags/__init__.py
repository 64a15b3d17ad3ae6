"""Which module of the original model each node comes from: names, rules, storage.

Needs no torch. ``assign`` is the one rule; ``write_tags``, ``read_tags`` and ``strip_tags`` keep its result
in a model; ``restore`` brings it back after a tool dropped it; ``tag_file`` reads files of others.
"""

from __future__ import annotations

from py_autodoc.graph.recorded import CALL, NODE_KEYS, SCOPE, SCOPES, STACK, TABLE, TAG, VIA, Table
from py_autodoc.tags.assign import Evidence, Frame, assign
from py_autodoc.tags.files import save, structure
from py_autodoc.tags.model import Coverage, NodeTag, Tags, bodies, walk
from py_autodoc.tags.naming import KEEP, Namer
from py_autodoc.tags.read import load_tags, read_tags, table_in
from py_autodoc.tags.restore import restore
from py_autodoc.tags.sidecar import ModuleInfo, coverage, sidecar, sidecar_path, write_sidecar
from py_autodoc.tags.store import strip_tags, write_tags
from py_autodoc.tags.tagging import restore_file, tag_file, write_file

__all__ = [
    "CALL",
    "KEEP",
    "NODE_KEYS",
    "SCOPE",
    "SCOPES",
    "STACK",
    "TABLE",
    "TAG",
    "VIA",
    "Coverage",
    "Evidence",
    "Frame",
    "ModuleInfo",
    "Namer",
    "NodeTag",
    "Table",
    "Tags",
    "assign",
    "bodies",
    "coverage",
    "load_tags",
    "read_tags",
    "restore",
    "restore_file",
    "save",
    "sidecar",
    "sidecar_path",
    "strip_tags",
    "structure",
    "table_in",
    "tag_file",
    "walk",
    "write_file",
    "write_sidecar",
    "write_tags",
]
