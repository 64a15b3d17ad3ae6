"""Processes of Python that begin as forks of one that has imported what they need.

A new interpreter spends up to half a second on the imports of a command, a fork a few milliseconds. It has
its own descriptors, arguments and environment, and ends like any interpreter: buffers are flushed, and a
failure to do so changes its status. It needs ``os.fork``.
"""

from __future__ import annotations

import gc
import io
import json
import os
import runpy
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

REQUEST_BYTES = 1 << 20
STATUS = struct.Struct("ii")
"""Sent twice: its id and 0 when it begins, its id and exit status when it has ended."""


class ForkedInterpreter:
    """Runs modules as ``python -m`` does."""

    def __init__(self, imports: Sequence[str]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = (
            "import sys; sys.path[:0] = sys.argv[2].split(':'); import forked_interpreter as it; it.serve()"
        )
        places = ":".join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno()), places, *imports],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()

    def start(
        self,
        module: str,
        arguments: Sequence[str] = (),
        *,
        stdin: int | None = None,
        stdout: int | None,
        stderr: int | None,
        environ: Mapping[str, str] | None = None,
        session: bool = False,
    ) -> socket.socket:
        """Start it with these descriptors, None for a closed one; the socket receives STATUS twice."""
        ours, theirs = socket.socketpair()
        given = [stdin, stdout, stderr]
        request = {
            "module": module, "arguments": list(arguments), "environ": dict(environ or os.environ),
            "folder": os.getcwd(), "session": session, "open": [one is not None for one in given],
        }  # fmt: skip
        passed = [theirs.fileno(), *(one for one in given if one is not None)]
        socket.send_fds(self._control, [json.dumps(request).encode()], passed)
        theirs.close()
        return ours

    def close(self) -> None:
        """End the process that forks."""
        self._control.close()
        assert self._process.wait(timeout=30) == 0


def status_of(channel: socket.socket) -> int:
    """Wait for its end; return its exit status, or minus the number of a signal."""
    with channel:
        _, status = [STATUS.unpack(channel.recv(STATUS.size, socket.MSG_WAITALL)) for _ in range(2)]
    return int(status[1])


def serve() -> None:
    """Fork for every request until the socket is closed."""
    control = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[3:]:
        import_module(name)
    gc.freeze()  # no fork looks at it, not even at its end
    watching: set[int] = set()
    while True:
        data, passed, _, _ = socket.recv_fds(control, REQUEST_BYTES, 4)
        if not data:
            break
        watching -= {pid for pid in watching if os.waitpid(pid, os.WNOHANG)[0]}
        watcher = os.fork()
        if watcher == 0:
            control.close()
            _watch(json.loads(data), passed)
            return
        watching.add(watcher)
        for one in passed:
            os.close(one)
    for pid in watching:
        os.waitpid(pid, 0)


def _watch(request: dict[str, object], passed: list[int]) -> None:
    """Fork again and report how that process ends; only that process returns."""
    report, *given = passed
    child = os.fork()
    if child == 0:
        os.close(report)
        _become(request, given)
        return
    for one in given:
        os.close(one)
    with socket.socket(fileno=report) as channel:
        channel.sendall(STATUS.pack(child, 0))
        _, status = os.waitpid(child, 0)
        channel.sendall(STATUS.pack(child, os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _become(request: dict[str, object], given: list[int]) -> None:
    """Run the requested module in this process."""
    if request["session"]:
        os.setsid()
    kept = iter(given)
    streams: list[io.TextIOWrapper | None] = []
    for number, is_open in enumerate(request["open"]):  # type: ignore[arg-type]
        if not is_open:
            os.close(number)
            streams.append(None)
            continue
        descriptor = next(kept)
        os.dup2(descriptor, number)
        os.close(descriptor)
        file = open(number, "wb" if number else "rb", closefd=False)  # noqa: SIM115 - for the whole process
        errors = "backslashreplace" if number == 2 else "strict"
        streams.append(
            io.TextIOWrapper(file, "utf-8", errors, line_buffering=number == 2 or os.isatty(number))
        )
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = streams  # type: ignore[misc,assignment]
    os.environ.clear()
    os.environ.update(request["environ"])  # type: ignore[call-overload]
    os.chdir(request["folder"])  # type: ignore[arg-type]
    sys.argv[1:] = request["arguments"]  # type: ignore[assignment]
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)  # type: ignore[arg-type]
