"""Tags as they are in a model: on its nodes, else in their ``doc_string``, else in its table."""

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
    """The table in a model's metadata; None when there is none or it is damaged."""
    text = model.metadata_props.get(TABLE)
    return unpack_table(text) if text else None


def read_tags(model: ir.Model) -> Tags:
    """The tags of a model.

    Nodes that carry none get theirs from the model's table by name, as ``restore`` does; without a
    table they are tagged as the model's own code with ``via`` ``root``. ``source`` of the result says
    where most were read: ``nodes``, ``doc_string``, ``table``, or ``none``.
    """
    order = [node for node, _ in walk(model)]
    table = table_in(model)
    own = {node: from_metadata(node) for node in order}
    marked = sum(record is not None for record in own.values())
    if table is not None:
        tags = restore(model, table)
        # The nodes' own word counts where it is there.
        tags.records = {node: own[node] or tags.records[node] for node in order}
        tags.source = NODES if 2 * marked > len(order) else TABLE_SOURCE
        return tags
    found = {node: own[node] or from_text(node, {}) for node in order}
    namer = Namer({"": _root_class(record.tag for record in found.values() if record)})
    top = NodeTag("", namer.tags[""], ROOT)
    told = sum(record is not None for record in found.values())
    source = NODES if 2 * marked > told else DOC_STRING if told else NONE
    return Tags({node: found[node] or top for node in order}, namer, source=source)


def load_tags(path: PathLike, limits: Limits = LIBRARY) -> tuple[ir.Model, Tags]:
    """A model's graph, without its weights, and its tags.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: see ``model_files.structure``.
    """
    model = model_files.load_structure(path, limits)
    return model, read_tags(model)


def _root_class(tags: Iterable[str]) -> str:
    """The root's class as far as tags without a table tell it."""
    first = next(iter(tags), "")
    return first.split("/")[1] if first.count("/") else ""
