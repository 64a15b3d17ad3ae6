"""Start child processes: forked from a zygote, or as new interpreters on platforms without fork."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from py_autodoc import children
from py_autodoc.jobs import zygote

ENGINE = "py_autodoc.jobs.model_session:open_session"
"""The function that a child calls to analyse a model, as ``module:function``."""
READ_BYTES = 1 << 18
EXIT_GRACE_S = 5.0
"""Seconds to wait for the exit of a process."""


class Child:
    """A running child process.

    Args:
        reader: the stream of its frames.
        write: sends bytes to it.
        stop: kills it.
        exited: its exit status (negative: signal); None if unknown.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        write: Callable[[bytes], None],
        stop: Callable[[], None],
        exited: asyncio.Future[int | None],
    ) -> None:
        self.reader = reader
        self.write = write
        self._stop = stop
        self._exited = exited

    @property
    def alive(self) -> bool:
        """False after the child has ended."""
        return not self._exited.done()

    def kill(self) -> None:
        """Kill the child and all processes that it started. Does nothing after it has ended."""
        self._stop()

    async def exit_status(self) -> int | None:
        """Wait for the exit status (negative: signal); None if it is unknown."""
        with contextlib.suppress(asyncio.TimeoutError):
            return await asyncio.wait_for(asyncio.shield(self._exited), EXIT_GRACE_S)
        return None


class Launcher(Protocol):
    """Starts child processes."""

    async def warm(self) -> None:
        """Prepare for a quick start of the next child."""

    async def start(self) -> Child:
        """Start a child. It waits for its first frame."""

    async def release(self) -> None:
        """Free memory if no child is alive; the next start is slower."""

    async def close(self) -> None:
        """Stop all processes."""


def default_launcher(engine: str = ENGINE, search: Sequence[str] = ()) -> Launcher:
    """Return the fastest launcher that the platform supports.

    Args:
        engine: called by each child, as ``module:function``.
        search: further folders to import it from.
    """
    if hasattr(os, "fork") and hasattr(socket, "recv_fds"):
        return ForkLauncher(engine, search)
    return SpawnLauncher(engine, search)


class ForkLauncher:
    """Forks children from a zygote, which is started on first use and restarted if it dies."""

    def __init__(self, engine: str = ENGINE, search: Sequence[str] = ()) -> None:
        self._engine = engine
        self._search = search
        self._opening: asyncio.Task[_ZygoteLink] | None = None
        """The start of the zygote, pending or done; shared by all requests."""
        self._ids = itertools.count(1)

    async def warm(self) -> None:
        """Start the zygote and wait until its imports are done."""
        link = await self._link()
        await asyncio.shield(link.ready)

    async def start(self) -> Child:
        """Fork a child."""
        link = await self._link()
        parent_end, child_end = socket.socketpair()
        with child_end:
            parent_end.setblocking(False)
            child = next(self._ids)
            exited = link.fork(child, child_end)
        try:
            reader, writer = await asyncio.open_connection(sock=parent_end, limit=READ_BYTES)
        except BaseException:
            link.kill(child)
            parent_end.close()
            raise

        def stop() -> None:
            link.kill(child)
            writer.close()

        return Child(reader, writer.write, stop, exited)

    @property
    def zygote(self) -> _ZygoteLink | None:
        """The running zygote; None if there is none."""
        task = self._opening
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result() if task.result().alive else None

    async def release(self) -> None:
        """Stop the zygote unless it has children."""
        if self.zygote is not None and not self.zygote.exits:
            await self.close()

    async def close(self) -> None:
        """Stop the zygote and its children."""
        opening, self._opening = self._opening, None
        if opening is None:
            return
        with contextlib.suppress(OSError):
            link = await opening
            link.close()
            await asyncio.get_running_loop().run_in_executor(None, _reap, link.process)

    async def _link(self) -> _ZygoteLink:
        if self._opening is None or (self._opening.done() and self.zygote is None):
            self._opening = asyncio.get_running_loop().create_task(self._open())
        # Shielded: the request that starts the zygote can be cancelled while others wait for it.
        return await asyncio.shield(self._opening)

    async def _open(self) -> _ZygoteLink:
        parent_end, child_end = socket.socketpair()
        with child_end:
            # Starting a process takes milliseconds: keep it off the event loop.
            loop = asyncio.get_running_loop()
            process = await loop.run_in_executor(None, self._popen, child_end.fileno())
        return _ZygoteLink(parent_end, process)

    def _popen(self, control: int) -> subprocess.Popen[bytes]:
        code = f"from py_autodoc.jobs.zygote import main; main({control}, {self._engine!r})"
        null = subprocess.DEVNULL
        return children.popen(
            children.command(code, self._search), pass_fds=(control,), stdin=null, stdout=null
        )


class _ZygoteLink:
    """The server's end of the control socket of a zygote."""

    def __init__(self, control: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self._loop = asyncio.get_running_loop()
        self._control = control
        self._buffer = b""
        self.process = process
        self.exits: dict[int, asyncio.Future[int | None]] = {}
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self.alive = True
        control.setblocking(False)
        self._loop.add_reader(control.fileno(), self._on_readable)

    def fork(self, child: int, channel: socket.socket) -> asyncio.Future[int | None]:
        """Request a child that uses ``channel``; return the future of its exit status."""
        exited: asyncio.Future[int | None] = self._loop.create_future()
        self.exits[child] = exited
        try:
            socket.send_fds(self._control, [zygote.COMMAND.pack(zygote.FORK, child)], [channel.fileno()])
        except OSError:
            self.close()
            # If the link was closed before, ``close`` did not resolve this future.
            if not exited.done():
                exited.set_result(None)
        return exited

    def kill(self, child: int) -> None:
        """Request that a child is killed. Does nothing if it has ended."""
        if self.alive and child in self.exits:
            with contextlib.suppress(OSError):
                self._control.send(zygote.COMMAND.pack(zygote.KILL, child))

    def close(self) -> None:
        """Close the socket; the zygote then kills its children and exits."""
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        for exited in self.exits.values():
            if not exited.done():
                exited.set_result(None)
        self.exits.clear()
        if not self.ready.done():
            self.ready.set_result(None)

    def _on_readable(self) -> None:
        try:
            data = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            self._loop.run_in_executor(None, _reap, self.process)
            return
        self._buffer += data
        while len(self._buffer) >= zygote.EVENT.size:
            kind, child, status = zygote.EVENT.unpack_from(self._buffer)
            self._buffer = self._buffer[zygote.EVENT.size :]
            if kind == zygote.READY and not self.ready.done():
                self.ready.set_result(None)
            exited = self.exits.pop(child, None) if kind == zygote.EXITED else None
            if exited is not None and not exited.done():
                exited.set_result(status)


class SpawnLauncher:
    """Starts an interpreter per child. It does not need fork, but imports take a second each time."""

    def __init__(self, engine: str = ENGINE, search: Sequence[str] = ()) -> None:
        self._command = children.command(f"from py_autodoc.jobs.worker import main; main({engine!r})", search)
        self._running: set[subprocess.Popen[bytes]] = set()

    async def warm(self) -> None:
        """Do nothing: a new interpreter cannot be prepared."""

    async def start(self) -> Child:
        """Start an interpreter, and a thread that passes its output to the event loop."""
        loop = asyncio.get_running_loop()
        process = await loop.run_in_executor(None, self._popen)
        self._running.add(process)
        reader = asyncio.StreamReader()
        exited: asyncio.Future[int | None] = loop.create_future()
        pump = threading.Thread(target=self._pump, args=(process, loop, reader, exited), daemon=True)
        pump.start()
        stdin = process.stdin
        assert stdin is not None

        def write(data: bytes) -> None:
            # Requests are small: writing does not block.
            with contextlib.suppress(OSError, ValueError):
                stdin.write(data)
                stdin.flush()

        return Child(reader, write, process.kill, exited)

    async def release(self) -> None:
        """Do nothing: no process outlives its child."""

    async def close(self) -> None:
        """Kill all children."""
        for process in list(self._running):
            process.kill()

    def _popen(self) -> subprocess.Popen[bytes]:
        return children.popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )

    def _pump(
        self,
        process: subprocess.Popen[bytes],
        loop: asyncio.AbstractEventLoop,
        reader: asyncio.StreamReader,
        exited: asyncio.Future[int | None],
    ) -> None:
        assert process.stdout is not None
        # If the loop is closed while a child ends, its output is not needed.
        with contextlib.suppress(RuntimeError):
            while data := os.read(process.stdout.fileno(), READ_BYTES):
                loop.call_soon_threadsafe(reader.feed_data, data)
            loop.call_soon_threadsafe(reader.feed_eof)
        status = process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._running.discard(process)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(exited.set_result, status)


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=EXIT_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
