"""The process that reads HDF5, isolated because libhdf5 may crash on a damaged file.

It answers requests of ``hdf_reader`` about one file, one after another. A request is a line of JSON with the
operation, the group path and a name. An answer is one frame, after frames of values: one byte for the kind,
eight for the length, and that many bytes.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import IO, Any

import numpy as np

from py_autodoc import process_limits
from py_autodoc.errors import InputError, LimitError, RequirementError
from py_autodoc.keras.conversion_errors import reading
from py_autodoc.keras.safe_hdf5 import WeightGroup, need_h5py

FRAME = struct.Struct("!cQ")
READY, ANSWER, PIECE, BROKEN, LIMIT, MISSING, MEMORY, FAULT = (b"R", b"A", b"P", b"B", b"L", b"M", b"O", b"F")
PIECE_BYTES = 1 << 24
"""Approximate size of the pieces in which weights are sent."""
_KNOWN_GROUPS = 256


def main(source: int, name: str, size: int, memory_bytes: int, seconds: float) -> None:
    """Serve the file that is open as ``source`` over stdin and stdout until the input ends."""
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answers:
        process_limits.silence()
        process_limits.limit_process(memory_bytes, seconds)
        serve(os.fdopen(source, "rb"), requests, answers, name, size)


def serve(file: IO[bytes], requests: IO[bytes], answers: IO[bytes], name: str, size: int) -> None:
    """Answer requests about ``file``; ``size`` limits the plausible size of its contents."""

    def send(kind: bytes, data: Any = b"") -> None:
        view = memoryview(data).cast("B") if len(data) else b""
        answers.write(FRAME.pack(kind, len(view)))
        answers.write(view)
        answers.flush()

    try:
        h5py = need_h5py()
    except RequirementError:
        send(MISSING)
        return
    send(READY)
    service = _Service(name)
    try:
        for line in requests:
            operation, path, last = json.loads(line)
            try:
                if service.top is None:
                    with reading(name):
                        service.top = WeightGroup(h5py.File(file, "r"), name, size)
                for data in service.answers(operation, tuple(path), last):
                    send(PIECE, data)
                send(ANSWER, json.dumps(service.answer).encode())
            except LimitError as fault:
                send(LIMIT, json.dumps([fault.which, fault.value, fault.limit, fault.message]).encode())
            except InputError as fault:
                send(BROKEN, json.dumps([fault.message, fault.hint]).encode())
            except MemoryError:
                send(MEMORY)
            except BrokenPipeError:
                raise
            except Exception as fault:  # noqa: BLE001 - the parent reports it as our fault, not the file's
                send(FAULT, json.dumps(type(fault).__name__).encode())
    except BrokenPipeError:
        return


class _Service:
    """The operations on a file."""

    def __init__(self, name: str) -> None:
        self.top: WeightGroup | None = None
        self.answer: Any = None
        self._name = name
        self._group: Callable[[tuple[str, ...]], WeightGroup | None] = lru_cache(_KNOWN_GROUPS)(
            self._find_group
        )

    def answers(self, operation: str, path: tuple[str, ...], name: str) -> Iterator[Any]:
        """Set ``said``; for the values of a weight, yield them in pieces."""
        self.answer = None
        group = self._group(path)
        if group is None:
            return
        if operation == "names":
            self.answer = group.names()
        elif operation == "group":
            self.answer = self._group((*path, name)) is not None
        elif operation == "attribute":
            self.answer = group.attribute(name)
        elif operation == "texts":
            self.answer = group.texts(name)
        elif operation == "dataset":
            stored = group.dataset(name)
            self.answer = None if stored is None else [stored.shape, stored.nbytes, stored.type]
        elif operation == "read":
            stored = group.dataset(name)
            if stored is not None:
                for chunk in stored.parts(PIECE_BYTES):
                    yield np.ascontiguousarray(chunk).reshape(-1).view(np.uint8)

    def _find_group(self, path: tuple[str, ...]) -> WeightGroup | None:
        if not path:
            return self.top
        above = self._group(path[:-1])
        return above.group(path[-1]) if above is not None else None
