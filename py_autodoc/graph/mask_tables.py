"""Stored attention masks: the one kind of larger constant whose values say what a model is.

A mask of 128 × 128 booleans is too large to stay in the structure, yet whether it is triangular makes
the difference between an encoder and a decoder. Only such tables are read, from the model file itself,
a few megabytes at most: booleans, and floats of the shape (1, 1, queries, keys). Weights are not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from py_autodoc.errors import PathError
from py_autodoc.graph.load import Loaded
from py_autodoc.graph.model import Model, Tensor, TensorKind
from py_autodoc.graph.probe import regular_file

MAX_TABLE = 4 << 20
"""Bytes of one table."""
MAX_BYTES = 16 << 20
"""Bytes of all."""
_TYPES = {9: "?", 1: "<f4", 10: "<f2"}
_BOOL = 9
_CONSTANT = (TensorKind.INITIALIZER, TensorKind.CONSTANT)
Read = Callable[[int, int], bytes]
"""(length, offset) → bytes, fewer at the end."""


def mask_tables(loaded: Loaded, model: Model, source: str | bytes) -> dict[int, np.ndarray[Any, Any]]:
    """Tensor id → values of the tables that may be masks and lie in the model file, first ones first.

    ``source`` is the path or the bytes that ``loaded`` was made from. A file that changed or cannot be
    read any more gives nothing.
    """
    wanted, left = [], MAX_BYTES
    for tensor in model.tensors:
        length = _length(tensor)
        if 0 < length <= left:
            wanted.append(tensor)
            left -= length
    if not wanted:
        return {}
    if isinstance(source, bytes):
        return _values(wanted, lambda length, offset: source[offset : offset + length])
    try:
        with regular_file(source) as (fd, status):
            if status.st_size != loaded.facts.bytes:
                return {}
            return _values(wanted, lambda length, offset: _at(fd, length, offset))
    except PathError:
        return {}


def _at(fd: int, length: int, offset: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


def _length(tensor: Tensor) -> int:
    """Stored bytes of a table that may be a mask, outside the structure; 0 for all others."""
    place, shape = tensor.storage, tensor.shape
    if tensor.kind not in _CONSTANT or tensor.dtype not in _TYPES or place is None or place.location:
        return 0
    if place.offset is None or place.offset < 0 or shape is None or len(shape) < 2:
        return 0
    sizes = [d for d in shape if isinstance(d, int)]
    if len(sizes) != len(shape) or min(sizes[-2:]) < 2 or any(d != 1 for d in sizes[:-2]):
        return 0
    if tensor.dtype != _BOOL and len(shape) != 4:
        return 0
    length = prod(sizes) * np.dtype(_TYPES[tensor.dtype]).itemsize
    return length if length <= MAX_TABLE and place.length == length else 0


def _values(wanted: list[Tensor], read: Read) -> dict[int, np.ndarray[Any, Any]]:
    found: dict[int, np.ndarray[Any, Any]] = {}
    for tensor in wanted:
        place = tensor.storage
        if place is None or place.offset is None or place.length is None:
            continue
        data = read(place.length, place.offset)
        if len(data) == place.length:
            values = np.frombuffer(data, _TYPES[tensor.dtype])
            found[tensor.id] = values.reshape(tuple(d for d in tensor.shape or () if isinstance(d, int)))
    return found
