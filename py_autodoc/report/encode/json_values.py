"""Attribute values and constants as bounded JSON, so that pages stay small for any model."""

from __future__ import annotations

import math
import struct
from typing import Any

from py_autodoc.graph.ir.model import ConstTensor, Model, Node
from py_autodoc.report.encode.labels import dtype_name, graph_label, shorten_middle

MAX_ITEMS = 64
"""Maximum number of items written of a list or tensor."""
MAX_TEXT = 4096
"""Maximum number of characters of a text value."""


_PACKED = ("gz:", "xz:", "b64:")
"""Prefixes of packed values written by an export: tables, configurations, tokenizers."""
_MAX_PACKED = 60


def metadata_text(value: str) -> str:
    """Return a metadata value for display; of packed values only the size."""
    if value.startswith(_PACKED) and len(value) > 2 * _MAX_PACKED:
        return f"{shorten_middle(value, _MAX_PACKED)} ({len(value):,} characters)"
    return shorten_middle(value, MAX_TEXT)


def node_attributes(model: Model, node: Node) -> dict[str, Any]:
    """Return the attributes of a node: subgraphs by name, tensors as a summary."""
    graphs = dict(node.subgraphs)
    return {
        shorten_middle(name): body_value(model, graphs[name]) if name in graphs else json_value(value)
        for name, value in node.attributes.items()
    }


def body_value(model: Model, graph: int) -> dict[str, Any]:
    """Return a subgraph attribute as JSON data."""
    return {"graph": graph_label(model, graph), "nodes": len(model.graphs[graph].nodes)}


def json_value(value: Any) -> Any:
    """Return ``value`` as plain, bounded JSON data. Long lists become ``{"first": [...], "count": n}``."""
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
    """Return a float with the fewest digits that give the same float32; NaN and infinities as text.

    Attributes are stored as float32: 9.999999747378752e-06 in the file was written as 1e-05.
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
    """Return a tensor attribute: type, shape and its first values if known."""
    out: dict[str, Any] = {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape)}
    if tensor.values is not None:
        out["values"] = first_values(tensor.values)
    if tensor.storage.location:
        out["location"] = shorten_middle(tensor.storage.location)
    return out


def first_values(array: Any) -> list[Any]:
    """Return the first elements of a NumPy array as JSON data, in row-major order."""
    return [json_value(_json_scalar(item)) for item in array.reshape(-1)[:MAX_ITEMS].tolist()]


def _json_scalar(item: Any) -> Any:
    """Convert elements of special types (float8, complex) to JSON data."""
    if item is None or isinstance(item, (bool, int, float, str, bytes)):
        return item
    try:
        return float(item)
    except (TypeError, ValueError):
        return str(item)
