"""The attributes of all nodes as columns, for searching."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema import AttributeColumns, AttributeItem

MAX_TEXT = 200
"""Maximum number of searchable characters of a text."""
EXACT = 2**53
"""Larger integers are stored as text: JavaScript would round them."""
_Item = AttributeItem | list[AttributeItem]


def attribute_columns(attributes: Iterable[tuple[int, Mapping[str, Any]]]) -> AttributeColumns | None:
    """Return columns of node attributes as encoded by ``json_values``; None if there are none.

    Tensors and subgraphs can be found only by name; long lists only by their first items.
    """
    pool: dict[tuple[str, str], int] = {}
    names: list[str] = []
    values: list[_Item] = []
    nodes: list[int] = []
    entries: list[int] = []
    for node, attributes_of_node in attributes:
        for name, value in attributes_of_node.items():
            item = _item(value)
            key = (name, repr(item))
            entry = pool.get(key)
            if entry is None:
                entry = pool[key] = len(names)
                names.append(name)
                values.append(item)
            nodes.append(node)
            entries.append(entry)
    return AttributeColumns(name=names, value=values, node=nodes, entry=entries) if nodes else None


def _item(value: Any) -> _Item:
    """Return a number, a text, or a list of these."""
    if isinstance(value, dict):
        value = value.get("first", "")
    if isinstance(value, list):
        return [_scalar(item) for item in value]
    return _scalar(value)


def _scalar(value: Any) -> AttributeItem:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    if isinstance(value, int) and abs(value) > EXACT:
        return str(value)
    if isinstance(value, (int, float)):
        return value
    return shorten_middle(value, MAX_TEXT) if isinstance(value, str) else ""
