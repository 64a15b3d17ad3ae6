"""Tensors of a model as they are stored: their element type, size and bytes, also of malformed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

_PIECE = 1 << 24
_LARGE = 1 << 12
"""Minimum bytes of a tensor to count as weights, as in ``graph.load``."""


def element_type(tensor: Any) -> ir.DataType:
    """Return the type of a tensor; undefined for numbers outside of ONNX."""
    try:
        return ir.DataType(tensor.dtype)
    except ValueError:
        return ir.DataType.UNDEFINED


def _strings(tensor: Any) -> list[Any]:
    """Return the strings of a tensor, even if their count does not match its shape."""
    strings = getattr(tensor, "string_data", None)
    return list(strings()) if strings is not None else list(np.ravel(tensor.numpy()))


def byte_count(tensor: Any) -> int:
    """Return the number of bytes of a tensor; of the raw data if its type is undefined."""
    if element_type(tensor) != ir.DataType.UNDEFINED:
        return int(tensor.nbytes)
    raw = getattr(tensor, "raw", None)
    return len(raw.raw_data) if raw is not None else 0


def equal_bytes(a: Any, b: Any) -> bool:
    """Return whether two tensors of one type and shape have the same bytes."""
    if element_type(a) == ir.DataType.UNDEFINED:
        # The type is unknown, so raw bytes are compared.
        return bool(getattr(a, "raw", a) == getattr(b, "raw", b))
    if a.dtype == ir.DataType.STRING:
        return _strings(a) == _strings(b)
    try:
        bytes_a, bytes_b = memoryview(a.tobytes()), memoryview(b.tobytes())
    except (AssertionError, ValueError, TypeError):
        # The data do not fit the type or the shape.
        return bool(getattr(a, "raw", a) == getattr(b, "raw", b))
    return len(bytes_a) == len(bytes_b) and all(
        bytes_a[offset : offset + _PIECE] == bytes_b[offset : offset + _PIECE]
        for offset in range(0, len(bytes_a), _PIECE)
    )


def is_weight(tensor: Any) -> bool:
    """Return whether a tensor is skipped when weights are not compared."""
    return isinstance(tensor, ir.ExternalTensor) or byte_count(tensor) >= _LARGE
