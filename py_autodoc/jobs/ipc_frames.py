"""The protocol between the server and its child processes: frames on a byte stream.

A frame has one byte for its kind, its length as big-endian uint32, and a payload of this length. A response
starts with ``BEGIN`` and the number of its request. Bodies (payload, report, details) are sent as ``CHUNK``
frames of at most ``CHUNK_BYTES`` and end with ``END``, so that the server never copies or decodes large data.
The server does not trust the child: lengths are limited, and every control frame is decoded into its type.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import struct
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from py_autodoc.jobs.file_stamps import Companion, Stamp
from py_autodoc.limits import Limits

HEADER = struct.Struct("!cI")
NUMBER = struct.Struct("!I")
"""Number of a request."""
CHUNK_BYTES = 1 << 18
GZIP_FROM_BYTES = 1 << 14
"""Minimum bytes of a body that is compressed."""
GZIP_LEVEL = 1
"""Level 1 reduces a payload to a seventh at 110 MB/s, which takes 1–2 % of the time of an analysis."""
MAX_REQUEST_BYTES = 1 << 22
"""Maximum length of a frame to a child. A client may send 1 MiB, which can grow when encoded again."""

NO_THRESHOLDS: Final = msgspec.Raw(b"null")

# server → child
ANALYSE = b"A"
RENDER = b"R"
STOP = b"X"
"""Cancel the request with this number. The child still responds to it, usually with a problem."""
# child → server
PROGRESS = b"P"
SUMMARY = b"S"
BEGIN = b"B"
"""The response to the request with this number follows, not interleaved with others."""
CHUNK = b"C"
END = b"E"
PROBLEM = b"F"
LOG = b"L"


class AnalysisSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A file to analyse, with options and limits."""

    path: str
    stamp: Stamp
    bindings: dict[str, int] = {}
    input_shapes: dict[str, list[int]] = {}
    assume: bool = False
    thresholds: msgspec.Raw = NO_THRESHOLDS
    """Content of a threshold file, encoded: decoded it takes 25 times the memory. Not validated."""
    thresholds_file: Companion | None = None
    """Path and state of a threshold file, instead of ``thresholds``."""
    read_weights: bool = False
    allow_hidden: bool = True
    """Whether external data may be in hidden files."""
    limits: Limits


class JobProgress(msgspec.Struct, frozen=True, array_like=True):
    """Progress of the analysis."""

    phase: str
    done: int
    total: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The analysis is complete; bodies can be requested."""

    identity: str
    companions: list[Companion]
    has_all_companions: bool = True
    """False if there are too many: results cannot be reused, since changes would not be noticed."""


class BodyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Request for a body. The comments name the kinds that use a field."""

    kind: str
    """Name of the method of ``WorkerSession``: ``graph``, ``report``, ``node`` …"""
    number: int = 0
    """Identifies the response; assigned by the sender."""
    node: int = -1
    """``node``: id of the node."""
    tensor: int = -1
    """``weights``: id of the tensor, or -1 to use ``name``."""
    name: str = ""
    """``weights``: name of the tensor."""
    graph: str | None = None
    """``weights``: the subgraph that contains the tensor; None if its name is unique."""
    format: str = ""
    """``file``: format of the file. ``weights``: ``npy`` for all values, empty for a summary."""
    metric: str = ""
    """``file``: metric that the file shows."""
    target: str = ""
    """``extract``: path of the file that the result replaces, which must not belong to the model."""
    ranges: list[tuple[int, int]] = []
    """``extract``: first and last id of each range of nodes."""
    device: str = ""
    """``serving``: id of a packaged device."""
    precision: str = ""
    """``serving``: precision; empty for the default."""
    runtime: str = ""
    """``serving``: runtime; empty for the default."""
    other: AnalysisSpec | None = None
    """``comparison``: the model to align with."""

    @property
    def bulky(self) -> bool:
        """True if the response consists mostly of weights: it is neither compressed nor cached."""
        return self.kind == "extract" or (self.kind == "weights" and bool(self.format))


INTERRUPTIBLE = frozenset({"weights", "extract"})
"""Kinds of requests that read weights piece by piece. The child handles others in between."""


def to_ranges(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Return the distinct ids as ascending ranges (first, last)."""
    ranges: list[tuple[int, int]] = []
    for number in sorted(set(ids)):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


class JobEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The body is complete."""

    size: int
    """Bytes sent."""
    raw_size: int
    """Bytes before compression."""
    gzip: bool
    digest: str
    """Hash of the uncompressed content."""


class BrokenStream(Exception):
    """The stream was closed, or a message violates the protocol."""


class ClosedStream(BrokenStream):
    """The stream was closed."""


def pack(kind: bytes, payload: bytes = b"") -> bytes:
    """Return a frame."""
    return HEADER.pack(kind, len(payload)) + payload


def encode(kind: bytes, message: msgspec.Struct) -> bytes:
    """Return a frame with a message as JSON."""
    return pack(kind, msgspec.json.encode(message))


def unpack_header(header: bytes, max_length: int = CHUNK_BYTES) -> tuple[bytes, int]:
    """Return the kind and length of a frame. Raises: BrokenStream: the length exceeds ``max_length``."""
    kind, length = HEADER.unpack(header)
    if length > max_length:
        raise BrokenStream
    return kind, length


def chunks(body: bytes) -> Iterator[memoryview]:
    """Split a body into chunks that fit into a frame, without copying it."""
    view = memoryview(body)
    for start in range(0, len(view), CHUNK_BYTES):
        yield view[start : start + CHUNK_BYTES]


def body_frames(body: bytes, compressible: bool = True) -> Iterator[bytes | memoryview]:
    """Yield the frames of an encoded body, compressed if that is worth it."""
    compress = compressible and len(body) >= GZIP_FROM_BYTES
    sent = gzip.compress(body, GZIP_LEVEL, mtime=0) if compress else body
    for chunk in chunks(sent):
        yield HEADER.pack(CHUNK, len(chunk))
        yield chunk
    digest = hashlib.sha256(body).hexdigest()[:32]
    yield encode(END, JobEnd(size=len(sent), raw_size=len(body), gzip=compress, digest=digest))


def log_lines(payload: bytes) -> Iterator[str]:
    """Yield the lines of a log message; a traceback can quote control characters, which are escaped."""
    for line in payload.decode("utf-8", "replace").splitlines():
        yield line.encode("unicode_escape").decode("ascii")


def read_exactly(descriptor: int, size: int) -> bytes:
    """Read ``size`` bytes from a blocking descriptor. Raises: BrokenStream: the stream ended."""
    parts: list[bytes] = []
    while size:
        part = os.read(descriptor, size)
        if not part:
            raise ClosedStream
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_frame(descriptor: int, max_length: int = MAX_REQUEST_BYTES) -> tuple[bytes, bytes]:
    """Read the kind and payload of the next frame from a blocking descriptor. Raises: BrokenStream."""
    kind, length = unpack_header(read_exactly(descriptor, HEADER.size), max_length)
    return kind, read_exactly(descriptor, length)


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write all data to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
