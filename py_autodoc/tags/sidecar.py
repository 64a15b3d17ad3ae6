"""JSON file next to an exported model: its modules, and the producer and consumers of each tensor.

Modules include details only known to PyTorch: arguments of ``forward``, parameters, children, and whether
they ran at all. Nodes and tensors are in the model, too; here other tools can read them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import onnx_ir as ir

from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.outputs import check_output
from py_autodoc.tags.model import NodeTag, Tags
from py_autodoc.tags.paths import self_and_ancestors

SCHEMA = "autodoc.hierarchy/1"
TRACED, FOLDED, NOT_EXECUTED = "traced", "folded", "not_executed"


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """Details about a module from PyTorch."""

    kind: str
    """Class with its package."""
    children: Mapping[str, str] = field(default_factory=dict)
    """Name → class."""
    forward_args: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """Names relative to this module, including parameters of children."""
    direct_parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    """Own buffers, without those of children."""


def sidecar_path(path: PathLike) -> Path:
    """``model.onnx`` → ``model.onnx.json``."""
    return Path(f"{os.fspath(path)}.json")


def sidecar(
    model: ir.Model,
    tags: Tags,
    modules: Mapping[str, ModuleInfo] | None = None,
    executed: Collection[str] | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Return the content of the file.

    Args:
        model: the tagged model.
        tags: its tags.
        modules: path → details from PyTorch; None lists the modules known from the tags.
        executed: modules that ran while the model was traced; None if unknown.
        extra: further top-level entries, such as ``torch="2.13"``.
    """
    names = tags.namer
    if modules is None:
        modules = {path: ModuleInfo(kind) for path, kind in names.classes.items()}
    direct, total = _counts(tags)
    listed = {path: _module(path, info, tags, direct, total, executed) for path, info in modules.items()}
    return {
        "schema": SCHEMA,
        "exporter": tags.exporter,
        **extra,
        "keep": list(names.keep),
        "coverage": coverage(tags),
        "modules": listed,
        "aliases": dict(names.aliases),
        "expected_hierarchy": sorted(set(names.tags.values())),
        "nodes": _nodes(tags),
        "tensors": _tensors(model, tags),
    }


def write_sidecar(path: PathLike, content: Mapping[str, Any], *, force: bool = False) -> None:
    """Write the file atomically; replace files of other programs only with ``force``. Raises: OutputError."""
    data = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace")
    check_output(path, "sidecar", force=force).write(data)


def coverage(tags: Tags) -> dict[str, Any]:
    """Return the coverage as JSON: counts, and the traced, inferred and unknown shares."""
    counted = tags.coverage
    shares = {"traced": counted.traced, "inferred": counted.inferred, "unknown": counted.unknown}
    return {**asdict(counted), "shares": shares}


def _counts(tags: Tags) -> tuple[Counter[str], Counter[str]]:
    """Return the nodes of each module itself, and including all modules that ran in it."""
    direct: Counter[str] = Counter()
    total: Counter[str] = Counter()
    around: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for record in tags.records.values():
        direct[record.scope] += 1
        key = (record.scope, record.stack)
        if key not in around:
            around[key] = {*self_and_ancestors(record.scope), *record.stack}
        total.update(around[key])
    return direct, total


def _module(
    path: str,
    info: ModuleInfo,
    tags: Tags,
    direct: Counter[str],
    total: Counter[str],
    executed: Collection[str] | None,
) -> dict[str, Any]:
    return {
        "tag": tags.namer.tag(path),
        "listed": tags.namer.listed(path),
        "class": info.kind,
        "status": _status(path, tags, total, executed),
        "children": dict(info.children),
        "forward_args": list(info.forward_args),
        "parameters": list(info.parameters),
        "direct_parameters": list(info.direct_parameters),
        "buffers": list(info.buffers),
        "nodes": direct[path],
        "nodes_total": total[path],
    }


def _status(path: str, tags: Tags, total: Counter[str], executed: Collection[str] | None) -> str | None:
    """``traced``: it has nodes; ``folded``: it ran and has none; None if unknown."""
    if total[path]:
        return TRACED
    if path in tags.called or (executed is not None and path in executed):
        return FOLDED
    return None if executed is None else NOT_EXECUTED


def _nodes(tags: Tags) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for number, (node, record) in enumerate(tags.records.items()):
        name = node.name if node.name and node.name not in rows else f"#{number}"
        rows[name] = _row(record)
    return rows


def _row(record: NodeTag) -> dict[str, Any]:
    row: dict[str, Any] = {"scope": record.scope, "tag": record.tag, "via": record.via}
    if record.scopes:
        row["scopes"] = list(record.scopes)
    if record.call:
        row["call"] = dict(record.call)
    if record.stack:
        row["stack"] = list(record.stack)
    return row


def _tensors(model: ir.Model, tags: Tags) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for graph in model.graphs():
        for value in (*graph.inputs, *graph.initializers.values()):
            if value.name:
                rows.setdefault(value.name, _tensor(value, tags))
    for node in tags.records:
        for value in node.outputs:
            if value.name:
                rows[value.name] = _tensor(value, tags)
    return rows


def _tensor(value: ir.Value, tags: Tags) -> dict[str, Any]:
    """Return the producer and all consumers of a tensor."""
    producer = value.producer()
    producer_tag = tags.records.get(producer) if producer is not None else None
    readers = [tags.records[use.node] for use in value.uses() if use.node in tags.records]
    return {
        "producer": producer_tag.tag if producer_tag else None,
        "consumers": sorted({record.tag for record in readers}),
        "producer_scope": producer_tag.scope if producer_tag else None,
        "consumer_scopes": sorted({record.scope for record in readers}),
    }
