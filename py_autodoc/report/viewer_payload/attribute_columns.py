"""The attributes of all nodes as columns: what search finds them by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema import AttributeColumns, AttributeItem

MAX_TEXT = 200
"""Characters of a text that can be found."""
EXACT = 2**53
"""Larger integers are text: a browser's numbers would round them."""
_Item = AttributeItem | list[AttributeItem]


def attribute_columns(attributes: Iterable[tuple[int, Mapping[str, Any]]]) -> AttributeColumns | None:
    """Columns of the attributes of nodes, as ``report.values`` writes them; None where there are none.

    Tensors and bodies are found by their names only; of a long list its beginning is kept.
    """
    pool: dict[tuple[str, str], int] = {}
    names: list[str] = []
    values: list[_Item] = []
    nodes: list[int] = []
    entries: list[int] = []
    for node, held in attributes:
        for name, value in held.items():
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
    """A number, a text, or a list of these."""
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
