"""Reads the tags of a model: from its nodes, else from their ``doc_string``, else from its table."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from py_autodoc.graph.ir.exporter_records import TABLE, ModuleTable, unpack_table
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.tags import model_files
from py_autodoc.tags.model import ROOT, NodeTag, Tags, walk
from py_autodoc.tags.naming import Namer
from py_autodoc.tags.node_tag import from_metadata, from_text
from py_autodoc.tags.restore import restore

NODES, DOC_STRING, TABLE_SOURCE, NONE = "nodes", "doc_string", "table", "none"


def table_in(model: ir.Model) -> ModuleTable | None:
    """Return the table in a model's metadata; None if missing or damaged."""
    text = model.metadata_props.get(TABLE)
    return unpack_table(text) if text else None


def read_tags(model: ir.Model) -> Tags:
    """Return the tags of a model.

    Untagged nodes get their tags from the model's table by name, as in ``restore``; without a
    table they are tagged as the top-level module with ``via`` ``root``. ``source`` of the result states
    where most tags were found: ``nodes``, ``doc_string``, ``table``, or ``none``.
    """
    order = [node for node, _ in walk(model)]
    table = table_in(model)
    from_nodes = {node: from_metadata(node) for node in order}
    marked = sum(record is not None for record in from_nodes.values())
    if table is not None:
        tags = restore(model, table)
        # Tags on the nodes take precedence.
        tags.records = {node: from_nodes[node] or tags.records[node] for node in order}
        tags.source = NODES if 2 * marked > len(order) else TABLE_SOURCE
        return tags
    records = {node: from_nodes[node] or from_text(node, {}) for node in order}
    namer = Namer({"": _root_class(record.tag for record in records.values() if record)})
    top = NodeTag("", namer.tags[""], ROOT)
    tagged = sum(record is not None for record in records.values())
    source = NODES if 2 * marked > tagged else DOC_STRING if tagged else NONE
    return Tags({node: records[node] or top for node in order}, namer, source=source)


def load_tags(path: PathLike, limits: Limits = LIBRARY) -> tuple[ir.Model, Tags]:
    """Return a model's graph, without its weights, and its tags.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: see ``model_files.load_structure``.
    """
    model = model_files.load_structure(path, limits)
    return model, read_tags(model)


def _root_class(tags: Iterable[str]) -> str:
    """Return the class of the top-level module, as far as tags without a table show it."""
    first = next(iter(tags), "")
    return first.split("/")[1] if first.count("/") else ""
