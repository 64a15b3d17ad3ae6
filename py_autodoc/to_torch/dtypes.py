"""ONNX element types in PyTorch."""

from __future__ import annotations

import onnx

_T = onnx.TensorProto
TORCH: dict[int, str] = {
    _T.FLOAT: "float32", _T.UINT8: "uint8", _T.INT8: "int8", _T.UINT16: "uint16", _T.INT16: "int16",
    _T.INT32: "int32", _T.INT64: "int64", _T.BOOL: "bool", _T.FLOAT16: "float16", _T.DOUBLE: "float64",
    _T.UINT32: "uint32", _T.UINT64: "uint64", _T.COMPLEX64: "complex64", _T.COMPLEX128: "complex128",
    _T.BFLOAT16: "bfloat16", _T.FLOAT8E4M3FN: "float8_e4m3fn", _T.FLOAT8E4M3FNUZ: "float8_e4m3fnuz",
    _T.FLOAT8E5M2: "float8_e5m2", _T.FLOAT8E5M2FNUZ: "float8_e5m2fnuz",
    _T.INT4: "int8", _T.UINT4: "uint8",
}  # fmt: skip
"""Four-bit types become the next wider type, with the same values."""
FLOATS = frozenset({_T.FLOAT, _T.FLOAT16, _T.DOUBLE, _T.BFLOAT16})
BOOLS = frozenset({_T.BOOL})
WIDE = frozenset({_T.INT4, _T.UINT4})
"""Types stored with fewer bits than in torch."""
SAFETENSORS: dict[int, str] = {
    _T.FLOAT: "F32", _T.UINT8: "U8", _T.INT8: "I8", _T.UINT16: "U16", _T.INT16: "I16", _T.INT32: "I32",
    _T.INT64: "I64", _T.BOOL: "BOOL", _T.FLOAT16: "F16", _T.DOUBLE: "F64", _T.UINT32: "U32",
    _T.UINT64: "U64", _T.BFLOAT16: "BF16", _T.FLOAT8E4M3FN: "F8_E4M3", _T.FLOAT8E5M2: "F8_E5M2",
    _T.COMPLEX64: "C64", _T.INT4: "I8", _T.UINT4: "U8",
}  # fmt: skip
"""Names in the safetensors format."""
NUMPY: dict[int, str] = {
    _T.FLOAT: "<f4", _T.UINT8: "|u1", _T.INT8: "|i1", _T.UINT16: "<u2", _T.INT16: "<i2", _T.INT32: "<i4",
    _T.INT64: "<i8", _T.BOOL: "|b1", _T.FLOAT16: "<f2", _T.DOUBLE: "<f8", _T.UINT32: "<u4",
    _T.UINT64: "<u8", _T.COMPLEX64: "<c8", _T.COMPLEX128: "<c16", _T.BFLOAT16: "<u2",
    _T.FLOAT8E4M3FN: "|u1", _T.FLOAT8E4M3FNUZ: "|u1", _T.FLOAT8E5M2: "|u1", _T.FLOAT8E5M2FNUZ: "|u1",
    _T.INT4: "|i1", _T.UINT4: "|u1",
}  # fmt: skip
"""Types in the .npz format. Types without a numpy equivalent are stored as raw bits."""
BITS_ONLY = frozenset({_T.BFLOAT16, _T.FLOAT8E4M3FN, _T.FLOAT8E4M3FNUZ, _T.FLOAT8E5M2, _T.FLOAT8E5M2FNUZ})
RANGES: dict[int, tuple[int, int]] = {
    _T.UINT8: (0, 255),
    _T.INT8: (-128, 127),
    _T.UINT16: (0, 65535),
    _T.INT16: (-32768, 32767),
    _T.INT32: (-(2**31), 2**31 - 1),
    _T.UINT4: (0, 15),
    _T.INT4: (-8, 7),
}
"""Smallest and largest number of the integer types used for quantization."""


def onnx_type(dtype: int) -> str:
    """Return the name of an ONNX element type, as ``FLOAT8E8M0``, for messages."""
    try:
        return str(onnx.TensorProto.DataType.Name(dtype))
    except ValueError:
        return f"number {dtype}"
