"""Modules of a model as rows: node counts, operators, and how they are known."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import onnx_ir as ir

from py_autodoc.tags.model import NodeTag, Tags


@dataclass(frozen=True, slots=True)
class TagRow:
    """A tag of a model."""

    tag: str
    scope: str
    """Path of the tagged module; if unknown, the shortest scope of its nodes."""
    nodes: int
    """Nodes of the module itself, without nodes of listed modules inside it."""
    nodes_total: int
    """Nodes including all modules inside."""
    operators: dict[str, int]
    """Operator type → number of own nodes, most frequent first."""
    via: dict[str, int]
    """How the module of the own nodes is known → number of nodes."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node of a model."""

    node: str
    operator: str
    tag: str
    scope: str
    via: str
    origins: tuple[str, ...]
    """All modules of a merged node; otherwise only its scope."""
    call: dict[str, int]


def tag_rows(tags: Tags, pattern: str | None = None) -> list[TagRow]:
    """Return a row per tag and per ancestor tag, as a tree in graph order.

    ``pattern``: glob for tags.
    """
    nodes_by_tag: dict[str, list[tuple[ir.Node, NodeTag]]] = {}
    for node, record in tags.records.items():
        for tag in _around(record.tag):
            nodes_by_tag.setdefault(tag, [])
        nodes_by_tag[record.tag].append((node, record))
    paths = {tag: path for path, tag in tags.namer.tags.items()}
    total = _totals({tag: len(members) for tag, members in nodes_by_tag.items()})
    rows = []
    for tag, members in _tree_order(nodes_by_tag).items():
        if pattern is None or fnmatchcase(tag, pattern):
            scopes = {record.scope for _, record in members}
            rows.append(
                TagRow(
                    tag=tag,
                    scope=paths.get(tag, min(scopes, key=lambda scope: (len(scope), scope), default="")),
                    nodes=len(members),
                    nodes_total=total[tag],
                    operators=dict(Counter(node.op_type for node, _ in members).most_common()),
                    via=dict(Counter(record.via for _, record in members)),
                )
            )
    return rows


_T = TypeVar("_T")


def _tree_order(rows: dict[str, _T]) -> dict[str, _T]:
    """Sort each tag before its descendants and keep these together, otherwise in the given order."""
    first = {tag: number for number, tag in enumerate(rows)}

    def position(tag: str) -> tuple[int, ...]:
        return tuple(first[above] for above in _around(tag))

    return {tag: rows[tag] for tag in sorted(rows, key=position)}


def _around(tag: str) -> list[str]:
    """Return the tag and its ancestors, outermost first."""
    ends = [end for end, letter in enumerate(tag) if letter == "/" and end]
    return [*(tag[:end] for end in ends), tag]


def _totals(counts: dict[str, int]) -> Counter[str]:
    total: Counter[str] = Counter()
    for tag, count in counts.items():
        end = len(tag)
        while end > 0:
            total[tag[:end]] += count
            end = tag.rfind("/", 0, end)
    return total


def node_rows(tags: Tags, pattern: str | None = None) -> list[NodeRow]:
    """Return a row per node in file order. ``pattern``: glob for tags."""
    return [
        NodeRow(
            str(node.name or next((value.name for value in node.outputs if value.name), "")),
            node.op_type,
            record.tag,
            record.scope,
            record.via,
            record.origins,
            dict(record.call),
        )
        for node, record in tags.records.items()
        if pattern is None or fnmatchcase(record.tag, pattern)
    ]


def listing(tags: Tags, pattern: str | None = None) -> dict[str, Any]:
    """Return all rows and the coverage as plain data for JSON."""
    counted = tags.coverage
    shares = {"traced": counted.traced, "inferred": counted.inferred, "unknown": counted.unknown}
    return {
        "source": tags.source,
        "exporter": tags.exporter,
        "coverage": {**asdict(counted), "shares": shares},
        "tags": [asdict(row) for row in tag_rows(tags, pattern)],
        "nodes": [asdict(row) for row in node_rows(tags, pattern)],
    }


COLUMNS = ("node", "operator", "tag", "scope", "via", "origins", "call")


def table_rows(tags: Tags, pattern: str | None = None) -> list[tuple[str, ...]]:
    """Return a header and a text row per node, for CSV."""
    rows = [
        (row.node, row.operator, row.tag, row.scope, row.via, ";".join(row.origins), json.dumps(row.call))
        for row in node_rows(tags, pattern)
    ]
    return [COLUMNS, *rows]
