"""Reads tensor bytes in pieces, from the model file and from valid external files.

Only regular files inside the model's folder are read, links resolved, each at most a few times.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from py_autodoc.errors import PathError
from py_autodoc.graph.loading.external_data import Folders, location_hint, shown_location
from py_autodoc.graph.protobuf.probe import regular_file

_PIECE = 1 << 19
"""Bytes read at once. Decoding packed varints takes about fifty times as much memory."""
_OVERREAD = 4
"""Maximum reads per byte of a file, however many tensors claim to be in it."""
DAMAGED = "weights-damaged"
CHANGED = "file-changed"
_RELOAD_HINT = "Load the model again."


class UnreadableTensor(Exception):
    """Reason why a tensor cannot be read: a clause for a message, its code and a hint."""

    def __init__(self, why: str, code: str = DAMAGED, hint: str = "") -> None:
        super().__init__(why)
        self.code = code
        self.hint = hint


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A range of bytes: in a file (``name`` empty: the model itself) or in memory."""

    name: str
    start: int
    length: int


class TensorFiles:
    """The model and its external files: each opened once, at most 64 at a time, with positional reads."""

    _MAX_OPEN = 64

    def __init__(self, source: str | bytes, expected: int) -> None:
        self._path = source if isinstance(source, str) else None
        self._data = source if isinstance(source, bytes) else b""
        self._expected = expected
        self._folders = Folders(source) if isinstance(source, str) else None
        self._open: dict[str, tuple[int, int, ExitStack]] = {}
        self._faults: dict[str, UnreadableTensor] = {}
        self._read: dict[str, int] = {}

    def __enter__(self) -> TensorFiles:
        return self

    def __exit__(self, *_: object) -> None:
        for _fd, _size, stack in self._open.values():
            stack.close()
        self._open.clear()

    def pieces(self, byte_range: ByteRange) -> Iterator[bytes]:
        """Yield the bytes of a range, at most ``_PIECE`` at a time. Raises: UnreadableTensor."""
        if not byte_range.name and self._path is None:
            return self._of_memory(byte_range)
        fd, size = self._descriptor(byte_range.name)
        self._account(byte_range, size)
        return _positional(fd, byte_range)

    def _of_memory(self, byte_range: ByteRange) -> Iterator[bytes]:
        if len(self._data) != self._expected:
            raise UnreadableTensor("the model in memory changed", CHANGED, _RELOAD_HINT)
        self._account(byte_range, len(self._data))
        view = memoryview(self._data)[byte_range.start : byte_range.start + byte_range.length]
        return (bytes(view[offset : offset + _PIECE]) for offset in range(0, len(view), _PIECE))

    def _account(self, byte_range: ByteRange, size: int) -> None:
        """Check a range against the file size and the number of reads so far."""
        if byte_range.start + byte_range.length > size:
            raise UnreadableTensor(
                f"its data reach to byte {byte_range.start + byte_range.length:,} of {size:,}"
            )
        read = self._read.get(byte_range.name, 0) + byte_range.length
        if read > _OVERREAD * size:
            raise UnreadableTensor("too many tensors claim the same bytes")
        self._read[byte_range.name] = read

    def _descriptor(self, name: str) -> tuple[int, int]:
        """Return (descriptor, size) of the model (empty name) or an external file.

        Raises: UnreadableTensor.
        """
        fault = self._faults.get(name)
        if fault is not None:
            raise UnreadableTensor(str(fault), fault.code, fault.hint)
        opened = self._open.get(name)
        if opened is None:
            try:
                opened = self._opened(name)
            except UnreadableTensor as why:
                self._faults[name] = why
                raise
            if len(self._open) >= self._MAX_OPEN:
                self._open.pop(next(iter(self._open)))[2].close()
            self._open[name] = opened
        return opened[:2]

    def _opened(self, name: str) -> tuple[int, int, ExitStack]:
        with ExitStack() as stack:
            try:
                fd, status = stack.enter_context(regular_file(self._checked(name)))
                if name:
                    self._same(name, status)
            except PathError:
                raise self._unreadable(name) from None
            if not name and status.st_size != self._expected:
                raise UnreadableTensor("the model file changed", CHANGED, _RELOAD_HINT)
            return fd, status.st_size, stack.pop_all()
        raise AssertionError("unreachable")

    def _checked(self, name: str) -> str:
        """Return the real path of a file that may be read. Raises: UnreadableTensor."""
        if not name:
            return self._path or ""
        if self._folders is None:
            why = "its data are in another file, and a model in memory has no folder"
            raise UnreadableTensor(
                why, "external-missing", "Pass the path of the model instead of its content."
            )
        try:
            real = self._folders.resolve(name)
        except (OSError, ValueError):
            real = None
        if real is None and self._folders.hides(name):
            why, code = "its data are in a hidden file, which this server does not read", "external-hidden"
            raise UnreadableTensor(why, code, location_hint(code, name))
        if real is None:
            why, code = "its data lie outside the model's folder", "external-outside"
            raise UnreadableTensor(why, code, location_hint(code, name))
        if not os.path.lexists(real):
            raise _missing(name)
        return real

    @staticmethod
    def _unreadable(name: str) -> UnreadableTensor:
        if not name:
            return UnreadableTensor("the model file cannot be read any more", CHANGED, _RELOAD_HINT)
        hint = f"Make {shown_location(name)} a regular file that may be read."
        return UnreadableTensor("the file with its data cannot be read", "external-unreadable", hint)

    def _same(self, name: str, opened: os.stat_result) -> None:
        """Reject an opened file if the path now leads elsewhere, such as through a new link."""
        try:
            current = os.stat(self._checked(name), follow_symlinks=False)
        except OSError:
            raise _missing(name) from None
        if (current.st_dev, current.st_ino) != (opened.st_dev, opened.st_ino):
            raise UnreadableTensor("the file with its data changed", CHANGED, _RELOAD_HINT)


def _missing(name: str) -> UnreadableTensor:
    code = "external-missing"
    return UnreadableTensor("the file with its data is not there", code, location_hint(code, name))


def _positional(fd: int, byte_range: ByteRange) -> Iterator[bytes]:
    offset, end = byte_range.start, byte_range.start + byte_range.length
    while offset < end:
        data = _pread(fd, min(_PIECE, end - offset), offset)
        if not data:
            raise UnreadableTensor("the file became shorter while it was read", CHANGED, _RELOAD_HINT)
        offset += len(data)
        yield data


def _seek_and_read(fd: int, count: int, offset: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, count)


_pread = getattr(os, "pread", _seek_and_read)
"""Fallback for Windows, which lacks positional reads; the descriptor is private and may be moved."""
