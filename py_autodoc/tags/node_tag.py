"""The tag of a node in its own metadata."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from py_autodoc.graph.ir import exporter_records
from py_autodoc.graph.ir.exporter_records import NODE_KEYS, ModuleRecord
from py_autodoc.tags.model import CONTEXT, VIAS, NodeTag


def from_metadata(node: ir.Node) -> NodeTag | None:
    """Return the tag in the node's metadata; None if there is none."""
    props = node.metadata_props
    if exporter_records.TAG not in props or exporter_records.SCOPE not in props:
        return None
    tag, scope, via, scopes, call, stack = (props.get(key, "") for key in NODE_KEYS)
    return NodeTag(
        scope,
        tag,
        via if via in VIAS else CONTEXT,
        exporter_records.string_items(scopes),
        exporter_records.call_numbers(call),
        exporter_records.string_items(stack),
    )


def from_text(node: ir.Node, paths: Mapping[str, str]) -> NodeTag | None:
    """Return the tag in the node's ``doc_string``; None if there is none.

    It only contains the tag. ``paths`` (tag → module) gives the scope; without it, the top-level module.
    """
    record = exporter_records.read_doc_string(node.doc_string or "")
    if record is None or not record.hierarchy_path.startswith("/"):
        return None
    via = record.hierarchy_method if record.hierarchy_method in VIAS else CONTEXT
    return NodeTag(paths.get(record.hierarchy_path, ""), record.hierarchy_path, via)


def from_record(record: ModuleRecord) -> NodeTag:
    """Convert a row of the table to the tag of a node."""
    via = record.via if record.via in VIAS else CONTEXT
    return NodeTag(record.scope, record.tag, via, record.scopes, dict(record.call), record.stack)
