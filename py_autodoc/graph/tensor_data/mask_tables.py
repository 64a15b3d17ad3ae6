"""Stored attention masks, the only large constants whose values affect the architecture.

A mask of 128 × 128 booleans is too large to stay in the structure, but whether it is triangular distinguishes
an encoder from a decoder. Only possible masks are read, from the model file itself and at most a few
megabytes: booleans, floats of shape (1, 1, queries, keys), and square tables of lower rank that are added
to something. Weights are not read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import onnx

from py_autodoc.errors import PathError
from py_autodoc.graph.ir.model import Model, Tensor
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.protobuf.probe import regular_file

MAX_TABLE = 4 << 20
"""Maximum bytes of one table."""
MAX_BYTES = 16 << 20
"""Maximum bytes of all tables."""
_TYPES = {9: "?", 1: "<f4", 10: "<f2"}
_BOOL = 9
_ADDING = frozenset({"Add", "Sub", "Where", "Unsqueeze", "Slice", "Expand", "Cast"})
"""Operators that may read a mask but not the weight of a layer."""
Read = Callable[[int, int], bytes]
"""(length, offset) → bytes, fewer at the end of the file."""


def mask_tables(loaded: LoadedModel, model: Model, source: str | bytes) -> dict[int, np.ndarray[Any, Any]]:
    """Return tensor id → values of tables that may be masks and are in the model file, in order.

    ``source`` is the path or the bytes that ``loaded`` was created from. Empty if the file changed or cannot
    be read.
    """
    in_file: list[Tensor] = []
    in_structure: list[Tensor] = []
    budget = MAX_BYTES
    for tensor in model.tensors:
        length = _length(model, tensor)
        if 0 < length <= budget:
            storage = tensor.storage
            (in_structure if storage is not None and storage.offset is None else in_file).append(tensor)
            budget -= length
    tables = _tables_in_structure(loaded.proto, model, in_structure) if in_structure else {}
    if not in_file:
        return tables
    if isinstance(source, bytes):
        return tables | _values(in_file, lambda length, offset: source[offset : offset + length])
    try:
        with regular_file(source) as (fd, status):
            if status.st_size != loaded.facts.bytes:
                return {}
            return tables | _values(in_file, lambda length, offset: _read_at(fd, length, offset))
    except PathError:
        return {}


def _tables_in_structure(
    proto: onnx.ModelProto, model: Model, tensors: list[Tensor]
) -> dict[int, np.ndarray[Any, Any]]:
    """Return tables inside the structure: too large for analysis, but too small to be moved out."""
    names = {tensor.name: tensor.id for tensor in tensors if tensor.graph == 0}
    stored = {entry.name: entry for entry in proto.graph.initializer if entry.name in names}
    for node in proto.graph.node:
        if node.op_type == "Constant" and node.output and node.output[0] in names:
            for attribute in node.attribute:
                if attribute.name == "value" and attribute.HasField("t"):
                    stored[node.output[0]] = attribute.t
    tables = {}
    for name, entry in stored.items():
        tensor = model.tensors[names[name]]
        try:
            values = onnx.numpy_helper.to_array(entry)
        except (ValueError, TypeError, OverflowError):
            continue
        if values.shape == tensor.shape:
            tables[tensor.id] = values
    return tables


def _read_at(fd: int, length: int, offset: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


def _length(model: Model, tensor: Tensor) -> int:
    """Return the stored bytes of a possible mask without values; 0 for other tensors."""
    storage, shape = tensor.storage, tensor.shape
    if not tensor.is_constant or tensor.dtype not in _TYPES or storage is None or storage.location:
        return 0
    if shape is None or len(shape) < 2 or tensor.id in model.constants:
        return 0
    sizes = [d for d in shape if isinstance(d, int)]
    if len(sizes) != len(shape) or min(sizes[-2:]) < 2 or any(d != 1 for d in sizes[:-2]):
        return 0
    if tensor.dtype != _BOOL and len(shape) != 4 and not _added(model, tensor, sizes):
        return 0
    length = prod(sizes) * np.dtype(_TYPES[tensor.dtype]).itemsize
    if storage.offset is None:
        return length if storage.bytes == length <= MAX_TABLE else 0
    return length if length <= MAX_TABLE and storage.length == length and storage.offset >= 0 else 0


def _added(model: Model, tensor: Tensor, sizes: list[int]) -> bool:
    """True for a square table that is not a factor of any product."""
    if sizes[-1] != sizes[-2] or not tensor.consumers:
        return False
    return all(model.nodes[n].op_type in _ADDING and not model.nodes[n].domain for n in tensor.consumers)


def _values(tensors: list[Tensor], read: Read) -> dict[int, np.ndarray[Any, Any]]:
    tables: dict[int, np.ndarray[Any, Any]] = {}
    for tensor in tensors:
        storage = tensor.storage
        if storage is None or storage.offset is None or storage.length is None:
            continue
        data = read(storage.length, storage.offset)
        if len(data) == storage.length:
            values = np.frombuffer(data, _TYPES[tensor.dtype])
            tables[tensor.id] = values.reshape(tuple(d for d in tensor.shape or () if isinstance(d, int)))
    return tables
