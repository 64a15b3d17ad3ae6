"""Reading HDF5 in a fork of the process that fuzzes: 5 ms instead of the 130 ms of an interpreter."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import IO

from py_autodoc import process_limits
from py_autodoc.keras import hdf_child, hdf_reader


def forked(file: IO[bytes], name: str, size: int) -> hdf_reader.HdfReader:
    """As ``hdf_reader.in_process``, except that the interpreter is there already."""
    source, asking = os.pipe()
    answering, sink = os.pipe()
    file.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            os.close(asking)
            os.close(answering)
            memory, seconds = hdf_reader.limits(size)
            process_limits.limit_process(memory, seconds)
            with os.fdopen(source, "rb") as requests, os.fdopen(sink, "wb") as answers:
                hdf_child.serve(os.fdopen(os.dup(file.fileno()), "rb"), requests, answers, name, size)
            status = 0
        finally:
            os._exit(status)
    os.close(source)
    os.close(sink)
    requests, answers = os.fdopen(asking, "wb"), os.fdopen(answering, "rb")
    ended: list[int] = []

    def end(patience: float) -> int | None:
        for stream in (requests, answers):
            with contextlib.suppress(OSError):
                stream.close()
        until = time.monotonic() + patience
        while not ended:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                ended.append(os.waitstatus_to_exitcode(status))
            elif time.monotonic() >= until:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                ended.append(0)
            else:
                time.sleep(0.001)
        return ended[0]

    return hdf_reader.HdfReader(name, requests, answers, end)


@contextlib.contextmanager
def forking() -> Iterator[None]:
    """Within it files of HDF5 are read by forks."""
    if find_spec("h5py") is None or sys.platform == "win32":
        yield
        return
    import h5py  # noqa: F401 - so that no fork pays for it

    before = hdf_reader.in_process
    hdf_reader.in_process = forked
    try:
        yield
    finally:
        hdf_reader.in_process = before
