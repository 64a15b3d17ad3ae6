"""Read HDF5 in another process, so that a crash or hang becomes a one-line error.

The process (``hdf_child``) has the open file and limits of memory and CPU time, and nothing else. Weights are
transferred in pieces into the requested array. Its answers are validated like the content of a file.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from py_autodoc import children
from py_autodoc.errors import AnalysisError, InputError, LimitError
from py_autodoc.keras import hdf_child as child
from py_autodoc.keras.conversion_errors import broken
from py_autodoc.keras.safe_hdf5 import MAX_ATTRIBUTE, h5py_missing, is_numeric, most_weights

_MEMORY, _SECONDS = 2 << 30, 4.0
"""Limits without the part that grows with the file: address space (mostly mapped libraries), CPU seconds."""
_BYTES_A_SECOND = 2 << 20
"""Packed bytes per second of CPU time; unpacking is about a hundred times faster."""
EXIT_S = 5.0


@dataclass(frozen=True, slots=True)
class RawDataset:
    """A weight in the file, not read yet."""

    reader: HdfReader
    path: tuple[str, ...]
    name: str
    """Name in the file."""
    shape: tuple[int, ...]
    nbytes: int
    dtype: np.dtype[Any]

    @property
    def kind(self) -> str:
        """Type in the file."""
        return str(self.dtype)

    def read(self) -> npt.NDArray[Any]:
        """Return its values. Raises: InputError."""
        values = np.empty(self.shape, self.dtype)
        self.reader.fill(values.reshape(-1).view(np.uint8).data, self.path, self.name)
        return values


@dataclass(frozen=True, slots=True)
class RawGroup:
    """A group of a file, identified by its path."""

    reader: HdfReader
    path: tuple[str, ...] = ()

    def names(self) -> list[str]:
        """Return the names of its members."""
        return [str(name) for name in self.reader.query("names", self.path) or ()]

    def group(self, name: str) -> RawGroup | None:
        """Return the group of this name; None if there is none."""
        return (
            RawGroup(self.reader, (*self.path, name)) if self.reader.query("group", self.path, name) else None
        )

    def dataset(self, name: str) -> RawDataset | None:
        """Return the dataset of this name, which may be a path of hard links; None if there is none.

        Raises:
            InputError: it is not stored in this file, or needs a plug-in.
            LimitError: it declares more data than the file can hold.
        """
        answer = self.reader.query("dataset", self.path, name)
        if answer is None:
            return None
        shape, nbytes, kind = tuple(int(size) for size in answer[0]), int(answer[1]), np.dtype(str(answer[2]))
        if (
            not is_numeric(kind)
            or any(size < 0 for size in shape)
            or nbytes != math.prod(shape) * kind.itemsize
        ):
            raise broken(self.reader.name, f"{name} has no plausible size.")
        return RawDataset(self.reader, self.path, name, shape, nbytes, kind)

    def attribute(self, name: str) -> str | None:
        """Return an attribute as text; None if there is none. Raises: InputError, LimitError."""
        value = self.reader.query("attribute", self.path, name)
        return None if value is None else str(value)

    def texts(self, name: str) -> list[str] | None:
        """Return an attribute with a list of names; None if there is none. Raises: InputError, LimitError."""
        texts = self.reader.query("texts", self.path, name)
        return None if texts is None else [str(text) for text in texts]


class HdfReader:
    """The connection to the process."""

    def __init__(
        self, name: str, requests: IO[bytes], answers: IO[bytes], end: Callable[[float], int | None]
    ) -> None:
        self.name = name
        self._requests = requests
        self._answers = answers
        self.end = end
        """Wait up to the given seconds for the end of the process, then kill it.

        Returns the exit code, negative for a signal; None if it was killed.
        """
        self._up = False

    def query(self, operation: str, path: tuple[str, ...], name: str = "") -> Any:
        """Return an answer. Raises: InputError, LimitError, RequirementError, AnalysisError."""
        self._request(operation, path, name)
        kind, length = self._frame()
        if kind != child.ANSWER:
            raise self._exited()
        return json.loads(self._bytes(length))

    def fill(self, values: memoryview, path: tuple[str, ...], name: str) -> None:
        """Read the values of a weight. Raises: as ``query``, and InputError for a wrong number of bytes."""
        self._request("read", path, name)
        filled = 0
        while True:
            kind, length = self._frame()
            if kind != child.PIECE:
                break
            if filled + length > len(values):
                raise broken(self.name, f"{name} has more values than it says.")
            self._into(values[filled : filled + length])
            filled += length
        self._bytes(length)
        if filled != len(values):
            raise broken(self.name, f"{name} has fewer values than it says.")

    def _request(self, operation: str, path: tuple[str, ...], name: str) -> None:
        if not self._up:
            kind, _ = self._frame()
            if kind == child.MISSING:
                raise h5py_missing()
            self._up = True
        with contextlib.suppress(OSError):  # The reason for a broken pipe is found when the answer is read.
            self._requests.write(json.dumps([operation, path, name]).encode() + b"\n")
            self._requests.flush()

    def _frame(self) -> tuple[bytes, int]:
        """Return the kind and length of the next frame; raise the error of an error frame."""
        kind, length = child.FRAME.unpack(self._bytes(child.FRAME.size))
        # Text from the file becomes at most six times as long in JSON.
        if length > (child.PIECE_BYTES if kind == child.READY else 8 * MAX_ATTRIBUTE):
            raise self._exited()
        if kind == child.BROKEN:
            message, hint = json.loads(self._bytes(length))
            raise InputError("keras-file", str(message), str(hint))
        if kind == child.LIMIT:
            which, value, limit, message = json.loads(self._bytes(length))
            raise LimitError(str(which), int(value), int(limit), str(message))
        if kind == child.MEMORY:
            raise self._out_of("memory_bytes", "memory")
        if kind == child.FAULT:
            reason = f"because of an internal error ({json.loads(self._bytes(length))})"
            raise AnalysisError("hdf5-reader", f"{self.name}: reading HDF5 failed {reason}.")
        return kind, length

    def _bytes(self, length: int) -> bytes:
        data = bytearray(length)
        self._into(memoryview(data))
        return bytes(data)

    def _into(self, view: memoryview) -> None:
        filled = 0
        while filled < len(view):
            count = self._answers.readinto(view[filled:])  # type: ignore[attr-defined]
            if not count:
                raise self._exited()
            filled += count

    def _exited(self) -> Exception:
        """Return the error for a process that ended or sent an invalid answer."""
        status = self.end(EXIT_S)
        if not self._up:
            return AnalysisError("hdf5-reader", f"{self.name}: the process that reads HDF5 did not start.")
        if status == -getattr(signal, "SIGXCPU", 24):
            return self._out_of("seconds", "time")
        if status == -getattr(signal, "SIGKILL", 9):
            return self._out_of("memory_bytes", "memory")
        signal_name = f" ({signal.Signals(-status).name})" if status is not None and status < 0 else ""
        return broken(self.name, f"is damaged: the HDF5 library failed while it read the file{signal_name}.")

    def _out_of(self, which: str, resource: str) -> LimitError:
        return LimitError(
            which, 0, 0, f"{self.name}: reading it takes more {resource} than its size justifies."
        )


def need_h5py() -> None:
    """Raise a RequirementError if h5py is not installed."""
    if find_spec("h5py") is None:
        raise h5py_missing()


@contextlib.contextmanager
def opened(file: IO[bytes], name: str, size: int) -> Iterator[RawGroup]:
    """Yield the root of an open file of ``size`` bytes; it is valid only in the ``with`` block.

    Raises:
        RequirementError: h5py is missing.
    """
    start = in_thread if sys.platform == "win32" else in_process
    reader = start(file, name, size)
    try:
        yield RawGroup(reader)
    finally:
        reader.end(0.0)


def in_process(file: IO[bytes], name: str, size: int) -> HdfReader:
    """Return a reader with its own process."""
    file.flush()
    memory, seconds = limits(size)
    code = (
        "from py_autodoc.keras.hdf_child import main; "
        f"main({file.fileno()}, {name!a}, {size}, {memory}, {seconds})"
    )
    process = children.popen(
        children.command(code),
        pass_fds=(file.fileno(),),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    requests, answers = process.stdin, process.stdout
    assert requests is not None
    assert answers is not None

    def end(timeout_s: float) -> int | None:
        for stream in (requests, answers):
            with contextlib.suppress(OSError):
                stream.close()
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None

    return HdfReader(name, requests, answers, end)


def in_thread(file: IO[bytes], name: str, size: int) -> HdfReader:
    """Return a reader without a process, for Windows, where a child cannot inherit an open file.

    A crash of libhdf5 then ends the calling process.
    """
    source, asking = os.pipe()
    answering, sink = os.pipe()
    requests, answers = os.fdopen(asking, "wb"), os.fdopen(answering, "rb")

    def work() -> None:
        with os.fdopen(source, "rb") as requests, os.fdopen(sink, "wb") as answers:
            child.serve(file, requests, answers, name, size)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def end(timeout_s: float) -> int | None:
        for stream in (requests, answers):
            with contextlib.suppress(OSError):
                stream.close()
        thread.join(max(timeout_s, EXIT_S))
        return None

    return HdfReader(name, requests, answers, end)


def limits(size: int) -> tuple[int, float]:
    """Return the limits for a file of ``size`` bytes: memory in bytes, CPU time in seconds."""
    return _MEMORY + 2 * most_weights(size), _SECONDS + size / _BYTES_A_SECOND
