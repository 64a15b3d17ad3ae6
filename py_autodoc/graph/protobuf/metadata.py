"""Reads the model metadata without the graph and the weights."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.errors import CorruptModel, LimitError
from py_autodoc.graph.protobuf.probe import PathLike, base_name, probe, regular_file
from py_autodoc.graph.protobuf.protobuf_wire import BYTES, WireError, WireSource, fields
from py_autodoc.limits import LIBRARY, Limits

_GRAPH, _METADATA = 7, 14
_KEY, _VALUE = 1, 2
_LONGEST_KEY = 4096


def model_metadata(path: PathLike, prefix: str = "", limits: Limits = LIBRARY) -> dict[str, str]:
    """Return the entries of a model's ``metadata_props``; of duplicate keys the last.

    The cost does not depend on the file size, since the graph is skipped.

    Args:
        path: the model.
        prefix: read only entries whose key starts with it.
        limits: ``structure_bytes`` bounds the memory used.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: see ``probe``.
    """
    name = base_name(path)
    entries: dict[str, str] = {}
    graph, remaining = False, limits.structure_bytes
    try:
        with regular_file(path) as (fd, status):
            source = WireSource(status.st_size, fd)
            for number, wire, _, start, stop in fields(source, 0, status.st_size):
                graph = graph or (number == _GRAPH and wire == BYTES)
                if number != _METADATA or wire != BYTES:
                    continue
                for key, value_start, value_stop in _entry(source, start, stop, prefix):
                    remaining -= value_stop - value_start
                    if remaining < 0:
                        raise _too_much(name, limits)
                    entries[key] = source.read(value_start, value_stop).decode("utf-8", "replace")
    except WireError as fault:
        probe(path, limits)  # raises a better error if the file is not a model
        raise CorruptModel(f"{name}: {fault}.", "The file is damaged.", fault.offset) from None
    if not graph:
        probe(path, limits)
    return entries


def _entry(source: WireSource, pos: int, end: int, prefix: str) -> Iterator[tuple[str, int, int]]:
    """Yield (key, start and stop of the value) of an entry if its key is wanted."""
    key, value = "", (pos, pos)
    for number, wire, _, start, stop in fields(source, pos, end):
        if number == _KEY and wire == BYTES:
            key = source.read(start, min(stop, start + _LONGEST_KEY)).decode("utf-8", "replace")
        elif number == _VALUE and wire == BYTES:
            value = start, stop
    if key.startswith(prefix):
        yield key, *value


def _too_much(name: str, limits: Limits) -> LimitError:
    limit = limits.structure_bytes
    return LimitError(
        "structure_bytes", limit + 1, limit, f"{name}: its metadata is larger than {limit:,} bytes."
    )
