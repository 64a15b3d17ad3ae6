"""Attribute values and constants as bounded JSON: whatever a model holds, a page stays small."""

from __future__ import annotations

import math
import struct
from typing import Any

from py_autodoc.graph.ir.model import ConstTensor, Model, Node
from py_autodoc.report.encode.labels import dtype_name, graph_label, shorten_middle

MAX_ITEMS = 64
"""Items of a list or tensor that are written out."""
MAX_TEXT = 4096
"""Characters of a text value."""


_PACKED = ("gz:", "xz:", "b64:")
"""How the packed values begin that an export writes: tables, configurations, tokenizers."""
_PACKED_SHOWN = 60


def metadata_text(value: str) -> str:
    """A metadata value as a page shows it: what is packed says nothing to a reader but its size."""
    if value.startswith(_PACKED) and len(value) > 2 * _PACKED_SHOWN:
        return f"{shorten_middle(value, _PACKED_SHOWN)} ({len(value):,} characters)"
    return shorten_middle(value, MAX_TEXT)


def node_attributes(model: Model, node: Node) -> dict[str, Any]:
    """The attributes of a node; bodies by name, tensors as a summary."""
    graphs = dict(node.subgraphs)
    return {
        shorten_middle(name): body_value(model, graphs[name]) if name in graphs else json_value(value)
        for name, value in node.attributes.items()
    }


def body_value(model: Model, graph: int) -> dict[str, Any]:
    """A subgraph attribute."""
    return {"graph": graph_label(model, graph), "nodes": len(model.graphs[graph].nodes)}


def json_value(value: Any) -> Any:
    """``value`` as plain JSON data, bounded. Long lists become ``{"first": [...], "count": n}``."""
    if isinstance(value, float):
        return json_float(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return shorten_middle(value, MAX_TEXT)
    if isinstance(value, bytes):
        return shorten_middle(value[: MAX_TEXT + 1].decode("utf-8", "backslashreplace"), MAX_TEXT)
    if isinstance(value, ConstTensor):
        return tensor_value(value)
    if isinstance(value, (list, tuple)):
        items = [json_value(item) for item in value[:MAX_ITEMS]]
        return items if len(value) <= MAX_ITEMS else {"first": items, "count": len(value)}
    return shorten_middle(str(value), MAX_TEXT)


def json_float(value: float) -> float | str:
    """A float as the shortest text that gives the same float32; ``"NaN"``, ``"Infinity"`` as text.

    Attributes are stored as float32: 9.999999747378752e-06 in the file is the 1e-05 of its author.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    for digits in (6, 7, 8):
        short = float(f"{value:.{digits}g}")
        if _float32(short) == value:
            return short
    return value


def _float32(value: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.inf


def tensor_value(tensor: ConstTensor) -> dict[str, Any]:
    """A tensor attribute: type, shape and its first values where they are known."""
    out: dict[str, Any] = {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape)}
    if tensor.values is not None:
        out["values"] = first_values(tensor.values)
    if tensor.storage.location:
        out["location"] = shorten_middle(tensor.storage.location)
    return out


def first_values(array: Any) -> list[Any]:
    """The first elements of a numpy array as JSON data, row by row."""
    return [json_value(_plain(item)) for item in array.reshape(-1)[:MAX_ITEMS].tolist()]


def _plain(item: Any) -> Any:
    """Elements of exotic types (float8, complex) as something JSON has."""
    if item is None or isinstance(item, (bool, int, float, str, bytes)):
        return item
    try:
        return float(item)
    except (TypeError, ValueError):
        return str(item)
