"""All values of one constant tensor as a numpy array or a ``.npy`` file.

Element types that numpy lacks are widened without rounding: bfloat16, float8 and float4 to float32,
int4 and int2 to int8, uint4 and uint2 to uint8.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx

from py_autodoc.errors import InputError, LimitError
from py_autodoc.graph.ir.model import Model
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.protobuf.tensor_protos import BITS
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.tensor_decoding import NATIVE, Array, decode
from py_autodoc.graph.tensor_data.weight_reader import TensorContent, chunks, content_of
from py_autodoc.graph.tensor_data.weight_view import NOTHING, Check, no_check, stored_constant, unread_error

_T = onnx.TensorProto
_NO_ARRAY = "no-array"
_WITH_ONNX = "Read it with onnx.load."


@dataclass(frozen=True, slots=True)
class WeightArray:
    """A constant as a ``.npy`` file: its values start at byte ``start``, in C order, little endian."""

    elem_type: int
    """Element type in the model."""
    dtype: np.dtype[np.generic]
    """Element type of the values here."""
    shape: tuple[int, ...]
    data: bytearray
    start: int

    @property
    def converted(self) -> bool:
        """True if numpy lacks the element type."""
        return self.elem_type not in NATIVE

    def array(self) -> Array:
        """Return the values as a writable array in native byte order."""
        values: Array = np.frombuffer(self.data, self.dtype, offset=self.start).reshape(self.shape)
        return values.astype(self.dtype.newbyteorder("="), copy=False)


def read_array(
    loaded: LoadedModel,
    model: Model,
    source: str | bytes,
    number: int,
    *,
    max_bytes: int | None = None,
    hint: str = "",
    check: Check = no_check,
) -> WeightArray:
    """Read a whole constant tensor; ``source`` is the path or bytes that ``loaded`` was created from.

    ``max_bytes`` limits the returned values; ``hint`` is the advice for larger tensors.
    ``check`` is called between pieces of the file; an exception it raises aborts the reading.

    Raises:
        LimitError: the values exceed ``most`` bytes.
        InputError: text, a sparse tensor, or an invalid numpy shape; also errors of ``view_weight``.
    """
    tensor = model.tensors[number]
    subject = f"{loaded.facts.name}: {tensor.name[:200]!r}"
    try:
        constant = stored_constant(loaded, model, tensor)
        if constant is None:
            raise UnreadableTensor(NOTHING)
        if constant.values.data_type == _T.STRING:
            raise InputError(
                _NO_ARRAY, f"{subject} holds text, and only numbers are read as an array.", _WITH_ONNX
            )
        if constant.indices is not None:
            raise InputError(
                _NO_ARRAY, f"{subject} is sparse, and only dense tensors are read as an array.", _WITH_ONNX
            )
        with TensorFiles(source, loaded.facts.bytes) as files:
            content = content_of(constant.values, files)
            dtype = numpy_type(content.dtype)
            size = content.elements * dtype.itemsize
            if max_bytes is not None and size > max_bytes:
                message = (
                    f"{subject} takes {size:,} bytes as a numpy array, and at most {max_bytes:,} are sent."
                )
                raise LimitError("array_bytes", size, max_bytes, message, hint)
            if not _fits(constant.dims, dtype):
                message = f"{subject} has a shape that no numpy array can have."
                raise InputError(_NO_ARRAY, message, _WITH_ONNX)
            data = bytearray(_header(constant.dims, dtype))
            start = len(data)
            _fill(data, content, dtype, check)
    except UnreadableTensor as why:
        raise unread_error(why, loaded, tensor) from None
    return WeightArray(content.dtype, dtype, constant.dims, data, start)


def numpy_type(elem_type: int) -> np.dtype[np.generic]:
    """Return the little-endian numpy type that holds every value of an element type."""
    if elem_type == _T.BOOL:
        return np.dtype(np.bool_)
    native = NATIVE.get(elem_type)
    if native is not None:
        return np.dtype(native)
    sample = decode(bytes(2), elem_type, 1 if BITS[elem_type] >= 8 else 8 // BITS[elem_type])
    numpy_dtype: np.dtype[np.generic] = sample.dtype.newbyteorder("<")
    return numpy_dtype


def _fits(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> bool:
    """True if numpy supports the shape; it limits dimensions even for arrays without elements."""
    try:
        np.broadcast_to(np.zeros((), dtype), shape)
    except ValueError:
        return False
    return True


def _header(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> bytes:
    """Return the header of a ``.npy`` file."""
    head = io.BytesIO()
    array_header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, array_header)
    return head.getvalue()


def _fill(
    data: bytearray, content: TensorContent, dtype: np.dtype[np.generic], check: Callable[[], None]
) -> None:
    """Append values as they are read, so that a shape larger than its data does not allocate memory."""
    for stored, elements in chunks(content):
        check()
        data += decode(stored, content.dtype, elements).astype(dtype, copy=False).tobytes()
