"""What server and child say to each other: framed messages over one byte stream.

A frame is one byte of kind, a big-endian uint32 length and that many bytes. An answer begins with
``BEGIN`` and the number of its request. Bodies (payload, report, details) cross as many ``CHUNK`` frames of
at most ``CHUNK_BYTES``, so that the server never copies or decodes anything large. The child is not
trusted: lengths are bounded and every control frame is decoded into its type.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from py_autodoc.jobs.file_stamps import Companion, Stamp
from py_autodoc.limits import Limits

HEADER = struct.Struct("!cI")
NUMBER = struct.Struct("!I")
"""Of a request."""
CHUNK_BYTES = 1 << 18
MAX_REQUEST_BYTES = 1 << 22
"""Longest frame to a child: what a client may send (1 MiB), written another way."""

# server → child
ANALYSE = b"A"
RENDER = b"R"
STOP = b"X"
"""Nobody waits for the request of this number; it is answered all the same, mostly by a problem."""
# child → server
PROGRESS = b"P"
SUMMARY = b"S"
BEGIN = b"B"
"""The answer to the request of this number follows, in one piece."""
CHUNK = b"C"
END = b"E"
PROBLEM = b"F"
LOG = b"L"


class AnalysisSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What to analyse, how, and within which limits."""

    path: str
    stamp: Stamp
    bindings: dict[str, int] = {}
    input_shapes: dict[str, list[int]] = {}
    assume: bool = False
    thresholds: dict[str, Any] | None = None
    """What a threshold file holds, not checked."""
    thresholds_file: Companion | None = None
    """A threshold file by its path, instead of ``thresholds``."""
    read_weights: bool = False
    limits: Limits


class JobProgress(msgspec.Struct, frozen=True, array_like=True):
    """How far the analysis is."""

    phase: str
    done: int
    total: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The analysis is there; bodies can be asked for."""

    identity: str
    companions: list[Companion]


class BodyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Ask for a body: what a ``WorkerSession`` of the child makes, by its name."""

    what: str
    number: int = 0
    """Which answer is which; the sender of the request counts."""
    node: int = -1
    tensor: int = -1
    """Of ``weights``: a tensor's id, or -1 and a name."""
    name: str = ""
    graph: str | None = None
    """The body that has it; None where its name tells enough."""
    format: str = ""
    """Of ``file``; of ``weights``: ``npy`` for all values, empty for what the viewer shows of them."""
    metric: str = ""
    """Of ``file``: the number that it shows."""
    ranges: list[tuple[int, int]] = []
    """Of ``extract``: first and last ids of nodes that follow each other."""
    device: str = ""
    """Of ``serving``: the id of a packaged profile."""
    precision: str = ""
    runtime: str = ""
    other: AnalysisSpec | None = None
    """Of ``comparison``: the model to align with."""

    @property
    def bulky(self) -> bool:
        """True where the answer is mostly weights: it does not shrink, and it is not kept."""
        return self.what == "extract" or (self.what == "weights" and bool(self.format))


SLOW = frozenset({"weights", "extract"})
"""Requests that read weights. Between two pieces the child answers others."""


def ranges_of(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Ids as ranges, ascending; each once."""
    found: list[tuple[int, int]] = []
    for one in sorted(set(ids)):
        if found and found[-1][1] == one - 1:
            found[-1] = (found[-1][0], one)
        else:
            found.append((one, one))
    return found


class JobEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The body is complete.

    ``size`` counts the bytes that were sent, ``raw_size`` those before ``gzip``; ``digest`` identifies
    the content.
    """

    size: int
    raw_size: int
    gzip: bool
    digest: str


class BrokenStream(Exception):
    """The other side closed the stream or does not speak this protocol."""


def pack(kind: bytes, payload: bytes = b"") -> bytes:
    """One frame."""
    return HEADER.pack(kind, len(payload)) + payload


def encode(kind: bytes, message: msgspec.Struct) -> bytes:
    """One frame that carries a message."""
    return pack(kind, msgspec.json.encode(message))


def unpack_header(header: bytes, most: int = CHUNK_BYTES) -> tuple[bytes, int]:
    """Kind and length. Raises ``BrokenStream`` when the length is not one the other side would send."""
    kind, length = HEADER.unpack(header)
    if length > most:
        raise BrokenStream
    return kind, length


def chunks(body: bytes) -> Iterator[memoryview]:
    """``body`` in pieces that fit a frame."""
    view = memoryview(body)
    for start in range(0, len(view), CHUNK_BYTES):
        yield view[start : start + CHUNK_BYTES]


def read_exactly(descriptor: int, size: int) -> bytes:
    """``size`` bytes from a blocking descriptor. Raises ``BrokenStream`` at its end."""
    parts: list[bytes] = []
    while size:
        part = os.read(descriptor, size)
        if not part:
            raise BrokenStream
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_frame(descriptor: int) -> tuple[bytes, bytes]:
    """The next request from a blocking descriptor: kind and payload."""
    kind, length = unpack_header(read_exactly(descriptor, HEADER.size), MAX_REQUEST_BYTES)
    return kind, read_exactly(descriptor, length)


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """All of ``data`` to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
