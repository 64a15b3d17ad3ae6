"""Stored attention masks, the only large constants whose values affect the architecture.

A mask of 128 × 128 booleans is too large to stay in the structure, but whether it is triangular distinguishes
an encoder from a decoder. Only possible masks are read, from the model file or its external files and at
most a few megabytes: booleans, floats of shape (1, 1, queries, keys), and square tables of lower rank that
are added to something. Of a larger square table only its first rows and columns are read. Weights are not
read.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import onnx

from py_autodoc.graph.ir.model import Model, Tensor
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.graph.tensor_data.tensor_bytes import ByteRange, TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.tensor_decoding import decode

MAX_TABLE = 4 << 20
"""Maximum bytes read of one table."""
MAX_BYTES = 16 << 20
"""Maximum bytes read of all tables."""
MIN_ROWS = 32
"""Fewer rows of a large table do not tell how it goes on."""
_BOOL = 9
_TYPES = frozenset({_BOOL, 1, 10, 11, 16})
"""Booleans and floats of 16, 32 and 64 bits."""
_DISTANCES = frozenset({6, 7})
"""Integers of 32 and 64 bits: how far keys are from queries."""
_COMPARING = frozenset({"Abs", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Neg"})
"""Operators that read distances, not indices."""
_ADDING = frozenset({"Add", "Sub", "Where", "Unsqueeze", "Slice", "Expand", "Cast"})
"""Operators that may read a mask but not the weight of a layer."""


def mask_tables(loaded: LoadedModel, model: Model, source: str | bytes) -> dict[int, np.ndarray[Any, Any]]:
    """Return tensor id → values of tables that may be masks, in order; of large ones the first n × n.

    ``source`` is the path or the bytes that ``loaded`` was created from. Tables whose file changed or
    cannot be read are omitted.
    """
    in_files: list[tuple[Tensor, int]] = []
    in_structure: list[Tensor] = []
    budget = MAX_BYTES
    for tensor in model.tensors:
        rows = _rows_to_read(model, tensor)
        length = rows * _row_bytes(tensor) if rows else 0
        if not 0 < length <= budget:
            continue
        storage = tensor.storage
        if storage is not None and storage.offset is None and not storage.location:
            in_structure.append(tensor)
        else:
            in_files.append((tensor, rows))
        budget -= length
    tables = _tables_in_structure(loaded.proto, model, in_structure) if in_structure else {}
    if not in_files:
        return tables
    with TensorFiles(source, loaded.facts.bytes) as files:
        for tensor, rows in in_files:
            try:
                tables[tensor.id] = _table_in_file(files, tensor, rows)
            except UnreadableTensor:
                continue
    return tables


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


def _sizes(tensor: Tensor) -> list[int]:
    return [d for d in tensor.shape or () if isinstance(d, int)]


def _row_bytes(tensor: Tensor) -> int:
    return _sizes(tensor)[-1] * BITS[tensor.dtype] // 8


def _rows_to_read(model: Model, tensor: Tensor) -> int:
    """Return the rows to read of a possible mask without values; 0 for other tensors."""
    storage, shape = tensor.storage, tensor.shape
    if not tensor.is_constant or tensor.dtype not in _TYPES | _DISTANCES or storage is None:
        return 0
    if shape is None or len(shape) < 2 or tensor.id in model.constants:
        return 0
    sizes = _sizes(tensor)
    if len(sizes) != len(shape) or min(sizes[-2:]) < 2 or any(d != 1 for d in sizes[:-2]):
        return 0
    if tensor.dtype in _DISTANCES and not _read_by(model, tensor, sizes, _COMPARING):
        return 0
    floats = tensor.dtype not in _DISTANCES | {_BOOL}
    if floats and len(shape) != 4 and not _read_by(model, tensor, sizes, _ADDING):
        return 0
    length = prod(sizes) * BITS[tensor.dtype] // 8
    if storage.location:
        is_whole = storage.length in (None, length)
    elif storage.offset is None:
        return sizes[-2] if storage.bytes == length <= MAX_TABLE else 0
    else:
        is_whole = storage.length == length
    if not is_whole or (storage.offset or 0) < 0:
        return 0
    if length <= MAX_TABLE:
        return sizes[-2]
    rows = MAX_TABLE // _row_bytes(tensor)
    return rows if sizes[-1] == sizes[-2] and rows >= MIN_ROWS else 0


def _read_by(model: Model, tensor: Tensor, sizes: list[int], ops: frozenset[str]) -> bool:
    """True for a square table that only operators in ``ops`` read, which are no products."""
    if sizes[-1] != sizes[-2] or not tensor.consumers:
        return False
    return all(model.nodes[n].op_type in ops and not model.nodes[n].domain for n in tensor.consumers)


def _table_in_file(files: TensorFiles, tensor: Tensor, rows: int) -> np.ndarray[Any, Any]:
    """Return a table or its first ``rows`` rows and columns. Raises: UnreadableTensor."""
    storage, sizes = tensor.storage, _sizes(tensor)
    if storage is None:
        raise UnreadableTensor("it is not stored")
    length = rows * _row_bytes(tensor)
    data = b"".join(files.pieces(ByteRange(storage.location, storage.offset or 0, length)))
    values = decode(data, tensor.dtype, rows * sizes[-1])
    values = values.astype(np.bool_) if tensor.dtype == _BOOL else values
    table = values.reshape(*sizes[:-2], rows, sizes[-1])
    return table if rows == sizes[-2] else table[..., :rows]
