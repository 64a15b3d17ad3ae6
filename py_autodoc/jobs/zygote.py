"""A process with everything imported that forks one child a job, in milliseconds.

Why not ``multiprocessing``'s forkserver: its children import the parent's main module (all of
JupyterLab), it is one for the whole process whoever else uses it, and it cannot kill. This one is
single-threaded (fork is safe), speaks fixed-size records on a Unix socket, and when that socket
closes it kills what it started and ends: nothing outlives the server.
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

ORDER = struct.Struct("!cI")
"""server → zygote: what, child id. FORK carries the child's end of a socket pair."""
NEWS = struct.Struct("!cIi")
"""zygote → server: what, child id, exit status (negative: signal)."""
FORK = b"F"
KILL = b"K"
READY = b"R"
EXITED = b"X"
_FORK_FAILED = 71


class Zygote:
    """Serves orders until the control socket closes."""

    def __init__(self, control: socket.socket, engine: worker.Engine) -> None:
        self._control = control
        self._engine = engine
        self._children: dict[int, int] = {}
        """pid → child id"""
        self._woken, waker = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(waker, False)
        self._waker = waker

    def serve(self) -> None:
        """Forks and kills as ordered, reports exits."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        control = self._control.fileno()
        try:
            self._tell(READY, 0, 0)
            while True:
                readable, _, _ = select.select([control, self._woken], [], [])
                if self._woken in readable:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._woken, 4096)
                    self._reap()
                if control in readable and not self._obey():
                    return
        except OSError:
            return
        finally:
            for pid in self._children:
                self._kill(pid)

    def _obey(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, ORDER.size, 1)
        if len(data) < ORDER.size:
            return False
        what, child = ORDER.unpack(data)
        if what == FORK and descriptors:
            self._fork(child, descriptors[0])
        elif what == KILL:
            for pid, known in self._children.items():
                if known == child:
                    self._kill(pid)
        return True

    def _fork(self, child: int, channel: int) -> None:
        own = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            self._tell(EXITED, child, _FORK_FAILED)
        else:
            if pid == 0:
                self._become_child(channel, own)
            self._children[pid] = child
        os.close(channel)

    def _become_child(self, channel: int, parent: int) -> NoReturn:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            process_limits.die_with_parent(parent)
            for descriptor in (self._control.fileno(), self._woken, self._waker):
                os.close(descriptor)
            process_limits.silence()
            worker.run(self._engine, channel, channel)
            status = 0
        finally:
            # Never back into the loop above, whatever happened.
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
                self._tell(EXITED, child, os.waitstatus_to_exitcode(status))

    def _tell(self, what: bytes, child: int, status: int) -> None:
        self._control.sendall(NEWS.pack(what, child, status))

    @staticmethod
    def _kill(pid: int) -> None:
        # Not yet reaped, so the id is still the child's; its group has whatever it started.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)


def main(control: int, engine: str) -> None:
    """Imports ``engine``, lets its module prepare, and serves on the descriptor ``control``."""
    found = worker.find_engine(engine)
    # An engine's module may have more to do once for all children.
    getattr(sys.modules[found.__module__], "prepare", _nothing)()
    gc.collect()
    # Children share these pages as long as nobody's collector writes to them.
    gc.freeze()
    Zygote(socket.socket(fileno=control), found).serve()


def _nothing() -> None:
    """For engines that need no preparation."""
