"""Reads the weights of a model on request, the only part of the library that reads them all.

Every dense tensor with data is read once, in pieces; at most about 64 MB are in memory. Data come from the
model file (at the positions recorded while loading) and from external files that ``external_data`` accepts:
regular files inside the model's folder, links resolved. A tensor that cannot be read becomes a
diagnostic, never an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import onnx

from py_autodoc.graph.building.node_protos import graph_protos
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.model import Diagnostic, Model
from py_autodoc.graph.loading.external_data import RANGE, invalid_range, location_hint
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.protobuf.tensor_protos import (
    BITS,
    MAX_ELEMENTS,
    element_count,
    external_entries,
    payload_reference,
    stored_bytes,
)
from py_autodoc.graph.tensor_data.tensor_bytes import ByteRange, TensorFiles, UnreadableTensor
from py_autodoc.graph.tensor_data.tensor_decoding import TYPED, narrow, readable, varints
from py_autodoc.graph.tensor_data.weight_stats import CHUNK_ELEMENTS, StatsAccumulator, TensorFacts

_T = onnx.TensorProto
Progress = Callable[[int, int], None]
"""Called with (bytes done, total bytes). An exception it raises aborts the reading."""
_STEPS = 200
"""Maximum number of progress calls."""


def read_weights(
    loaded: LoadedModel, model: Model, source: str | bytes, progress: Progress | None = None
) -> tuple[tuple[TensorFacts, ...], tuple[Diagnostic, ...]]:
    """Return facts of every dense initializer and Constant tensor, by id, and diagnostics for skipped ones.

    ``source`` is the path or the bytes that ``loaded`` was created from. Text, sparse tensors and plain
    Constant attributes (``value_float`` …) are not weights and are skipped without a diagnostic.
    """
    notes = DiagnosticCollector()
    tensors = list(_tensors(loaded, model))
    facts: list[TensorFacts] = []
    sizes = [_stored(proto) for _, proto in tensors]
    meter = _ReadProgress(sum(sizes), progress)
    with TensorFiles(source, loaded.facts.bytes) as files:
        reader = _WeightReader(files, meter)
        for (number, proto), size in zip(tensors, sizes, strict=True):
            try:
                facts.append(reader.read(number, proto))
            except UnreadableTensor as why:
                notes.add("weights-unread", f"Its values were not read: {why}.", proto.name, tensor=number)
            meter.end(size)
    return tuple(facts), tuple(notes.diagnostics())


def _stored(proto: onnx.TensorProto) -> int:
    """Return the bytes of a tensor, 0 if unknown."""
    elements = element_count(tuple(proto.dims))
    return 0 if elements is None else stored_bytes(proto.data_type, elements) or 0


class _ReadProgress:
    """Reports progress in ``_STEPS`` steps, also within a tensor."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress = total, progress
        self._past = self._within = self._next = 0
        self.add(0)

    def add(self, count: int) -> None:
        """Add bytes of the current tensor."""
        self._within += count
        read = min(self._past + self._within, self._total)
        if self._progress is not None and read >= self._next:
            self._next = read + self._total // _STEPS + 1
            self._progress(read, self._total)

    def end(self, size: int) -> None:
        """Complete a tensor of ``size`` bytes, whether it could be read or not."""
        self._past, self._within = self._past + size, 0
        self.add(0)


def _tensors(loaded: LoadedModel, model: Model) -> Iterator[tuple[int, onnx.TensorProto]]:
    """Yield (tensor id, protobuf) of every dense constant except text."""
    for graph, proto in graph_protos(loaded, model):
        for number, tensor_proto in zip(graph.initializers, proto.initializer, strict=False):
            if tensor_proto.data_type != _T.STRING:
                yield number, tensor_proto
        for number in graph.nodes:
            node = model.nodes[number]
            if node.op_type != "Constant" or node.domain or not node.outputs or node.outputs[0] < 0:
                continue
            for attribute in proto.node[number - graph.first].attribute:
                if (
                    attribute.name == "value"
                    and attribute.HasField("t")
                    and attribute.t.data_type != _T.STRING
                ):
                    yield node.outputs[0], attribute.t
                    break


@dataclass(frozen=True, slots=True)
class TensorContent:
    """The content of a dense tensor before reading. ``size`` is the stored bytes by type and shape."""

    dtype: int
    elements: int
    size: int
    pieces: Callable[[], Iterator[bytes]]
    """Yields the stored bytes from the start, in the form of raw data; each call reads again."""
    key: tuple[object, ...] | None = None
    """Equal for tensors over the same bytes; None for tensors in the structure."""


def content_of(proto: onnx.TensorProto, files: TensorFiles) -> TensorContent:
    """Locate the numbers of a dense tensor. Raises: UnreadableTensor, also for text."""
    dtype, dims = proto.data_type, tuple(proto.dims)
    elements = element_count(dims)
    if elements is None or elements > MAX_ELEMENTS:
        raise UnreadableTensor("its shape is impossible")
    size = stored_bytes(dtype, elements)
    if size is None or not readable(dtype):
        raise UnreadableTensor("its element type cannot be decoded")
    if proto.data_location != _T.EXTERNAL:
        return TensorContent(dtype, elements, size, lambda: _inline(proto))
    field, byte_range = _payload_range(proto, size)
    if field == "raw_data" and byte_range.length != size:
        raise UnreadableTensor(f"it needs {size:,} bytes, {byte_range.length:,} are there")

    def pieces() -> Iterator[bytes]:
        stored = files.pieces(byte_range)
        return stored if field == "raw_data" else _typed(field, dtype, stored)

    return TensorContent(dtype, elements, size, pieces, (field, byte_range, dtype, elements))


def chunks(content: TensorContent) -> Iterator[tuple[bytes, int]]:
    """Yield (stored bytes, elements) in chunks, all of full size except the last.

    Raises: UnreadableTensor, also at the end if the number of bytes does not match the shape.
    """
    chunk_bytes = CHUNK_ELEMENTS * BITS[content.dtype] // 8
    remaining, size, buffer = content.elements, content.size, bytearray()
    try:
        for piece in content.pieces():
            size -= len(piece)
            if size < 0:
                raise UnreadableTensor("there are more values than its shape says")
            buffer += piece
            while len(buffer) >= chunk_bytes and remaining > CHUNK_ELEMENTS:
                yield bytes(buffer[:chunk_bytes]), CHUNK_ELEMENTS
                del buffer[:chunk_bytes]
                remaining -= CHUNK_ELEMENTS
    except ValueError as fault:
        raise UnreadableTensor(str(fault)) from None
    if size:
        raise UnreadableTensor("there are fewer values than its shape says")
    yield bytes(buffer), remaining


class _WeightReader:
    """Reads tensors; tensors that share a range are read once."""

    def __init__(self, files: TensorFiles, meter: _ReadProgress) -> None:
        self.files = files
        self.meter = meter
        self.facts: dict[tuple[object, ...], TensorFacts] = {}

    def read(self, number: int, proto: onnx.TensorProto) -> TensorFacts:
        """Return the facts of a tensor. Raises: UnreadableTensor."""
        content = content_of(proto, self.files)
        facts = None if content.key is None else self.facts.get(content.key)
        if facts is None:
            stats = StatsAccumulator(content.dtype)
            for data, elements in chunks(content):
                stats.add(data, elements)
                self.meter.add(len(data))
            facts = stats.result(number)
            if content.key is not None:
                self.facts[content.key] = facts
        return replace(facts, tensor=number)


def _inline(proto: onnx.TensorProto) -> Iterator[bytes]:
    """Yield the stored bytes of a tensor kept in the structure (less than 4 KiB)."""
    if proto.HasField("raw_data"):
        yield proto.raw_data
        return
    for field, units in TYPED.items():
        numbers = getattr(proto, field)
        if len(numbers):
            unit = units.get(proto.data_type)
            if unit is None:
                raise UnreadableTensor(f"{field} cannot hold its element type")
            kind = {"float_data": np.float32, "double_data": np.float64, "uint64_data": np.uint64}
            values = np.asarray(numbers, kind.get(field, np.int64))
            yield narrow(values.view(np.int64) if field == "uint64_data" else values, unit)


def _typed(field: str, dtype: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a packed typed field as the bytes of raw data."""
    unit = TYPED.get(field, {}).get(dtype)
    if unit is None:
        raise UnreadableTensor(f"{field} cannot hold its element type")
    if field in ("float_data", "double_data"):  # already in the form of raw data
        return pieces
    return (narrow(values, unit) for values in varints(pieces))


def _payload_range(proto: onnx.TensorProto, size: int) -> tuple[str, ByteRange]:
    """Return (TensorProto field, range) of a payload outside the structure. Raises: UnreadableTensor."""
    entries = external_entries(proto)
    moved, _ = payload_reference(entries)
    if moved:
        if "offset" not in entries:
            raise UnreadableTensor("its data are in several pieces")
        return moved, ByteRange("", int(entries["offset"]), int(entries.get("length", size)))
    fault = invalid_range(entries)
    if fault:
        raise UnreadableTensor(fault, RANGE, location_hint(RANGE, ""))
    start, length = int(entries.get("offset", 0)), int(entries.get("length", size))
    location = entries.get("location", "")
    if not location:
        raise UnreadableTensor("it has external data without a location")
    return "raw_data", ByteRange(location, start, length)
