"""Stores tags in a model: in node metadata, in ``doc_string``, and as a table in the model metadata.

Nothing else in the model changes, and ``strip_tags`` removes all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import onnx
import onnx_ir as ir

from py_autodoc.errors import AnalysisError
from py_autodoc.graph.ir import exporter_records
from py_autodoc.graph.ir.exporter_records import (
    NODE_KEYS,
    TABLE,
    Module,
    ModuleRecord,
    ModuleTable,
    NamedModules,
)
from py_autodoc.graph.loading.first_pass import nested
from py_autodoc.outputs.marks import WRITTEN
from py_autodoc.tags.model import NodeTag, Tags, walk
from py_autodoc.tags.paths import self_and_ancestors


def node_metadata(record: NodeTag) -> dict[str, str]:
    """Return the metadata of a node."""
    entries = {
        exporter_records.TAG: record.tag,
        exporter_records.SCOPE: record.scope,
        exporter_records.VIA: record.via,
    }
    if record.scopes:
        entries[exporter_records.SCOPES] = _compact(list(record.scopes))
    if record.call:
        entries[exporter_records.CALL] = _compact(dict(record.call))
    if record.stack:
        entries[exporter_records.STACK] = _compact(list(record.stack))
    return entries


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def table_of(tags: Tags) -> ModuleTable:
    """Return the table of all nodes by name, with their modules."""
    numbers: dict[tuple[object, ...], int] = {}
    records: list[ModuleRecord] = []
    nodes: list[NamedModules] = []
    paths: set[str] = {""}
    for node, record in tags.records.items():
        key = (record.scope, record.via, record.scopes, tuple(record.call.items()), record.stack)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(records)
            records.append(
                ModuleRecord(
                    record.scope, record.tag, record.via, record.scopes, dict(record.call), record.stack
                )
            )
            for path in (record.scope, *record.scopes, *record.stack):
                paths.update(self_and_ancestors(path))
        nodes.append(NamedModules(number, node.name or "", tuple(value.name or "" for value in node.outputs)))
    namer = tags.namer
    modules = tuple(
        Module(path, namer.kind(path), namer.tags.get(path, ""), path in tags.called)
        for path in sorted(paths & namer.classes.keys())
    )
    return ModuleTable(tags.exporter, namer.keep, modules, namer.aliases, tuple(records), tuple(nodes))


def doc_string_of(record: NodeTag, tags: Tags, before: str) -> str:
    """Return the ``doc_string`` of a node, including its previous text."""
    old = exporter_records.read_doc_string(before)
    merged_tags = (tags.namer.tag(path) for path in record.scopes)
    all_tags = tuple(dict.fromkeys((record.tag, *merged_tags)))
    return exporter_records.doc_string(all_tags, record.via, old.doc_string if old else before)


def write_tags(model: ir.Model | onnx.ModelProto, tags: Tags) -> None:
    """Write the tags into a model, in place, replacing existing tags.

    ``model`` is the one the tags were assigned for, or the protobuf it was read from.

    Raises:
        AnalysisError: the protobuf has other nodes.
    """
    if isinstance(model, ir.Model):
        for node, record in tags.records.items():
            for key in NODE_KEYS:
                node.metadata_props.pop(key, None)
            node.metadata_props.update(node_metadata(record))
            node.doc_string = doc_string_of(record, tags, node.doc_string or "")
        model.metadata_props[TABLE] = exporter_records.pack_table(table_of(tags))
        return
    edit = node_editor(tags)
    for proto in proto_nodes(model):
        edit(proto)
    _set(model.metadata_props, {TABLE: exporter_records.pack_table(table_of(tags))})


def node_editor(tags: Tags) -> Callable[[onnx.NodeProto], None]:
    """Return a function that writes the tag of the next node at each call, in file order."""
    pending = iter(tags.records.items())

    def edit(proto: onnx.NodeProto) -> None:
        node, record = next(pending, (None, None))
        if node is None or record is None or node.op_type != proto.op_type:
            raise AnalysisError("tags-mismatch", "The tags belong to another model.", "")
        _set(proto.metadata_props, node_metadata(record), NODE_KEYS)
        proto.doc_string = doc_string_of(record, tags, proto.doc_string)

    return edit


def strip_tags(model: ir.Model | onnx.ModelProto) -> int:
    """Remove all tags from a model, in place; return the number of tagged nodes."""
    count = 0
    if isinstance(model, ir.Model):
        for key in (TABLE, WRITTEN):
            model.metadata_props.pop(key, None)
        for node, _ in walk(model):
            before = len(node.metadata_props)
            for key in NODE_KEYS:
                node.metadata_props.pop(key, None)
            old = exporter_records.read_doc_string(node.doc_string or "")
            if old is not None:
                node.doc_string = old.doc_string or None
            count += old is not None or len(node.metadata_props) < before
        return count
    _set(model.metadata_props, {}, (TABLE, WRITTEN))
    for proto in proto_nodes(model):
        was_tagged = _set(proto.metadata_props, {}, NODE_KEYS)
        old = exporter_records.read_doc_string(proto.doc_string)
        if old is not None:
            proto.doc_string = old.doc_string
            if not old.doc_string:
                proto.ClearField("doc_string")
        count += was_tagged or old is not None
    return count


def _set(entries: object, new: dict[str, str], drop: tuple[str, ...] = ()) -> bool:
    """Replace keys of a repeated metadata field; return True if any existed."""
    props: list[onnx.StringStringEntryProto] = entries  # type: ignore[assignment]
    out = {*new, *drop}
    hits = [i for i, entry in enumerate(props) if entry.key in out]
    for i in reversed(hits):
        del props[i]
    for key, value in new.items():
        props.add(key=key, value=value)  # type: ignore[attr-defined]
    return bool(hits)


def proto_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a protobuf in the order of ``walk``."""
    for nodes in (model.graph.node, *(function.node for function in model.functions)):
        for node in nodes:
            yield from nested_nodes(node)


def nested_nodes(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """Yield a node and those in its subgraphs, in the order of ``walk``."""
    yield node
    pending = [iter(graph.node) for graph in reversed(_graphs(node))]
    while pending:
        inner = next(pending[-1], None)
        if inner is None:
            pending.pop()
            continue
        yield inner
        pending.extend(iter(graph.node) for graph in reversed(_graphs(inner)))


def _graphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    return [graph for attribute in node.attribute for graph in nested(attribute)]
