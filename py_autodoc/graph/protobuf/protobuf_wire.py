"""Protobuf wire format, read through positional windows.

Only the required bytes are read: a window of a few KiB doubles during sequential reads and shrinks after a
jump over a payload. For ``bytes`` in memory the window is the whole object.

Stricter than protobuf where leniency only helps an attacker: rejects field number 0, groups, lengths past
the end of the enclosing message and varints of more than ten bytes.
Format: https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_HEADER = 20
"""Maximum bytes of a key (10) and a length (10)."""
_FIRST_WINDOW = 1 << 13
_LAST_WINDOW = 1 << 18


def _seek_and_read(fd: int, count: int, pos: int) -> bytes:
    os.lseek(fd, pos, os.SEEK_SET)
    return os.read(fd, count)


_pread = getattr(os, "pread", _seek_and_read)
"""Fallback for Windows, which lacks positional reads; the descriptor is private and may be moved."""


class WireError(ValueError):
    """The bytes are not valid protobuf; ``offset`` is the position in the file."""

    def __init__(self, offset: int, fault: str) -> None:
        super().__init__(f"{fault} at byte {offset:,}")
        self.offset = offset
        self.fault = fault


class TruncatedMessage(WireError):
    """The file ends before the announced data."""


class WireSource:
    """Bytes of a file (or of a ``bytes`` object) behind a movable window.

    ``buf`` holds the bytes of the file from ``base`` on. Hot loops index ``buf`` directly after
    ``need``; other callers use ``read``.
    """

    __slots__ = ("_ahead", "_fd", "base", "buf", "bytes_read", "size")

    def __init__(self, size: int, fd: int = -1, data: bytes = b"") -> None:
        self.size = size
        self.buf = data
        self.base = 0
        self.bytes_read = 0
        self._fd = fd
        self._ahead = _FIRST_WINDOW

    @classmethod
    def of_bytes(cls, data: bytes) -> WireSource:
        """Create a source over bytes in memory."""
        return cls(len(data), data=data)

    def need(self, pos: int, count: int) -> None:
        """Load [pos, pos+count), cut at the end of the file, into ``buf``.

        Raises:
            Truncated: the file became shorter while it was read.
        """
        count = min(count, self.size - pos)
        begin = self.base
        end = begin + len(self.buf)
        if begin <= pos and pos + count <= end:
            return
        if self._fd < 0:
            raise TruncatedMessage(self.size, "the data end")
        onward = begin <= pos <= end
        self._ahead = min(self._ahead * 2, _LAST_WINDOW) if onward else _FIRST_WINDOW
        self.buf = self._fetch(pos, min(max(count, self._ahead), self.size - pos))
        self.base = pos

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes [start, stop) without moving the window."""
        i = start - self.base
        j = stop - self.base
        if i >= 0 and j <= len(self.buf):
            return self.buf[i:j]
        return self._fetch(start, stop - start)

    def _fetch(self, pos: int, count: int) -> bytes:
        data = _pread(self._fd, count, pos)
        while len(data) < count:
            more = _pread(self._fd, count - len(data), pos + len(data))
            if not more:
                raise TruncatedMessage(pos + len(data), "the file became shorter while it was read")
            data += more
        self.bytes_read += count
        return data


def header(buf: bytes, i: int, end: int, base: int) -> tuple[int, int, int, int]:
    """Decode the field at ``buf[i]``: (number, wire type, payload start, payload stop).

    ``end`` bounds the enclosing message; all positions except ``base`` are relative to ``buf``.
    Raises WireError (absolute positions), and IndexError if ``buf`` ends too early.
    """
    start = i
    key, i = varint(buf, i, base)
    wire = key & 7
    number = key >> 3
    if not number:
        raise WireError(start + base, "field number 0")
    if number > 0x1FFFFFFF:
        raise WireError(start + base, f"field number {number}")
    if wire == BYTES:
        size, i = varint(buf, i, base)
        stop = i + size
    elif wire == VARINT:
        _, stop = varint(buf, i, base)
    elif wire == FIXED32:
        stop = i + 4
    elif wire == FIXED64:
        stop = i + 8
    else:
        raise WireError(start + base, f"wire type {wire}")
    if stop > end:
        raise TruncatedMessage(
            start + base, f"field {number} is {stop - end:,} bytes longer than its message"
        )
    return number, wire, i, stop


def varint(buf: bytes, i: int, base: int = 0) -> tuple[int, int]:
    """Decode the varint at ``buf[i]``: (value, position after it). Raises WireError, IndexError."""
    value = buf[i]
    i += 1
    if value < 128:
        return value, i
    value &= 127
    shift = 7
    while True:
        byte = buf[i]
        i += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFFFFFFFFFF, i
        shift += 7
        if shift > 63:
            raise WireError(i + base - 10, "a varint of more than ten bytes")


def fields(source: WireSource, pos: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the fields of the message [pos, end): (number, wire type, key start, start, stop).

    Positions are absolute; [start, stop) is the payload, which is not read. The caller may move
    the window between steps.
    """
    while pos < end:
        buf, base = source.buf, source.base
        i = pos - base
        if i < 0 or i + _HEADER > len(buf):
            source.need(pos, _HEADER)
            buf, base = source.buf, source.base
            i = pos - base
        try:
            key, size = buf[i], buf[i + 1]
            start = pos + 2
            if size > 127:  # fast path for two-byte lengths
                more = buf[i + 2]
                size = size & 127 | more << 7 if more < 128 else end
                start = pos + 3
            if key & 0x87 == BYTES and key > 7 and start + size <= end:
                number, wire, stop = key >> 3, BYTES, start + size
            else:
                number, wire, start, stop = header(buf, i, end - base, base)
                start += base
                stop += base
        except IndexError:
            raise TruncatedMessage(source.size, "the file ends inside a field") from None
        yield number, wire, pos, start, stop
        pos = stop


def encode_varint(value: int) -> bytes:
    """Encode a varint as protobuf does."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_bytes(number: int, payload: bytes) -> bytes:
    """Encode a length-delimited field."""
    return encode_varint(number << 3 | BYTES) + encode_varint(len(payload)) + payload


def encode_header(number: int, size: int) -> bytes:
    """Encode key and length of a length-delimited field; the payload follows."""
    return encode_varint(number << 3 | BYTES) + encode_varint(size)
