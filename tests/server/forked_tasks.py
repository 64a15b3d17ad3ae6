"""Child processes of tasks, as forks of one process that has imported what they need."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

from forked_interpreter import STATUS, ForkedInterpreter

# Without ONNX Runtime: forks of a process that has imported it hang when they exit.
IMPORTS = (
    "py_autodoc.jobs.problems",
    "py_autodoc.tasks.kinds",
    "py_autodoc.report.pipeline.analysis",
    "py_autodoc.runner",
    "py_autodoc.quantize",
    "py_autodoc.sensitivity",
    "py_autodoc.verify",
)


class ForkedTask:
    """The part of ``asyncio.subprocess.Process`` that ``TaskManager`` uses."""

    def __init__(self, pid: int, channel: socket.socket, stdin: Any, stdout: asyncio.StreamReader) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self.returncode: int | None = None
        self._channel = channel

    async def wait(self) -> int:
        if self.returncode is None:
            loop = asyncio.get_running_loop()
            _, self.returncode = STATUS.unpack(await loop.sock_recv(self._channel, STATUS.size))
            self._channel.close()
        assert self.returncode is not None
        return self.returncode


async def start(interpreter: ForkedInterpreter, limit: int) -> ForkedTask:
    """Start the process of a task; ``limit`` is that of its lines."""
    loop = asyncio.get_running_loop()
    request, order = os.pipe()
    said, lines = os.pipe()
    errors = os.open(os.devnull, os.O_WRONLY)
    channel = interpreter.start(
        "py_autodoc.tasks.child", stdin=request, stdout=lines, stderr=errors, session=True
    )
    for one in (request, lines, errors):
        os.close(one)
    channel.setblocking(False)
    pid, _ = STATUS.unpack(await loop.sock_recv(channel, STATUS.size))
    reader = asyncio.StreamReader(limit)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(said, "rb"))
    stdin, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(order, "wb"))
    return ForkedTask(pid, channel, stdin, reader)
