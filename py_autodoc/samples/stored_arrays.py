"""The arrays of ``.npy`` and ``.npz`` files by their headers: types and shapes before any value is read.

A few bytes can declare, and a small archive can unpack to, more than fits into memory. Whoever needs the
shapes gets them from here; whoever needs values says how many rows, and pays for these.
"""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from py_autodoc.errors import InputError
from py_autodoc.free_memory import need
from py_autodoc.graph.ir.name_sanitizer import bounded_name
from py_autodoc.limits import ARRAYS_FILE
from py_autodoc.option_files import opened, shown_name

Array = np.ndarray[Any, Any]
MAX_MEMBERS = 10_000
"""Maximum number of files in an archive."""
_MAX_DIRECTORY = 1 << 23
"""Maximum bytes of an archive's directory, which ``zipfile`` reads as a whole."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What NumPy writes. Other methods may need as much memory to unpack as the file demands."""
_END, _END_BYTES = b"PK\x05\x06", 22
_LONGEST_COMMENT = 1 << 16
_LARGEST = np.iinfo(np.int64).max
_UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    MemoryError,
    SyntaxError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""Exceptions of NumPy and zipfile for damaged files."""


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array in a file."""

    file: Path
    member: str
    """Name in the archive; empty for a ``.npy`` file."""
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    is_transposed: bool
    """The first axis varies fastest."""
    offset: int
    """Start of the values, after the header."""

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def stand_in(self) -> Array:
        """An array of this type and shape that takes no memory, for checks of types and shapes."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)

    def leading(self, rows: int | None) -> tuple[int, ...]:
        """Return the shape of the first rows, of which a transposed array has all."""
        if rows is None or self.is_transposed or not self.shape:
            return self.shape
        return (min(rows, self.shape[0]), *self.shape[1:])


def stored_arrays(file: Path) -> dict[str, StoredArray]:
    """Return the arrays of a file by name; that of a ``.npy`` has the name of the file.

    Raises:
        PathError: it is not a regular file, or cannot be read.
        InputError: it is not a NumPy file of numbers, or declares more than it contains or than we read.
    """
    with _faults(file), opened(file, ARRAYS_FILE) as stream:
        size = os.fstat(stream.fileno()).st_size
        if not _is_archive(file, stream):
            return {file.stem: _header(file, "", stream, size)}
        found = {}
        with _archive(stream, size) as archive:
            for info in archive.infolist():
                if info.filename.endswith(".npy"):
                    with archive.open(_checked(info)) as member:
                        name = bounded_name(info.filename.removesuffix(".npy"))  # as in the analysis
                        found[name] = _header(file, info.filename, member, info.file_size)
        total = sum(array.nbytes for array in found.values())
        if total > ARRAYS_FILE.bytes:
            raise InputError("sample-too-large", f"{shown_name(file)} contains more than 4 GB.")
        return found


def read_arrays(file: Path, rows: Mapping[str, int | None] | None = None) -> dict[str, Array]:
    """Return the arrays of a ``.npz`` or ``.npy`` file by name.

    Args:
        file: the file. Nothing in it is unpickled.
        rows: the arrays to read and the number of their first rows (None: all); None reads everything.

    Raises: PathError, InputError: as ``stored_arrays``, or there is not enough memory.
    """
    stored = stored_arrays(file)
    wanted = {
        name: (array, array.leading(None if rows is None else rows[name]))
        for name, array in stored.items()
        if rows is None or name in rows
    }
    count = sum(prod(shape) * array.dtype.itemsize for array, shape in wanted.values())
    need(count, f"Reading {shown_name(file)}", "Use fewer with --samples.")
    with _faults(file), opened(file, ARRAYS_FILE) as stream:
        if not _is_archive(file, stream):
            return {name: _values(stream, array, shape) for name, (array, shape) in wanted.items()}
        values = {}
        with _archive(stream, os.fstat(stream.fileno()).st_size) as archive:
            for name, (array, shape) in wanted.items():
                with archive.open(_checked(archive.getinfo(array.member))) as member:
                    values[name] = _values(member, array, shape)
        return values


def _header(file: Path, member: str, stream: IO[bytes], size: int) -> StoredArray:
    """Read a header and compare it with the bytes that follow. Raises: ValueError."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, is_transposed, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, is_transposed, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError("it contains data other than numeric arrays")
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None or not dtype.itemsize:
        raise ValueError("it contains data other than numeric arrays")
    if any(length < 0 for length in shape):
        raise ValueError("its header declares a negative size")
    # Zero times a huge number is nothing, but no array has such a shape.
    if len(shape) > 32 or prod(max(1, length) for length in shape) * dtype.itemsize > _LARGEST:
        raise ValueError("its header declares an array that no machine can hold")
    array = StoredArray(file, member, dtype, tuple(map(int, shape)), is_transposed, stream.tell())
    if array.nbytes > size - array.offset:
        raise ValueError(
            f"its header declares {array.nbytes:,} bytes, but only {max(0, size - array.offset):,} follow"
        )
    return array


def _values(stream: IO[bytes], array: StoredArray, shape: tuple[int, ...]) -> Array:
    stream.seek(array.offset)
    count = prod(shape) * array.dtype.itemsize
    data = bytearray(count)
    view, filled = memoryview(data), 0
    while filled < count:
        # readinto of a zip member reads it in one piece, which would be in memory twice.
        piece = stream.read(min(1 << 20, count - filled))
        if not piece:
            raise EOFError("the file ends within the array")
        view[filled : filled + len(piece)] = piece
        filled += len(piece)
    return np.frombuffer(data, array.dtype).reshape(shape, order="F" if array.is_transposed else "C")


def _is_archive(file: Path, stream: IO[bytes]) -> bool:
    is_archive = file.suffix == ".npz" or stream.read(4) == b"PK\x03\x04"
    stream.seek(0)
    return is_archive


def _archive(stream: IO[bytes], size: int) -> zipfile.ZipFile:
    """Open an archive whose directory is small. Raises: ValueError, BadZipFile."""
    stream.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT))
    tail = stream.read()
    end = tail.rfind(_END)
    if end >= 0:
        entries, directory = (
            int.from_bytes(tail[end + at : end + at + length], "little") for at, length in ((10, 2), (12, 4))
        )
        if entries > MAX_MEMBERS or directory > _MAX_DIRECTORY:
            raise ValueError(f"it contains more than {MAX_MEMBERS:,} files")
    stream.seek(0)
    return zipfile.ZipFile(stream)


def _checked(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    if info.compress_type not in _METHODS:
        raise ValueError(f"{info.filename[:80]} is compressed in a way that NumPy does not use")
    return info


@contextmanager
def _faults(file: Path) -> Iterator[None]:
    """Convert the exceptions of libraries for damaged files."""
    try:
        yield
    except _UNREADABLE as fault:
        raise InputError(
            "sample-unreadable", f"{shown_name(file)} cannot be read as a NumPy file: {_line(fault)}"
        ) from fault


def _line(fault: BaseException) -> str:
    text = str(fault).strip().splitlines()
    return (text[0][:200] if text else type(fault).__name__).rstrip(".") + "."
