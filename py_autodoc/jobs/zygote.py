"""A process with all modules imported, which forks a child per job within milliseconds.

The forkserver of ``multiprocessing`` is not suitable: its children import the main module of the parent (all
of JupyterLab), the whole process shares one, and it cannot kill children. This zygote has a single thread, so
that fork is safe, and exchanges fixed-size records over a Unix socket. When the socket closes, it kills its
children and exits: no process outlives the server.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import sys
from typing import NoReturn

from py_autodoc import process_limits
from py_autodoc.jobs import worker

COMMAND = struct.Struct("!cI")
"""Record from the server: kind, child id. ``FORK`` also passes the child's end of a socket pair."""
EVENT = struct.Struct("!cIi")
"""Record to the server: kind, child id, exit status (negative: signal)."""
FORK = b"F"
KILL = b"K"
READY = b"R"
EXITED = b"X"
_FORK_FAILED = 71
"""Exit status that is reported for a child that could not be forked."""


class Zygote:
    """Executes commands until the control socket closes."""

    def __init__(self, control: socket.socket, engine: worker.Engine) -> None:
        self._control = control
        self._engine = engine
        self._children: dict[int, int] = {}
        """Process id → child id."""
        self._wakeup_read, wakeup = os.pipe()
        os.set_blocking(self._wakeup_read, False)
        os.set_blocking(wakeup, False)
        self._wakeup_write = wakeup

    def serve(self) -> None:
        """Fork and kill children on command, and report their exit."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup_write, warn_on_full_buffer=False)
        control = self._control.fileno()
        try:
            self._send_event(READY, 0, 0)
            while True:
                readable, _, _ = select.select([control, self._wakeup_read], [], [])
                if self._wakeup_read in readable:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wakeup_read, 4096)
                    self._reap()
                if control in readable and not self._handle_command():
                    return
        except OSError:
            return
        finally:
            for pid in self._children:
                self._kill(pid)

    def _handle_command(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, COMMAND.size, 1)
        if len(data) < COMMAND.size:
            return False
        kind, child = COMMAND.unpack(data)
        if kind == FORK and descriptors:
            self._fork(child, descriptors[0])
        elif kind == KILL:
            for pid, child_id in self._children.items():
                if child_id == child:
                    self._kill(pid)
        return True

    def _fork(self, child: int, channel: int) -> None:
        zygote_pid = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            self._send_event(EXITED, child, _FORK_FAILED)
        else:
            if pid == 0:
                self._run_child(channel, zygote_pid)
            self._children[pid] = child
        os.close(channel)

    def _run_child(self, channel: int, parent: int) -> NoReturn:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            process_limits.die_with_parent(parent)
            for descriptor in (self._control.fileno(), self._wakeup_read, self._wakeup_write):
                os.close(descriptor)
            process_limits.silence()
            worker.run(self._engine, channel, channel)
            status = 0
        finally:
            # A child must never return into the loop of the zygote.
            os._exit(status)

    def _reap(self) -> None:
        while self._children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self._children.pop(pid, None)
            if child is not None:
                self._send_event(EXITED, child, os.waitstatus_to_exitcode(status))

    def _send_event(self, kind: bytes, child: int, status: int) -> None:
        self._control.sendall(EVENT.pack(kind, child, status))

    @staticmethod
    def _kill(pid: int) -> None:
        # Not reaped yet: the id still belongs to the child. Its group includes processes that it started.
        for send in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send(pid, signal.SIGKILL)


def main(control: int, engine: str) -> None:
    """Import ``engine``, call ``prepare`` of its module, and serve on the descriptor ``control``."""
    open_session = worker.find_engine(engine)
    # Work that its module can do once for all children.
    getattr(sys.modules[open_session.__module__], "prepare", _no_preparation)()
    gc.collect()
    # Children share these pages until their garbage collector writes to them.
    gc.freeze()
    Zygote(socket.socket(fileno=control), open_session).serve()


def _no_preparation() -> None:
    """Do nothing: the engine needs no preparation."""
