"""A process that watches another: commands that run models do so in a child with limits of time and memory.

ONNX Runtime computes for as long, and takes as much memory, as a model asks for, and a fault in it ends the
process. The child inherits the three standard streams, so its output is what it would be without us. We hold
the deadline, forward signals, remove what a killed child leaves, and turn its end into one line and a status.

Nothing heavy is imported here: the child is a fork of this process before it has loaded anything, or, where
there is no fork, a new interpreter.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

COMMANDS = frozenset({"opdocs", "quantize", "run", "sensitivity", "verify"})
"""Commands that run models."""
WITH_OPTION = {"compare": "--run"}
"""Commands that run models if they have this option."""
TIME_LIMIT_S = 3600
"""Time limit of a command by default."""
PIPE = "_ONNX_AUTODOC_SUPERVISOR"
"""Environment variable with the number of the descriptor on which a child that is no fork reports."""
INVALID, CRASHED = 1, 2
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_LARGEST_S = 10 * 365 * 86400.0
_PR_SET_CHILD_SUBREAPER = 36
_MAX_FOLDERS = 64
_report: int | None = None
"""In the child: descriptor of the pipe to the supervisor."""


def wanted(arguments: Sequence[str]) -> bool:
    """True if the command line asks to run models, and is not being completed."""
    completing = any(name.endswith("_COMPLETE") and "AUTODOC" in name.upper() for name in os.environ)
    name = next(iter(arguments), "")
    return (name in COMMANDS or WITH_OPTION.get(name) in arguments) and not completing


def set_deadline(seconds: float) -> None:
    """In the child: tell the supervisor the time limit, which counts from the start of the command.

    0 is no limit. In a process without a supervisor, such as a test, this does nothing.
    """
    if _report is not None:
        with contextlib.suppress(OSError):
            os.write(_report, f"{min(seconds, _LARGEST_S)!r}\n".encode())


def supervised() -> bool:
    """True in a child whose process belongs to the command alone, so that it may limit it."""
    return _report is not None


def supervise(arguments: Sequence[str]) -> int | None:
    """Start a child, wait for it and return the exit status of the command; return None in the child.

    ``arguments`` is the command line after the program.
    """
    global _report
    started, reader, writer = time.monotonic(), *os.pipe()
    if not hasattr(os, "fork"):
        return _Supervisor(_spawned(writer, arguments), reader, started, arguments).status()
    _adopt_orphans()
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        from py_autodoc.process_limits import die_with_parent

        os.close(reader)
        _report = writer
        die_with_parent(parent)
        return None
    os.close(writer)
    return _Supervisor(pid, reader, started, arguments).status()


def connect() -> None:
    """In a child that is no fork: use the pipe that its supervisor left open."""
    global _report
    number = os.environ.pop(PIPE, "")
    if number.isdigit():
        if sys.platform == "win32":
            import msvcrt

            _report = msvcrt.open_osfhandle(int(number), 0)
        else:
            _report = int(number)


def _spawned(writer: int, arguments: Sequence[str]) -> int:
    from py_autodoc.children import command, popen

    code = "from py_autodoc.cli import child; child()"
    with contextlib.ExitStack() as stack:
        number = writer
        startup: dict[str, Any] = {"pass_fds": (writer,)}
        if sys.platform == "win32":
            import msvcrt

            number = msvcrt.get_osfhandle(writer)
            os.set_handle_inheritable(number, True)
            info = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [number]})
            startup = {"startupinfo": info, "close_fds": True}
        stack.callback(os.close, writer)
        # It is this command, so it gets the user's environment, folder and terminal.
        environment = {**os.environ, PIPE: str(number)}
        process = popen(
            [*command(code), *arguments], env=environment, cwd=None, start_new_session=False, **startup
        )
        _processes[process.pid] = process
        return process.pid


_processes: dict[int, subprocess.Popen[bytes]] = {}
"""Children that are no forks."""


class _Supervisor:
    """The wait for a child."""

    def __init__(self, pid: int, reader: int, started: float, arguments: Sequence[str]) -> None:
        self._pid, self._reader, self._started, self._arguments = pid, reader, started, arguments
        self._limit: float = TIME_LIMIT_S
        self._late = False
        self._received = 0

    def status(self) -> int:
        """Wait for the end of the child; return the exit status of the command."""
        if os.name == "nt":
            threading.Thread(target=self._listen, daemon=True).start()
        previous: dict[int, Any] = {}
        for name in _FORWARDED:
            number = getattr(signal, name, None)
            if number is not None:
                with contextlib.suppress(OSError, ValueError):
                    previous[number] = signal.signal(number, self._forward)
        # The terminal sends it to the child too, which ends in its own way.
        previous[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            code = self._wait()
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
            os.close(self._reader)
        self._clean(code)
        return self._outcome(code)

    def _listen(self) -> None:
        """Read what the child reports, where a pipe cannot be waited for."""
        buffer = b""
        with contextlib.suppress(OSError):
            while data := os.read(self._reader, 4096):
                buffer = self._heard(buffer + data)

    def _heard(self, buffer: bytes) -> bytes:
        """Take the limits in complete lines; return the rest."""
        *lines, rest = buffer.split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                self._limit = float(line)
        return rest

    def _forward(self, number: int, _frame: object) -> None:
        self._received = number
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, number)

    def _wait(self) -> int:
        """Return 0 or more for an exit, or the negative number of the signal that ended the child."""
        buffer = b""
        while True:
            code = self._poll()
            if code is not None:
                return code
            left = self._started + self._limit - time.monotonic() if self._limit > 0 else None
            if left is not None and left <= 0 and not self._late:
                self._late = True
                self._kill()
            wait = 1.0 if left is None or self._late else max(0.0, min(left, 1.0))
            data = self._read(wait)
            if data == b"":
                # The child closed the pipe: it is ending, or does not report any more.
                time.sleep(0.005)
                continue
            buffer = self._heard(buffer + (data or b""))

    def _read(self, seconds: float) -> bytes | None:
        """Return what the child reports within that time; empty at the end; None if there is nothing."""
        if os.name == "nt":
            time.sleep(min(seconds, 0.05))
            return None
        try:
            readable, _, _ = select.select([self._reader], [], [], seconds)
            return os.read(self._reader, 4096) if readable else None
        except InterruptedError:
            return None

    def _poll(self) -> int | None:
        process = _processes.get(self._pid)
        if process is not None:
            return process.poll()
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return CRASHED
            if pid == 0:
                return None
            # Others are orphans of the child.
            if pid == self._pid:
                return os.waitstatus_to_exitcode(status)

    def _kill(self) -> None:
        process = _processes.get(self._pid)
        with contextlib.suppress(OSError):
            process.kill() if process is not None else os.kill(self._pid, signal.SIGKILL)

    def _clean(self, code: int) -> None:
        """End processes that the child left; after a kill, remove its temporary files."""
        for pid in _children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if code >= 0:
            return
        import tempfile
        from pathlib import Path

        from py_autodoc.temporary import sweep

        folders = [tempfile.gettempdir(), os.curdir]
        for argument in self._arguments:
            path = argument.partition("=")[2] if argument.startswith("-") else argument
            folders += [os.path.dirname(os.path.realpath(path)), path] if path else []
        for folder in list(dict.fromkeys(folders))[:_MAX_FOLDERS]:
            if os.path.isdir(folder):
                sweep(Path(folder))

    def _outcome(self, code: int) -> int:
        if self._late:
            _say(
                f"{self._arguments[0]} took longer than {_duration(self._limit)} and was stopped.",
                "Set another limit with --time-limit SECONDS (0 for none).",
            )
            # Of `compare`, 1 says that the models differ.
            return CRASHED if self._arguments[0] == "compare" else INVALID
        if code >= 0:
            return code
        if self._received == -code or -code in (signal.SIGINT, getattr(signal, "SIGPIPE", 0)):
            # What ends the child ends us, so that the shell sees it.
            with contextlib.suppress(OSError, ValueError):
                signal.signal(-code, signal.SIG_DFL)
                os.kill(os.getpid(), -code)
            return 128 - code
        name = signal.Signals(-code).name if -code in signal.valid_signals() else str(-code)
        if name == "SIGKILL":
            _say(
                f"{self._arguments[0]} was killed by the system, probably because memory ran out.",
                "Use a smaller --memory-limit, fewer samples or smaller dimensions.",
            )
        else:
            _say(
                f"ONNX Runtime, or another library, crashed while running the model ({name}).",
                "The model may be damaged, or need more memory than --memory-limit leaves.",
            )
        return CRASHED


def _say(message: str, hint: str) -> None:
    from py_autodoc.cli import stderr

    if sys.stderr is not None and sys.stderr.isatty():
        stderr.write_raw("\r\x1b[2K")  # what is left of the child's progress
    stderr.error(message, hint)


def _duration(seconds: float) -> str:
    if seconds >= 120 and seconds % 60 == 0:
        return f"{seconds / 60:,.0f} minutes"
    return "1 second" if seconds == 1 else f"{seconds:,g} seconds"


def _adopt_orphans() -> None:
    """Make processes that outlive the child ours, where the kernel can do that."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _children() -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        own = os.getpid()
        with open(f"/proc/{own}/task/{own}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    return []
