"""Single walk over a model file: counts everything, locates the weights and does not read them.

The result is the model's protobuf without payloads: each tensor payload of at least ``INLINE_BYTES`` becomes
a reference (external data of the same file), and the bytes in between are copied unchanged. Small tensors
are kept because shape inference needs their values.
"""

from __future__ import annotations

import hashlib
import re
import secrets

from py_autodoc.errors import LimitError
from py_autodoc.graph.protobuf.file_counts import FileCounts
from py_autodoc.graph.protobuf.protobuf_wire import (
    BYTES,
    TruncatedMessage,
    WireError,
    WireSource,
    encode_bytes,
    encode_header,
    encode_varint,
    fields,
    header,
    varint,
)
from py_autodoc.limits import Limits

INLINE_BYTES = 4096
"""Payloads of at least this size are not read."""
MARK_KEY = "checksum"
"""external_data key that marks a moved payload; every reader of the format knows it."""
PAYLOAD_MARK = secrets.token_urlsafe(6)
"""Prefix of its value, followed by the TensorProto field of the payload and, if the wire format gives it, the
number of elements: ``…float_data:10000``. It is a secret of the process: a file could contain a known one,
and its external data would then pass for a payload of the file. All have one length, so that the size of a
structure is always the same."""
MARK_KEYS = (("location", MARK_KEY, "length"), ("location", MARK_KEY, "offset", "length"))
"""All keys of the external_data of a moved payload, in order."""

_TYPE_BYTES = 128
"""A type of fewer bytes cannot nest deeper than 32 levels (4 bytes per level)."""
_NODE_BYTES = 1 << 16
_MESSAGE_WEIGHT = 8
"""Weight of a node, attribute or tensor in the field count: an empty one of two bytes takes over a hundred
bytes when parsed."""
_GRAPH_KEY = re.compile(rb"[\x32\x5a\xb2\xda]")
"""Possible first bytes of a key for AttributeProto.g (6) or graphs (11), including over-long keys."""
_RAW, _STRINGS = 9, 6
_PAYLOADS = {4: "float_data", 5: "int32_data", 6: "string_data", 7: "int64_data", 9: "raw_data",
             10: "double_data", 11: "uint64_data"}  # fmt: skip
_FIXED_ITEM = {4: 4, 10: 8}
_MODEL_FIELDS = {1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2, 8: 2, 14: 2, 20: 2, 25: 2, 26: 2}
_NESTED = {4: 1, 5: 2, 9: 1}
"""TypeProto: sequence, map, optional → field of the inner type."""


class MessagePieces:
    """Pieces of a rewritten message: file spans, literal bytes and payload references."""

    __slots__ = ("items", "size")

    def __init__(self) -> None:
        self.items: list[tuple[int, int] | bytes | PayloadReference] = []
        self.size = 0

    def span(self, start: int, stop: int) -> None:
        """Copy [start, stop) of the file."""
        if stop > start:
            self.items.append((start, stop))
            self.size += stop - start

    def literal(self, data: bytes) -> None:
        """Insert literal bytes."""
        self.items.append(data)
        self.size += len(data)

    def moved(self, item: PayloadReference) -> None:
        """Insert a payload reference."""
        self.items.append(item)
        self.size += len(item.data)

    def message(self, number: int, inner: MessagePieces) -> None:
        """Insert a rewritten inner message as field ``number``."""
        self.literal(encode_header(number, inner.size))
        self.items.extend(inner.items)
        self.size += inner.size


class PayloadReference:
    """A payload that stays in the file, written as external data of the same file."""

    __slots__ = ("data", "facts")

    def __init__(self, location: bytes, field: int, start: int | None, size: int, count: int | None) -> None:
        mark = PAYLOAD_MARK + _PAYLOADS[field] + ("" if count is None else f":{count}")
        entries = [("location", location), (MARK_KEY, mark.encode())]
        if start is not None:
            entries.append(("offset", b"%d" % start))
        entries.append(("length", b"%d" % size))
        pairs = (encode_bytes(1, key.encode()) + encode_bytes(2, value) for key, value in entries)
        self.data = b"".join(encode_bytes(13, pair) for pair in pairs) + encode_varint(14 << 3) + b"\x01"
        self.facts = b"%d:%d:%d:%d;" % (field, -1 if start is None else start, size, count or 0)


class StructureScan:
    """Walks a model. ``run`` fills ``counts``; ``structure`` then returns the protobuf without payloads."""

    def __init__(self, source: WireSource, limits: Limits, location: str) -> None:
        self.source = source
        self.limits = limits
        self.counts = FileCounts(file_bytes=source.size)
        self.known_fields = 0
        """Number of top-level fields so far that are valid for a ModelProto, to recognise models."""
        self._location = location.encode("utf-8", "backslashreplace")
        self._parts = MessagePieces()

    def run(self) -> None:
        """Walk the whole file.

        Raises:
            WireError: the protobuf is broken.
            LimitError: a count exceeds the limits.
        """
        counts = self.counts
        out, copied = MessagePieces(), 0
        for number, wire, key, start, stop in fields(self.source, 0, self.source.size):
            if _MODEL_FIELDS.get(number, wire) != wire:
                raise WireError(key, f"field {number} with wire type {wire}")
            new = None
            if number == 7:
                counts.has_graph = True
                new = self._graph(start, stop, 0)
            elif number == 25:
                counts.functions += 1
                new = self._function(start, stop)
            elif number == 20:
                new = self._training(start, stop)
            self.known_fields += number in _MODEL_FIELDS
            if new is not None:
                out.span(copied, key)
                out.message(number, new)
                copied = stop
            self._tick(1)
        out.span(copied, self.source.size)
        self._parts = out
        counts.structure_bytes = out.size
        if out.size > self.limits.structure_bytes:
            raise self._limit("structure_bytes", out.size, "bytes in addition to weights")

    def structure(self) -> tuple[bytes, str]:
        """Return the protobuf without payloads and its content identity.

        The identity is a sha256 over the copied bytes, the position and size of every payload and the file
        size. It excludes the file name, its times and the weight values, so a copy has the same identity, and
        so has a file that differs only in large weights.
        """
        digest = hashlib.sha256(b"%d;" % self.source.size)
        chunks: list[bytes] = []
        for item in self._parts.items:
            if isinstance(item, tuple):
                chunk = self.source.read(*item)
                digest.update(chunk)
            elif isinstance(item, PayloadReference):
                chunk = item.data
                digest.update(item.facts)
            else:
                chunk = item
            chunks.append(chunk)
        self.counts.bytes_read = self.source.bytes_read
        return b"".join(chunks), digest.hexdigest()

    # Messages. Each walker returns the rewritten message, or None if it can be copied unchanged.

    def _training(self, pos: int, end: int) -> MessagePieces | None:
        out: MessagePieces | None = None
        copied = pos
        for number, wire, key, start, stop in fields(self.source, pos, end):
            new = self._graph(start, stop, 0) if wire == BYTES and number in (1, 2) else None
            out, copied = _splice(out, copied, number, key, stop, new)
            self._tick(1)
        return _close(out, copied, end)

    def _function(self, pos: int, end: int) -> MessagePieces | None:
        out: MessagePieces | None = None
        copied = pos
        for number, wire, key, start, stop in fields(self.source, pos, end):
            new = None
            if wire == BYTES and number == 7:
                new = self._node(start, stop, 0)
            elif wire == BYTES and number == 11:
                new = self._attribute(start, stop, 0)
            elif wire == BYTES and number == 12 and stop - start >= _TYPE_BYTES:
                self._value_info(start, stop)
            out, copied = _splice(out, copied, number, key, stop, new)
            self._tick(1)
        return _close(out, copied, end)

    def _graph(self, pos: int, end: int, depth: int) -> MessagePieces | None:
        counts = self.counts
        if depth > self.limits.depth:
            raise self._limit("depth", depth, "nested subgraphs")
        counts.depth = max(counts.depth, depth)
        counts.subgraphs += depth > 0
        out: MessagePieces | None = None
        copied = pos
        for number, wire, key, start, stop in fields(self.source, pos, end):
            if wire != BYTES:
                self._tick(1)
                continue
            new = None
            if number == 1:
                new = self._node(start, stop, depth)
            elif number == 5:
                counts.initializers += 1
                self._tick(_MESSAGE_WEIGHT)
                new = self._tensor(start, stop)
            elif number == 15:
                counts.initializers += 1
                new = self._sparse(start, stop)
            elif number in (11, 12, 13) and stop - start >= _TYPE_BYTES:
                self._value_info(start, stop)
            if new is not None:
                out, copied = _splice(out, copied, number, key, stop, new)
            self._tick(1)
        return _close(out, copied, end)

    def _node(self, pos: int, end: int, depth: int) -> MessagePieces | None:
        """Count a node. Most are small, without graph or weight, and are walked inside the window."""
        counts = self.counts
        counts.nodes += 1
        if counts.nodes > self.limits.nodes:
            raise self._limit("nodes", counts.nodes, "nodes")
        if end - pos >= _NODE_BYTES:
            return self._large_node(pos, end, depth)
        source = self.source
        source.need(pos, end - pos)
        buf, base = source.buf, source.base
        i, last = pos - base, end - base
        visited = _MESSAGE_WEIGHT
        try:
            while i < last:
                key, size = buf[i], buf[i + 1]
                start = i + 2
                if size > 127:  # fast path for two-byte lengths
                    more = buf[i + 2]
                    size = size & 127 | more << 7 if more < 128 else last
                    start = i + 3
                if key & 0x87 == BYTES and key > 7 and start + size <= last:
                    number, i, stop = key >> 3, start, start + size
                else:
                    number, _, i, stop = header(buf, i, last, base)
                visited += 1
                if number == 5:
                    visited += _MESSAGE_WEIGHT
                if number == 5 and (stop - i >= INLINE_BYTES or _GRAPH_KEY.search(buf, i, stop)):
                    return self._large_node(pos, end, depth)
                i = stop
        except IndexError:
            raise TruncatedMessage(source.size, "the file ends inside a node") from None
        self._tick(visited)
        return None

    def _large_node(self, pos: int, end: int, depth: int) -> MessagePieces | None:
        out: MessagePieces | None = None
        copied = pos
        for number, wire, key, start, stop in fields(self.source, pos, end):
            self._tick(_MESSAGE_WEIGHT if number == 5 else 1)
            if wire == BYTES and number == 5:
                new = self._attribute(start, stop, depth)
                out, copied = _splice(out, copied, number, key, stop, new)
        return _close(out, copied, end)

    def _attribute(self, pos: int, end: int, depth: int) -> MessagePieces | None:
        out: MessagePieces | None = None
        singles = _SingleFields()
        copied = pos
        for number, wire, key, start, stop in fields(self.source, pos, end):
            self._tick(1)
            if wire != BYTES:
                continue
            new = None
            if number in (6, 11):
                new = self._graph(start, stop, depth + 1)
            elif number in (5, 10):
                new = self._tensor(start, stop)
            elif number in (22, 23):
                new = self._sparse(start, stop)
            elif number in (14, 15) and stop - start >= _TYPE_BYTES:
                self._type(start, stop)
            if number in (5, 22):
                singles.add(number, key, new)
            out, copied = _splice(out, copied, number, key, stop, new)
        return _close(out, copied, end)

    def _sparse(self, pos: int, end: int) -> MessagePieces | None:
        out: MessagePieces | None = None
        singles = _SingleFields()
        copied = pos
        for number, wire, key, start, stop in fields(self.source, pos, end):
            self._tick(1)
            new = self._tensor(start, stop) if wire == BYTES and number in (1, 2) else None
            if wire == BYTES:
                singles.add(number, key, new)
            out, copied = _splice(out, copied, number, key, stop, new)
        return _close(out, copied, end)

    def _tensor(self, pos: int, end: int) -> MessagePieces | None:
        """Leave a large tensor payload in the file."""
        if end - pos < INLINE_BYTES:
            return None
        external = False
        payloads: list[tuple[int, int, int, int]] = []
        """(field, wire type, start, stop)"""
        dropped: list[tuple[int, int]] = []
        entries: list[tuple[int, int]] = []
        """Spans of the payloads, and of the tensor's own external_data."""
        for number, wire, key, start, stop in fields(self.source, pos, end):
            self._tick(1)
            if number in _PAYLOADS:
                payloads.append((number, wire, start, stop))
                dropped.append((key, stop))
            elif number == 13:
                entries.append((key, stop))
            elif number == 14 and wire == 0:
                self.source.need(start, 10)
                # Parsers keep 32 bits of it.
                external = varint(self.source.buf, start - self.source.base)[0] & 0xFFFFFFFF == 1
        size = sum(stop - start for _, _, start, stop in payloads)
        if size < INLINE_BYTES:
            return None
        if not external:  # what the file says about external data then has no meaning
            dropped = sorted(dropped + entries)
        out = MessagePieces()
        copied = pos
        for start, stop in dropped:
            out.span(copied, start)
            copied = stop
        out.span(copied, end)
        self.counts.moved += 1
        self.counts.moved_bytes += size
        if not external:
            out.moved(self._reference(payloads, size))
        return out

    def _reference(self, payloads: list[tuple[int, int, int, int]], size: int) -> PayloadReference:
        """Describe a payload: a contiguous one by position, a fragmented one only by size and count."""
        field, wire, start, stop = max(payloads, key=lambda p: p[3] - p[2])
        contiguous = len(payloads) == 1 and wire == BYTES
        if field == _RAW:
            return PayloadReference(self._location, field, start, stop - start, None)
        if field == _STRINGS:
            count: int | None = len(payloads)
        elif field in _FIXED_ITEM:
            count = size // _FIXED_ITEM[field]
        else:
            count = None if wire == BYTES else len(payloads)
        return PayloadReference(self._location, field, start if contiguous else None, size, count)

    def _value_info(self, pos: int, end: int) -> None:
        for number, wire, _, start, stop in fields(self.source, pos, end):
            self._tick(1)
            if number == 2 and wire == BYTES and stop - start >= _TYPE_BYTES:
                self._type(start, stop)

    def _type(self, pos: int, end: int) -> None:
        """Check the nesting depth of a type (sequence of map of …), without recursion."""
        pending = [(pos, end, 1)]
        while pending:
            pos, end, depth = pending.pop()
            if depth > self.limits.depth:
                raise self._limit("depth", depth, "nested types")
            for number, wire, _, start, stop in fields(self.source, pos, end):
                self._tick(1)
                if wire != BYTES or number not in _NESTED or stop - start < 2:
                    continue
                for inner, inner_wire, _, a, b in fields(self.source, start, stop):
                    self._tick(1)
                    if inner_wire == BYTES and inner == _NESTED[number]:
                        pending.append((a, b, depth + 1))

    def _tick(self, count: int) -> None:
        self.counts.messages += count
        if self.counts.messages > self.limits.messages:
            raise self._limit("messages", self.counts.messages, "fields")

    def _limit(self, which: str, value: int, noun: str) -> LimitError:
        limit = getattr(self.limits, which)
        name = self._location.decode("utf-8", "backslashreplace")
        return LimitError(
            which,
            value,
            limit,
            f"{name}: more than {limit:,} {noun}.",
            "Raise the limit if you trust the file.",
        )


class _SingleFields:
    """Tensors of which a message has one. Parsers merge further ones: one could replace a moved payload."""

    __slots__ = ("_moved", "_seen")

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._moved: set[int] = set()

    def add(self, number: int, key: int, new: MessagePieces | None) -> None:
        """Add a field. Raises: WireError: it occurs twice, and one of them was rewritten."""
        if new is not None:
            self._moved.add(number)
        if number in self._seen and number in self._moved:
            raise WireError(key, f"field {number}, a tensor, occurs twice")
        self._seen.add(number)


def _splice(
    out: MessagePieces | None, copied: int, number: int, key: int, stop: int, new: MessagePieces | None
) -> tuple[MessagePieces | None, int]:
    """Replace [key, stop) by a rewritten child; return (rewritten message so far, copied up to)."""
    if new is None:
        return out, copied
    if out is None:
        out = MessagePieces()
    out.span(copied, key)
    out.message(number, new)
    return out, stop


def _close(out: MessagePieces | None, copied: int, end: int) -> MessagePieces | None:
    if out is not None:
        out.span(copied, end)
    return out
