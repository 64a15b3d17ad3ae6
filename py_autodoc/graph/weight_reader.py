"""Reads the weights of a model, when somebody asks for it. Nothing else in the library does.

Every dense tensor with data is read once, in pieces, whatever its size: at most about 64 MB are in
memory. Data come from the model file itself (at the places that loading recorded) and from external
files that ``external`` would accept: regular files inside the model's folder, links resolved.
What cannot be read becomes a diagnostic, never an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
import onnx

from py_autodoc.errors import PathError
from py_autodoc.graph.decode import TYPED, narrow, readable, varints
from py_autodoc.graph.external import Folders
from py_autodoc.graph.load import Loaded
from py_autodoc.graph.model import Diagnostic, Model
from py_autodoc.graph.notes import Notes
from py_autodoc.graph.probe import regular_file
from py_autodoc.graph.raw import graph_protos
from py_autodoc.graph.values import MAX_ELEMENTS, element_count, external_entries, moved_field, stored_bytes
from py_autodoc.graph.weight_stats import CHUNK_ELEMENTS, Stats, TensorFacts

_T = onnx.TensorProto
_PIECE = 1 << 19
"""Bytes read at once. Packed varints take some fifty times as much while they are decoded."""
_OVERREAD = 4
"""A file is read at most so many times over, however many tensors claim to lie in it."""
Progress = Callable[[int, int], None]
"""(tensors done, tensors in all); what it raises ends the reading."""


class Unread(Exception):
    """Why a tensor is left out."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A stretch of bytes: in a file (``name`` empty: the model itself) or in memory."""

    name: str
    start: int
    length: int


def read_weights(
    loaded: Loaded, model: Model, source: str | bytes, progress: Progress | None = None
) -> tuple[tuple[TensorFacts, ...], tuple[Diagnostic, ...]]:
    """Facts of every dense initializer and Constant tensor, by tensor id; and what was left out and why.

    ``source`` is the path or the bytes that ``loaded`` was made from. Text, sparse tensors and plain
    Constant attributes (``value_float`` …) are not weights and are passed over in silence.
    """
    notes = Notes()
    tensors = list(_tensors(loaded, model))
    facts: list[TensorFacts] = []
    with _Files(source, loaded.facts.bytes) as files:
        reader = _Reader(files)
        for done, (number, proto) in enumerate(tensors):
            if progress is not None and not done % 64:
                progress(done, len(tensors))
            try:
                facts.append(reader.read(number, proto))
            except Unread as why:
                notes.add("weights-unread", f"Its values were not read: {why}.", proto.name, tensor=number)
    return tuple(facts), tuple(notes.done())


def _tensors(loaded: Loaded, model: Model) -> Iterator[tuple[int, onnx.TensorProto]]:
    """(tensor id, protobuf) of every dense constant but text."""
    for graph, proto in graph_protos(loaded, model):
        for number, held in zip(graph.initializers, proto.initializer, strict=False):
            if held.data_type != _T.STRING:
                yield number, held
        first = min(graph.nodes, default=0)
        for number in graph.nodes:
            node = model.nodes[number]
            if node.op_type != "Constant" or node.domain or not node.outputs or node.outputs[0] < 0:
                continue
            for attribute in proto.node[number - first].attribute:
                if (
                    attribute.name == "value"
                    and attribute.HasField("t")
                    and attribute.t.data_type != _T.STRING
                ):
                    yield node.outputs[0], attribute.t
                    break


class _Reader:
    """Reads tensors; those that share one region are read once."""

    def __init__(self, files: _Files) -> None:
        self.files = files
        self.known: dict[tuple[object, ...], TensorFacts] = {}

    def read(self, number: int, proto: onnx.TensorProto) -> TensorFacts:
        """The facts of one tensor. Raises: Unread."""
        dtype, dims = proto.data_type, tuple(proto.dims)
        elements = element_count(dims)
        if elements is None or elements > MAX_ELEMENTS:
            raise Unread("its shape is impossible")
        size = stored_bytes(dtype, elements)
        if size is None or not readable(dtype):
            raise Unread("its element type cannot be decoded")
        if proto.data_location != _T.EXTERNAL:
            return self._stats(number, dtype, elements, size, _inline(proto))
        field, place = _place(proto, size)
        if field == "raw_data" and place.length != size:
            raise Unread(f"it needs {size:,} bytes, {place.length:,} are there")
        key = (field, place, dtype, elements)
        known = self.known.get(key)
        if known is None:
            pieces = self.files.pieces(place)
            if field != "raw_data":
                pieces = _typed(field, dtype, pieces)
            known = self.known[key] = self._stats(number, dtype, elements, size, pieces)
        return replace(known, tensor=number)

    def _stats(
        self, number: int, dtype: int, elements: int, size: int, pieces: Iterator[bytes]
    ) -> TensorFacts:
        stats = Stats(dtype)
        left, held = elements, bytearray()
        try:
            for piece in pieces:
                size -= len(piece)
                if size < 0:
                    raise Unread("there are more values than its shape says")
                held += piece
                while len(held) >= stats.chunk_bytes and left > CHUNK_ELEMENTS:
                    stats.add(bytes(held[: stats.chunk_bytes]), CHUNK_ELEMENTS)
                    del held[: stats.chunk_bytes]
                    left -= CHUNK_ELEMENTS
        except ValueError as fault:
            raise Unread(str(fault)) from None
        if size:
            raise Unread("there are fewer values than its shape says")
        stats.add(bytes(held), left)
        return stats.done(number)


def _inline(proto: onnx.TensorProto) -> Iterator[bytes]:
    """The stored bytes of a tensor that stayed in the structure (less than 4 KiB)."""
    if proto.HasField("raw_data"):
        yield proto.raw_data
        return
    for field, units in TYPED.items():
        held = getattr(proto, field)
        if len(held):
            unit = units.get(proto.data_type)
            if unit is None:
                raise Unread(f"{field} cannot hold its element type")
            kind = {"float_data": np.float32, "double_data": np.float64, "uint64_data": np.uint64}
            values = np.asarray(held, kind.get(field, np.int64))
            yield narrow(values.view(np.int64) if field == "uint64_data" else values, unit)


def _typed(field: str, dtype: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A packed typed field of the file as the bytes that raw data would hold."""
    unit = TYPED.get(field, {}).get(dtype)
    if unit is None:
        raise Unread(f"{field} cannot hold its element type")
    if field in ("float_data", "double_data"):  # packed as they are
        return pieces
    return (narrow(values, unit) for values in varints(pieces))


def _place(proto: onnx.TensorProto, size: int) -> tuple[str, _Place]:
    """(TensorProto field, place) of a payload outside the structure. Raises: Unread."""
    entries = external_entries(proto)
    moved, _ = moved_field(entries)
    try:
        start = int(entries.get("offset", "-1" if moved else "0")[:20])
        length = int(entries.get("length", str(size))[:20])
    except ValueError:
        raise Unread("the offset or length of its data is no number") from None
    if moved:
        if start < 0:
            raise Unread("its data are in several pieces")
        return moved, _Place("", start, length)
    if start < 0 or length < 0:
        raise Unread("the offset or length of its data is negative")
    location = entries.get("location", "")
    if not location:
        raise Unread("it has external data without a location")
    return "raw_data", _Place(location, start, length)


class _Files:
    """The model and the files beside it: each opened once, at most 64 at a time, read by position."""

    _MAX_OPEN = 64

    def __init__(self, source: str | bytes, expected: int) -> None:
        self._path = source if isinstance(source, str) else None
        self._data = source if isinstance(source, bytes) else b""
        self._expected = expected
        self._folders = Folders(source) if isinstance(source, str) else None
        self._open: dict[str, tuple[int, int, ExitStack]] = {}
        self._faults: dict[str, str] = {}
        self._read: dict[str, int] = {}

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *_: object) -> None:
        for _fd, _size, stack in self._open.values():
            stack.close()
        self._open.clear()

    def pieces(self, place: _Place) -> Iterator[bytes]:
        """The bytes of a place, at most ``_PIECE`` at a time. Raises: Unread."""
        if not place.name and self._path is None:
            return self._of_memory(place)
        fd, size = self._descriptor(place.name)
        self._account(place, size)
        return _positional(fd, place)

    def _of_memory(self, place: _Place) -> Iterator[bytes]:
        self._account(place, len(self._data))
        view = memoryview(self._data)[place.start : place.start + place.length]
        return (bytes(view[at : at + _PIECE]) for at in range(0, len(view), _PIECE))

    def _account(self, place: _Place, size: int) -> None:
        """Check a place against its file's size, and how often the file was read already."""
        if place.start + place.length > size:
            raise Unread(f"its data reach to byte {place.start + place.length:,} of {size:,}")
        read = self._read.get(place.name, 0) + place.length
        if read > _OVERREAD * size:
            raise Unread("too many tensors claim the same bytes")
        self._read[place.name] = read

    def _descriptor(self, name: str) -> tuple[int, int]:
        """(descriptor, size) of the model (empty name) or of an external file. Raises: Unread."""
        fault = self._faults.get(name)
        if fault is not None:
            raise Unread(fault)
        held = self._open.get(name)
        if held is None:
            try:
                held = self._opened(name)
            except Unread as why:
                self._faults[name] = str(why)
                raise
            if len(self._open) >= self._MAX_OPEN:
                self._open.pop(next(iter(self._open)))[2].close()
            self._open[name] = held
        return held[:2]

    def _opened(self, name: str) -> tuple[int, int, ExitStack]:
        with ExitStack() as stack:
            try:
                fd, status = stack.enter_context(regular_file(self._checked(name)))
                if name:
                    self._same(name, status)
            except PathError:
                raise Unread("the file with its data cannot be read") from None
            if not name and status.st_size != self._expected:
                raise Unread("the model file changed")
            return fd, status.st_size, stack.pop_all()
        raise AssertionError("unreachable")

    def _checked(self, name: str) -> str:
        """The real path of a file that may be read. Raises: Unread."""
        if not name:
            return self._path or ""
        if self._folders is None:
            raise Unread("its data are in another file, and a model in memory has no folder")
        try:
            real = self._folders.resolve(name)
        except (OSError, ValueError):
            real = None
        if real is None:
            raise Unread("its data lie outside the model's folder")
        if not os.path.lexists(real):
            raise Unread("the file with its data is not there")
        return real

    def _same(self, name: str, opened: os.stat_result) -> None:
        """Refuse what was opened when the place meanwhile leads elsewhere (a link put there in between)."""
        try:
            now = os.stat(self._checked(name), follow_symlinks=False)
        except OSError:
            raise Unread("the file with its data is not there") from None
        if (now.st_dev, now.st_ino) != (opened.st_dev, opened.st_ino):
            raise Unread("the file with its data changed")


def _positional(fd: int, place: _Place) -> Iterator[bytes]:
    at, end = place.start, place.start + place.length
    while at < end:
        data = _pread(fd, min(_PIECE, end - at), at)
        if not data:
            raise Unread("the file became shorter while it was read")
        at += len(data)
        yield data


def _seek_and_read(fd: int, count: int, at: int) -> bytes:
    os.lseek(fd, at, os.SEEK_SET)
    return os.read(fd, count)


_pread = getattr(os, "pread", _seek_and_read)
"""Windows has no positional read; there the descriptor is ours alone and may be moved."""
