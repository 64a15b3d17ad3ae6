"""Texts of differences between two graphs: operators, lists of names, types and values, as one line each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import onnx_ir as ir

from py_autodoc.compare.stored_tensors import byte_count, element_type
from py_autodoc.graph.protobuf.tensor_protos import type_text as declared_text
from py_autodoc.report.encode.labels import dtype_name
from py_autodoc.tags.map_types import TYPE
from py_autodoc.units import plural, shape

_MAX_TEXT = 80
_SCALARS = frozenset(
    {
        ir.DataType.FLOAT,
        ir.DataType.DOUBLE,
        ir.DataType.FLOAT16,
        ir.DataType.BOOL,
        ir.DataType.INT8,
        ir.DataType.INT16,
        ir.DataType.INT32,
        ir.DataType.INT64,
        ir.DataType.UINT8,
        ir.DataType.UINT16,
        ir.DataType.UINT32,
        ir.DataType.UINT64,
    }
)
"""Element types of which a single value is shown."""
_NOTHING = "–"


def operator_text(identifier: tuple[str, str, str]) -> str:
    """Return an operator or function as in ``com.microsoft.Gelu``; the default domain is omitted."""
    domain, name, overload = identifier
    return (f"{domain}." if domain else "") + name + (f":{overload}" if overload else "")


def opset_text(domain: str, version: int) -> str:
    """Return an operator set as in ``ai.onnx 18``."""
    return f"{domain or 'ai.onnx'} {version}"


def short(value: Any) -> str:
    """Return the text of a value, cut to one line of limited length."""
    text = str(value)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def list_texts(a: Sequence[str | None], b: Sequence[str | None]) -> tuple[str, str]:
    """Return two lists of names; if one of them is long, both begin with the first name that differs."""
    texts = _joined(a), _joined(b)
    if max(map(len, texts)) > _MAX_TEXT:
        equal = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))))
        if equal:
            texts = f"…, {_joined(a[equal:])}", f"…, {_joined(b[equal:])}"
    return short(texts[0]), short(texts[1])


def only_texts(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """Return the items that only one of two lists has; all, if they have the same items in another order."""
    in_a, in_b = set(a), set(b)
    only_a, only_b = [item for item in a if item not in in_b], [item for item in b if item not in in_a]
    return (_counted(only_a), _counted(only_b)) if only_a or only_b else list_texts(a, b)


def declaration_text(value: ir.Value | None) -> str:
    """Return name, type and shape of a graph input or output."""
    return _NOTHING if value is None else f"{value.name}: {type_text(value)}"


def type_text(value: ir.Value | None) -> str:
    """Return the type and shape of a value as in ``float32 1×16``."""
    if value is None:
        return _NOTHING
    kind = value.type
    if TYPE in value.meta:
        return declared_text(value.meta[TYPE])
    if isinstance(kind, ir.TensorType):
        name = element_type_text(kind.dtype)
        return name if value.shape is None else f"{name} {shape_text(value.shape)}"
    return (
        "unknown"
        if kind is None and value.shape is None
        else f"{kind or 'unknown'} {shape_text(value.shape)}"
    )


def element_type_text(dtype: Any) -> str:
    """Return the name of an element type as in ``float32``."""
    return dtype_name(int(dtype))


def shape_text(dimensions: Iterable[Any] | None) -> str:
    """Return a shape as in ``batch×768``."""
    if dimensions is None:
        return shape(None)
    return shape(d if isinstance(d, int) else getattr(d, "value", d) for d in dimensions)


def bytes_texts(a: Any, b: Any) -> tuple[str, str]:
    """Return the different values of two tensors with one element, else their number of bytes."""
    texts = _bytes_text(a), _bytes_text(b)
    return (texts[0], "other values") if texts[0] == texts[1] else texts


def attribute_type_text(attribute: ir.Attr) -> str:
    """Return the type of an attribute, and the function's attribute that it refers to, if any."""
    name = attribute.type.name.lower()
    return f"{name} of {attribute.ref_attr_name}" if attribute.ref_attr_name else name


def value_text(value: Any) -> str:
    """Return the value of an attribute; numbers stored as float32 in their shortest form."""
    if value is None:
        return _NOTHING
    if isinstance(value, float):
        number = np.float32(value)
        return str(number) if float(number) == value else repr(value)
    if isinstance(value, (list, tuple)):
        return short(f"[{', '.join(map(value_text, value))}]")
    return short(value)


def _joined(names: Sequence[str | None]) -> str:
    return ", ".join(name or _NOTHING for name in names) or _NOTHING


def _counted(items: Sequence[str]) -> str:
    text = _joined(items)
    return text if len(text) <= _MAX_TEXT else f"{len(items):,} not in the other model: {short(text)}"


def _bytes_text(tensor: Any) -> str:
    size = byte_count(tensor)
    if element_type(tensor) in _SCALARS and size == tensor.dtype.itemsize:
        try:
            return value_text(tensor.numpy().reshape(()).item())
        except (AssertionError, ValueError, TypeError):  # the data do not fit the type or the shape
            pass
    return plural(size, "byte")
