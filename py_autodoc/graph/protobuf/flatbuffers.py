"""A reader of FlatBuffers that trusts no offset: reads are inside the file, and its size bounds the work.

Format: https://flatbuffers.dev/internals/. Slots are those of the virtual table: 4, 6, 8, … in the order of
the schema's fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_COPIED = 16
"""Bytes that may be copied per byte of the file: tables may share texts."""


class FlatBufferFault(Exception):
    """The file is damaged; the message says where."""


@dataclass(slots=True)
class _Budget:
    """What is left of the work that a file of this size can need: each reference in it takes four bytes."""

    references: int
    bytes: int

    def follow(self) -> None:
        self.references -= 1
        if self.references < 0:
            raise FlatBufferFault("its tables refer to each other without end")

    def copy(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            raise FlatBufferFault("its texts are shared without end")


def root(data: bytes) -> FlatTable:
    """Return the root table of a file. Raises: FlatBufferFault."""
    budget = _Budget(len(data) // 4 + 4, len(data) * _MAX_COPIED)
    return FlatTable(data, _reference(data, 0), budget)


class FlatTable:
    """A table; fields that it lacks have their default. All methods raise FlatBufferFault."""

    __slots__ = ("_at", "_budget", "_data", "_vtable", "_vtable_bytes")

    def __init__(self, data: bytes, at: int, budget: _Budget) -> None:
        self._data, self._at, self._budget = data, at, budget
        self._vtable = at - _number(data, at, "<i")
        self._vtable_bytes = _number(data, self._vtable, "<H")

    def number(self, slot: int, kind: str = "<i", default: int | float = 0) -> int | float:
        """Return a number; ``kind`` is its format for ``struct``."""
        at = self._field(slot)
        return _number(self._data, at, kind) if at else default

    def integer(self, slot: int, kind: str = "<i", default: int = 0) -> int:
        """Return an integer."""
        return int(self.number(slot, kind, default))

    def text(self, slot: int) -> bytes:
        """Return a text as it is stored; empty if there is none."""
        at = self._field(slot)
        return self._bytes(_reference(self._data, at)) if at else b""

    def table(self, slot: int) -> FlatTable | None:
        """Return a table that a field refers to."""
        at = self._field(slot)
        return self._child(at) if at else None

    def tables(self, slot: int) -> Iterator[FlatTable]:
        """Yield the tables of a list."""
        for at in self._entries(slot):
            yield self._child(at)

    def texts(self, slot: int) -> list[bytes]:
        """Return the texts of a list."""
        texts = []
        for at in self._entries(slot):
            self._budget.follow()
            texts.append(self._bytes(_reference(self._data, at)))
        return texts

    def numbers(self, slot: int, code: str) -> list[int | float]:
        """Return a list of numbers; ``code`` is their format for ``struct``."""
        start, count = self._list(slot, struct.calcsize(code))
        return list(struct.unpack_from(f"<{count}{code}", self._data, start))

    def raw(self, slot: int) -> bytes:
        """Return a list of bytes."""
        start, count = self._list(slot, 1)
        self._budget.copy(count)
        return self._data[start : start + count]

    def _child(self, at: int) -> FlatTable:
        self._budget.follow()
        return FlatTable(self._data, _reference(self._data, at), self._budget)

    def _field(self, slot: int) -> int:
        if slot + 2 > self._vtable_bytes:
            return 0
        offset = _number(self._data, self._vtable + slot, "<H")
        return self._at + offset if offset else 0

    def _entries(self, slot: int) -> range:
        start, count = self._list(slot, 4)
        return range(start, start + 4 * count, 4)

    def _list(self, slot: int, width: int) -> tuple[int, int]:
        at = self._field(slot)
        if not at:
            return 0, 0
        start = _reference(self._data, at)
        count = _number(self._data, start, "<I")
        if start + 4 + count * width > len(self._data):
            raise FlatBufferFault(f"a list of {count:,} entries at byte {start:,} is longer than the file")
        return start + 4, count

    def _bytes(self, start: int) -> bytes:
        count = _number(self._data, start, "<I")
        if start + 4 + count > len(self._data):
            raise FlatBufferFault(f"a text of {count:,} bytes at byte {start:,} is longer than the file")
        self._budget.copy(count)
        return self._data[start + 4 : start + 4 + count]


def _number(data: bytes, at: int, kind: str) -> int:
    if at < 0 or at + struct.calcsize(kind) > len(data):
        raise FlatBufferFault(f"a reference leads to byte {at:,} of {len(data):,}")
    value: int = struct.unpack_from(kind, data, at)[0]
    return value


def _reference(data: bytes, at: int) -> int:
    return at + _number(data, at, "<I")
