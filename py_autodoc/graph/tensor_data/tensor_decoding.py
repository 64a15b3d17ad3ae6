"""Decodes stored tensor bytes to numbers, one chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import onnx

from py_autodoc.graph.protobuf.tensor_protos import BITS

_T = onnx.TensorProto
Array = np.ndarray[Any, np.dtype[Any]]

NATIVE: dict[int, str] = {
    _T.FLOAT: "<f4", _T.UINT8: "u1", _T.INT8: "i1", _T.UINT16: "<u2", _T.INT16: "<i2", _T.INT32: "<i4",
    _T.INT64: "<i8", _T.BOOL: "u1", _T.FLOAT16: "<f2", _T.DOUBLE: "<f8", _T.UINT32: "<u4", _T.UINT64: "<u8",
    _T.COMPLEX64: "<c8", _T.COMPLEX128: "<c16",
}  # fmt: skip
"""Element types with a numpy equivalent. The others are stored as bits and read through ml_dtypes."""

TYPED: dict[str, dict[int, str]] = {
    "float_data": {_T.FLOAT: "<f4", _T.COMPLEX64: "<f4"},
    "double_data": {_T.DOUBLE: "<f8", _T.COMPLEX128: "<f8"},
    "int64_data": {_T.INT64: "<i8"},
    "uint64_data": {_T.UINT32: "<u4", _T.UINT64: "<u8"},
    "int32_data": {
        _T.INT32: "<i4",
        _T.INT16: "<u2",
        _T.UINT16: "<u2",
        _T.FLOAT16: "<u2",
        _T.BFLOAT16: "<u2",
        **dict.fromkeys((_T.INT8, _T.UINT8, _T.BOOL, _T.INT4, _T.UINT4), "u1"),
        **dict.fromkeys((_T.FLOAT8E4M3FN, _T.FLOAT8E4M3FNUZ, _T.FLOAT8E5M2, _T.FLOAT8E5M2FNUZ), "u1"),
        **dict.fromkeys((_T.FLOAT4E2M1, 24, 25, 26), "u1"),
    },
}
"""TensorProto field → element type → stored unit of one entry (onnx.proto, TensorProto). For types below
8 bits, an entry is one byte of packed elements."""

_SIGNED_BITS = {_T.INT4: 4, 26: 2}
_UNSIGNED_BITS = frozenset({_T.UINT4, 25})


def readable(dtype: int) -> bool:
    """True if ``decode`` supports the type with the installed onnx."""
    return dtype in NATIVE or dtype in _SIGNED_BITS or dtype in _UNSIGNED_BITS or _ml_type(dtype) is not None


def _ml_type(dtype: int) -> np.dtype[Any] | None:
    """Return the ml_dtypes type for an element type; None if the installed onnx has none."""
    if dtype not in BITS:
        return None
    try:
        ml_type: np.dtype[Any] = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(dtype))
    except (KeyError, ValueError, TypeError):
        return None
    return ml_type


def decode(data: bytes, dtype: int, elements: int) -> Array:
    """Decode ``elements`` numbers from their stored bytes (little endian, packed below 8 bits).

    Types without a numpy equivalent become float32 or small integers. ``data`` must hold whole elements.
    """
    native = NATIVE.get(dtype)
    if native is not None:
        numbers: Array = np.frombuffer(data, native, elements)
        return numbers
    bits = BITS[dtype]
    codes = codes_of(data, dtype, elements)
    if dtype in _UNSIGNED_BITS:
        return codes
    if dtype in _SIGNED_BITS:
        sign = np.int8(1 << (bits - 1))
        signed: Array = (codes.astype(np.int8) ^ sign) - sign
        return signed
    kind = _ml_type(dtype)
    if kind is None:
        raise ValueError(f"element type {dtype} cannot be read")
    native_codes = codes.astype(codes.dtype.newbyteorder("="), copy=False)
    floats: Array = native_codes.view(kind).astype(np.float32)
    return floats


def codes_of(data: bytes, dtype: int, elements: int) -> Array:
    """Return the stored bits of numbers with at most 16 bits as unsigned integers."""
    bits = BITS[dtype]
    stored = np.frombuffer(data, np.uint8)
    return (
        unpack(stored, bits, elements) if bits < 8 else stored.view("<u2" if bits == 16 else "u1")[:elements]
    )


def code_values(dtype: int) -> Array:
    """Return the number for each code of a type of at most 16 bits."""
    bits = BITS[dtype]
    codes = np.arange(1 << bits)
    if bits >= 8:
        return decode(codes.astype("<u2" if bits == 16 else "u1").tobytes(), dtype, codes.size)
    stream = (codes[:, None] >> np.arange(bits)) & 1
    return decode(np.packbits(stream.astype(np.uint8), bitorder="little").tobytes(), dtype, codes.size)


def unpack(data: Array, bits: int, elements: int) -> Array:
    """Unpack codes of ``bits`` bits; the first is in the lowest bits of the first byte (onnx.proto)."""
    stream = np.unpackbits(data, bitorder="little", count=elements * bits).reshape(elements, bits)
    weights = (1 << np.arange(bits)).astype(np.uint8)
    codes: Array = (stream * weights).sum(axis=1, dtype=np.uint8)
    return codes


def narrow(values: Array, unit: str) -> bytes:
    """Convert entries of a typed field to the bytes of raw data, using the low bits of each."""
    if values.dtype.kind == "f":
        return values.astype(unit).tobytes()
    size = np.dtype(unit).itemsize
    return values.astype(np.int64, copy=False).view(np.uint64).astype(f"<u{size}").tobytes()


def varints(chunks: Iterable[bytes]) -> Iterator[Array]:
    """Decode packed varints, yielding one int64 array per chunk. Raises: ValueError if invalid."""
    pending = b""
    for chunk in chunks:
        data = np.frombuffer(pending + chunk, np.uint8)
        ends = np.flatnonzero(data < 128)
        if not ends.size:
            if data.size > 10:
                raise ValueError("a varint of more than ten bytes")
            pending = data.tobytes()
            continue
        starts = np.concatenate(([0], ends[:-1] + 1))
        lengths = ends - starts + 1
        longest = int(lengths.max())
        if longest > 10:
            raise ValueError("a varint of more than ten bytes")
        values = np.zeros(ends.size, np.uint64)
        for position in range(longest):
            has_byte = lengths > position
            values[has_byte] |= (data[starts[has_byte] + position] & 127).astype(np.uint64) << np.uint64(
                7 * position
            )
        pending = data[int(ends[-1]) + 1 :].tobytes()
        yield values.view(np.int64)
    if pending:
        raise ValueError("a varint is cut off")
