"""First check of a file: whether it is regular, a model, and within the size limits.

Nothing is parsed: the walk over the wire format reads the structure and skips the weights.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from py_autodoc.errors import CorruptModel, NotAModel, PathError
from py_autodoc.graph.protobuf.file_counts import FileCounts
from py_autodoc.graph.protobuf.file_signatures import FileKind, identify, unknown
from py_autodoc.graph.protobuf.protobuf_wire import TruncatedMessage, WireError, WireSource
from py_autodoc.graph.protobuf.structure_scan import StructureScan
from py_autodoc.limits import LIBRARY, Limits

_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # some platforms lack one of these
    _FLAGS |= getattr(os, _name, 0)

PathLike = str | os.PathLike[str]


def probe(path: PathLike, limits: Limits = LIBRARY) -> FileCounts:
    """Return the counts of a model file, without parsing it or reading its weights.

    Raises:
        PathError: missing, a directory, or not a regular file (never opened then).
        NotAModel: the file has another format; ``kind`` says which.
        CorruptModel: the protobuf is broken at ``offset``.
        LimitError: larger than ``limits`` allows.
    """
    name = base_name(path)
    with regular_file(path) as (fd, status):
        scan = scan_source(WireSource(status.st_size, fd), name, limits)
        scan.counts.bytes_read = scan.source.bytes_read
        return scan.counts


def base_name(path: PathLike) -> str:
    """Return the last component of a path as printable text."""
    return os.path.basename(os.fspath(path)).encode("utf-8", "backslashreplace").decode("utf-8")


@contextmanager
def regular_file(
    path: PathLike, what: str = ".onnx file", kind: str = ""
) -> Iterator[tuple[int, os.stat_result]]:
    """Open a regular file for positional reads; yield (descriptor, status).

    Devices, FIFOs, sockets and directories are rejected before opening and again on the open descriptor, so
    that replacing the file in between has no effect. ``what`` is the file that was wanted, for the hint, and
    ``kind`` what it contains, for the message: "a policy file".
    """
    name = base_name(path)
    try:
        _refuse_irregular(os.stat(path), name, what, kind)
        fd = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise PathError("path-missing", f"{name}: no such file.") from None
    except PermissionError:
        raise PathError("path-denied", f"{name}: no permission to read it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PathError("path-unreadable", f"{name}: {reason}.") from None
    try:
        status = os.fstat(fd)
        _refuse_irregular(status, name, what, kind)
        yield fd, status
    finally:
        os.close(fd)


def _refuse_irregular(status: os.stat_result, name: str, what: str, kind: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        found = f"is a directory, not {kind}" if kind else "is a directory"
        raise PathError("path-not-a-file", f"{name or '.'}: {found}.", f"Pass the {what} in it.")
    if not stat.S_ISREG(status.st_mode):
        reason = f", so it cannot be read as {kind}" if kind else ""
        raise PathError("path-not-regular", f"{name}: is not a regular file{reason}.")


def scan_source(source: WireSource, name: str, limits: Limits) -> StructureScan:
    """Identify and walk a model; raises like ``probe``."""
    source.need(0, 1 << 12)
    head = source.buf[: 1 << 12]
    kind = identify(head, source.size)
    if kind is not None:
        raise not_a_model(name, kind)
    scan = StructureScan(source, limits, name)
    try:
        scan.run()
    except WireError as error:
        raise _broken(name, head, scan, error) from None
    if not scan.counts.has_graph and scan.known_fields < 2:
        raise not_a_model(name, unknown(head))
    return scan


def not_a_model(name: str, kind: FileKind) -> NotAModel:
    """Return the error for a file of another type."""
    return NotAModel(kind.kind, f"{name}: {kind.description}.", kind.hint)


def _broken(name: str, head: bytes, scan: StructureScan, error: WireError) -> NotAModel | CorruptModel:
    """Return the error for a broken protobuf: a damaged model if it starts like one, else an unknown file."""
    zeros = not head.strip(b"\0")
    if not zeros and not scan.known_fields and not _begins_like_a_model(head):
        return not_a_model(name, unknown(head))
    if zeros:
        fault, hint = "begins with zero bytes", "The download or the copy did not finish."
    elif isinstance(error, TruncatedMessage):
        fault = f"truncated at byte {scan.source.size:,} ({error})"
        hint = "The download or the export did not finish."
    else:
        fault, hint = f"broken protobuf: {error}", "The file is damaged or has something appended."
    return CorruptModel(f"{name}: {fault}.", hint, error.offset)


def _begins_like_a_model(head: bytes) -> bool:
    """True if the first field is a plausible ir_version, producer_name or graph."""
    return (head[0] == 8 and len(head) > 1 and 0 < head[1] < 64) or head[0] in (0x12, 0x3A)
