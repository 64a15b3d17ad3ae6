"""Child processes of tasks, as forks of one process that has imported what they need."""

from __future__ import annotations

import os
import socket
import subprocess
from typing import BinaryIO

from forked_interpreter import STATUS, ForkedInterpreter

# Without ONNX Runtime: forks of a process that has imported it hang when they exit.
IMPORTS = (
    "py_autodoc.jobs.problems",
    "py_autodoc.tasks.kinds",
    "py_autodoc.tasks.protocol",
    "py_autodoc.report.pipeline.analysis",
    "py_autodoc.runner",
    "py_autodoc.quantize",
    "py_autodoc.sensitivity",
    "py_autodoc.verify",
)


class ForkedTask:
    """The part of ``subprocess.Popen`` that ``TaskProcess`` uses."""

    def __init__(self, pid: int, channel: socket.socket, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self.returncode: int | None = None
        self._channel = channel

    def wait(self, timeout: float) -> int:
        if self.returncode is None:
            self._channel.settimeout(timeout)
            try:
                _, self.returncode = STATUS.unpack(self._channel.recv(STATUS.size, socket.MSG_WAITALL))
            except TimeoutError:
                raise subprocess.TimeoutExpired("task", timeout) from None
            self._channel.close()
        return self.returncode


def start(interpreter: ForkedInterpreter) -> ForkedTask:
    """Start the process of a task."""
    request, order = os.pipe()
    said, frames = os.pipe()
    errors = os.open(os.devnull, os.O_WRONLY)
    channel = interpreter.start(
        "py_autodoc.tasks.child", stdin=request, stdout=frames, stderr=errors, session=True
    )
    for one in (request, frames, errors):
        os.close(one)
    pid, _ = STATUS.unpack(channel.recv(STATUS.size, socket.MSG_WAITALL))
    return ForkedTask(pid, channel, os.fdopen(order, "wb", 0), os.fdopen(said, "rb", 0))
