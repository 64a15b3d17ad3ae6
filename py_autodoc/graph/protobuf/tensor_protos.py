"""Tensors and types in the protobuf: element sizes, storage and small values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

from py_autodoc.graph.ir.model import ConstTensor, Shape, Storage
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.protobuf.structure_scan import MARK_KEY, MARK_KEYS, PAYLOAD_MARK

MAX_VALUES = 1024
"""Constants with more elements keep their values in the file."""
MAX_RANK = 32
"""Constants with more dimensions keep their values in the file: numpy allows 64, broadcasting 32, and
indexing one array by another aborts the process beyond that."""
MAX_BESIDE_ZERO = 1 << 31
"""Maximum product of the other dimensions of a constant without elements."""
MAX_ELEMENTS = (1 << 63) - 1

_T = onnx.TensorProto
BITS: dict[int, int] = {
    _T.FLOAT: 32, _T.UINT8: 8, _T.INT8: 8, _T.UINT16: 16, _T.INT16: 16, _T.INT32: 32, _T.INT64: 64,
    _T.BOOL: 8, _T.FLOAT16: 16, _T.DOUBLE: 64, _T.UINT32: 32, _T.UINT64: 64, _T.COMPLEX64: 64,
    _T.COMPLEX128: 128, _T.BFLOAT16: 16, _T.FLOAT8E4M3FN: 8, _T.FLOAT8E4M3FNUZ: 8, _T.FLOAT8E5M2: 8,
    _T.FLOAT8E5M2FNUZ: 8, _T.UINT4: 4, _T.INT4: 4, _T.FLOAT4E2M1: 4, 24: 8, 25: 2, 26: 2, 27: 6, 28: 6,
}  # fmt: skip
"""Bits per stored element by ONNX data type; strings have none. 24 FLOAT8E8M0, 25/26 (U)INT2,
27/28 FLOAT6 (source: onnx.proto, TensorProto.DataType)."""
KNOWN_TYPES = frozenset(BITS) | {_T.STRING}

_NATIVE: dict[int, Any] = {
    _T.FLOAT: "<f4", _T.UINT8: "u1", _T.INT8: "i1", _T.UINT16: "<u2", _T.INT16: "<i2", _T.INT32: "<i4",
    _T.INT64: "<i8", _T.BOOL: "?", _T.FLOAT16: "<f2", _T.DOUBLE: "<f8", _T.UINT32: "<u4", _T.UINT64: "<u8",
}  # fmt: skip


def element_count(dims: tuple[int, ...]) -> int | None:
    """Return the number of elements; None if a dimension is negative.

    Values over ``MAX_ELEMENTS`` are returned as ``MAX_ELEMENTS + 1``, so that a million large dimensions
    cannot produce a number with millions of digits.
    """
    if any(d < 0 for d in dims):
        return None
    if 0 in dims:
        return 0
    count = 1
    for size in dims:
        count *= size
        if count > MAX_ELEMENTS:
            return MAX_ELEMENTS + 1
    return count


def stored_bytes(dtype: int, elements: int) -> int | None:
    """Return the bytes of the elements, packed for types below 8 bits; None for strings and unknown types."""
    bits = BITS.get(dtype)
    return None if bits is None else (elements * bits + 7) // 8


def external_entries(tensor: onnx.TensorProto) -> dict[str, str]:
    """Return the external_data of a tensor as a dict."""
    return {decode_text(e.key): decode_text(e.value) for e in tensor.external_data}


def payload_reference(entries: Mapping[str, str]) -> tuple[str, int | None]:
    """Return (TensorProto field, elements if known) of a payload in the model file; ("", None) otherwise.

    Only a mark of this process counts, and only as the whole of the external data.
    """
    mark = entries.get(MARK_KEY, "")
    if not mark.startswith(PAYLOAD_MARK) or tuple(entries) not in MARK_KEYS:
        return "", None
    field, _, count = mark[len(PAYLOAD_MARK) :].partition(":")
    return field, _integer(count)


def storage_of(tensor: onnx.TensorProto, dims: tuple[int, ...]) -> Storage:
    """Return the location of a tensor's bytes, and their expected number from its type and shape."""
    elements = element_count(dims)
    size = None if elements is None or elements > MAX_ELEMENTS else stored_bytes(tensor.data_type, elements)
    if tensor.data_location != _T.EXTERNAL:
        if size is None and tensor.data_type == _T.STRING:
            size = sum(map(len, tensor.string_data))
        return Storage(size)
    entries = external_entries(tensor)
    offset, length = _integer(entries.get("offset")), _integer(entries.get("length"))
    field, _ = payload_reference(entries)
    if field:
        size = length if field == "string_data" else size
        return Storage(size, "", offset, length)
    return Storage(size, entries.get("location", ""), offset, length)


def payload(tensor: onnx.TensorProto) -> tuple[int | None, int | None]:
    """Return (bytes of raw data, elements of typed data) in the file; None for the other."""
    if tensor.data_location == _T.EXTERNAL:
        entries = external_entries(tensor)
        field, count = payload_reference(entries)
        return (_integer(entries.get("length")), None) if field == "raw_data" else (None, count)
    if tensor.HasField("raw_data"):
        return len(tensor.raw_data), None
    typed = (tensor.float_data, tensor.int32_data, tensor.int64_data, tensor.double_data, tensor.uint64_data)
    return None, max(len(tensor.string_data), *map(len, typed))


def _integer(value: str | None) -> int | None:
    if value is None or len(value) > 20:
        return None
    try:
        return int(value)
    except ValueError:
        return None


def small_value(
    tensor: onnx.TensorProto,
    dims: tuple[int, ...],
    external: Mapping[tuple[str, int, int], bytes] | None = None,
) -> Any:
    """Return the values of a small tensor as a read-only array; None if large, absent or invalid.

    ``external``: (location, offset, bytes) → data of tensors in external files, as far as they were read.
    """
    count = element_count(dims)
    if count is None or count > MAX_VALUES or len(dims) > MAX_RANK:
        return None
    if tensor.data_location == _T.EXTERNAL:
        return (
            external_value(tensor.data_type, dims, storage_of(tensor, dims), external) if external else None
        )
    if count == 0 and (element_count(tuple(filter(None, dims))) or 0) > MAX_BESIDE_ZERO:
        return None  # numpy also limits the other dimensions, and onnx allocates memory for packed ones
    dtype = _NATIVE.get(tensor.data_type)
    try:
        if dtype is not None and tensor.HasField("raw_data"):
            raw = tensor.raw_data
            size = np.dtype(dtype).itemsize * count
            # numpy limits dimensions and their product, even for arrays without elements.
            return np.frombuffer(raw, dtype).reshape(dims) if len(raw) == size else None
        if tensor.data_type not in KNOWN_TYPES:
            return None
        array = onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError, OverflowError):
        return None
    array.flags.writeable = False
    return array


def external_value(
    data_type: int, dims: tuple[int, ...], storage: Storage, external: Mapping[tuple[str, int, int], bytes]
) -> Any:
    """Return the values of a small tensor in an external file; None if they were not read."""
    dtype, count = _NATIVE.get(data_type), element_count(dims)
    if dtype is None or count is None:
        return None
    raw = external.get((storage.location, storage.offset or 0, np.dtype(dtype).itemsize * count))
    return None if raw is None else np.frombuffer(raw, dtype).reshape(dims)


def const_tensor(tensor: onnx.TensorProto) -> ConstTensor:
    """A dense tensor attribute."""
    dims = tuple(tensor.dims)
    return ConstTensor(tensor.data_type, dims, storage_of(tensor, dims), small_value(tensor, dims))


def sparse_storage(sparse: onnx.SparseTensorProto) -> Storage:
    """Return the storage of a sparse tensor: its values and indices."""
    values, indices = sparse.values, sparse.indices
    first = storage_of(values, tuple(values.dims))
    second = storage_of(indices, tuple(indices.dims))
    size = None if first.bytes is None or second.bytes is None else first.bytes + second.bytes
    count = element_count(tuple(values.dims))
    return Storage(size, first.location, first.offset, first.length, sparse_values=count)


def const_sparse(sparse: onnx.SparseTensorProto) -> ConstTensor:
    """A sparse tensor attribute; its values are not decoded."""
    return ConstTensor(sparse.values.data_type, tuple(sparse.dims), sparse_storage(sparse))


def declared_type(proto: onnx.TypeProto) -> tuple[str, int, Shape | None]:
    """Return (container, element type, shape) of a declared type; negative dimensions become None.

    A sequence or optional has the type of its element and no shape. The container of a type with maps is the
    whole type (``type_text``).
    """
    container, whole = "", proto
    for _ in range(64):
        which = proto.WhichOneof("value")
        if which == "tensor_type":
            tensor = proto.tensor_type
            return container or "tensor", tensor.elem_type, None if container else _shape(tensor)
        if which == "sparse_tensor_type":
            return "sparse", proto.sparse_tensor_type.elem_type, _shape(proto.sparse_tensor_type)
        if which == "sequence_type":
            container, proto = container or "sequence", proto.sequence_type.elem_type
        elif which == "optional_type":
            container, proto = container or "optional", proto.optional_type.elem_type
        else:
            return type_text(whole) if which == "map_type" else container or "tensor", 0, None
    return container, 0, None


def type_text(proto: onnx.TypeProto, depth: int = 0) -> str:
    """Return a type in the words of the specification, such as ``sequence(map(int64, float))``."""
    which = proto.WhichOneof("value")
    if which is None or depth > 16:
        return "unknown"
    inner = getattr(proto, which)
    if which == "map_type":
        return f"map({_element(inner.key_type)}, {type_text(inner.value_type, depth + 1)})"
    if which in ("sequence_type", "optional_type"):
        return f"{which.removesuffix('_type')}({type_text(inner.elem_type, depth + 1)})"
    return _element(inner.elem_type) if hasattr(inner, "elem_type") else which.removesuffix("_type")


def _element(number: int) -> str:
    name = onnx.TensorProto.DataType.Name(number) if number in onnx.TensorProto.DataType.values() else ""
    return name.lower() if number and name else "unknown"


def declared_item(proto: onnx.TypeProto) -> Shape | None:
    """Return the declared shape of the items of a sequence or optional of tensors; None for other types."""
    for _ in range(64):
        which = proto.WhichOneof("value")
        if which not in ("sequence_type", "optional_type"):
            return _shape(proto.tensor_type) if which == "tensor_type" else None
        proto = getattr(proto, which).elem_type
    return None


def _shape(tensor: Any) -> Shape | None:
    if not tensor.HasField("shape"):
        return None
    out: list[int | str | None] = []
    for dim in tensor.shape.dim:
        size = dim.dim_value
        if size > 0:
            out.append(size)
        elif dim.HasField("dim_value"):
            out.append(size if size == 0 else None)
        else:
            symbol = dim.dim_param
            if not isinstance(symbol, str):
                symbol = dim.dim_param = decode_text(symbol)  # shape inference reads the same protobuf
            out.append(symbol or None)
    return tuple(out)
