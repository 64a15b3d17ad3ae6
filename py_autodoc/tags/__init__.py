"""Original module of each node: inference, naming and storage of tags.

Does not need torch. ``assign`` infers the tags; ``write_tags``, ``read_tags`` and ``strip_tags`` store them
in a model; ``restore`` recovers them after a tool dropped them; ``tag_file`` reads files of other exporters.
"""

from __future__ import annotations

from py_autodoc.graph.ir.exporter_records import (
    CALL,
    NODE_KEYS,
    SCOPE,
    SCOPES,
    STACK,
    TABLE,
    TAG,
    VIA,
    ModuleTable,
)
from py_autodoc.tags.assign import Evidence, Frame, assign
from py_autodoc.tags.model import NodeTag, TagCoverage, Tags, bodies, walk
from py_autodoc.tags.model_files import load_structure, save
from py_autodoc.tags.naming import KEEP, Namer
from py_autodoc.tags.read import load_tags, read_tags, table_in
from py_autodoc.tags.restore import restore
from py_autodoc.tags.sidecar import ModuleInfo, coverage, sidecar, sidecar_path, write_sidecar
from py_autodoc.tags.tag_storage import strip_tags, write_tags
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
    "Evidence",
    "Frame",
    "ModuleInfo",
    "ModuleTable",
    "Namer",
    "NodeTag",
    "TagCoverage",
    "Tags",
    "assign",
    "bodies",
    "coverage",
    "load_structure",
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

structure = load_structure
"""Former name of ``load_structure``."""
