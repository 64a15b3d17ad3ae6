"""Starting children: by fork from a zygote, or as processes of their own where there is no fork."""

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
READ_BYTES = 1 << 18
EXIT_GRACE_S = 5.0


class Child:
    """A running child: a stream from it, a way to write to it, and its end."""

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
        """False once its end is known."""
        return not self._exited.done()

    def kill(self) -> None:
        """Ends it now, with everything it started. Harmless when it is gone already."""
        self._stop()

    async def exit_status(self) -> int | None:
        """How it ended (negative: signal); None when nobody can tell."""
        with contextlib.suppress(asyncio.TimeoutError):
            return await asyncio.wait_for(asyncio.shield(self._exited), EXIT_GRACE_S)
        return None


class Launcher(Protocol):
    """Starts children."""

    async def warm(self) -> None:
        """Makes the next start quick."""

    async def start(self) -> Child:
        """A child that waits for its first frame."""

    async def rest(self) -> None:
        """Gives memory back; the next start is slower. Only while no child is alive."""

    async def close(self) -> None:
        """Ends everything."""


def default_launcher(engine: str = ENGINE, search: Sequence[str] = ()) -> Launcher:
    """The best launcher of this platform. ``engine`` is ``module:function``, found on ``search`` too."""
    if hasattr(os, "fork") and hasattr(socket, "recv_fds"):
        return ForkLauncher(engine, search)
    return SpawnLauncher(engine, search)


class ForkLauncher:
    """Children forked from a zygote that is started when first needed, and again should it die."""

    def __init__(self, engine: str = ENGINE, search: Sequence[str] = ()) -> None:
        self._engine = engine
        self._search = search
        self._opening: asyncio.Task[_ZygoteLink] | None = None
        """Under way or done; shared by all who need the zygote."""
        self._ids = itertools.count(1)

    async def warm(self) -> None:
        """Starts the zygote and waits until it has imported everything."""
        link = await self._link()
        await asyncio.shield(link.ready)

    async def start(self) -> Child:
        """Forks a child."""
        link = await self._link()
        ours, theirs = socket.socketpair()
        with theirs:
            ours.setblocking(False)
            child = next(self._ids)
            exited = link.fork(child, theirs)
        try:
            reader, writer = await asyncio.open_connection(sock=ours, limit=READ_BYTES)
        except BaseException:
            link.kill(child)
            ours.close()
            raise

        def stop() -> None:
            link.kill(child)
            writer.close()

        return Child(reader, writer.write, stop, exited)

    @property
    def zygote(self) -> _ZygoteLink | None:
        """The running zygote, if there is one."""
        task = self._opening
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result() if task.result().alive else None

    async def rest(self) -> None:
        """Ends the zygote unless it has children."""
        if self.zygote is not None and not self.zygote.exits:
            await self.close()

    async def close(self) -> None:
        """Ends the zygote and its children."""
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
        # Shielded: who starts the zygote may be cancelled, while others wait for it or will need it.
        return await asyncio.shield(self._opening)

    async def _open(self) -> _ZygoteLink:
        ours, theirs = socket.socketpair()
        with theirs:
            # Starting a process takes milliseconds: not on the event loop.
            loop = asyncio.get_running_loop()
            process = await loop.run_in_executor(None, self._popen, theirs.fileno())
        return _ZygoteLink(ours, process)

    def _popen(self, control: int) -> subprocess.Popen[bytes]:
        code = f"from py_autodoc.jobs.zygote import main; main({control}, {self._engine!r})"
        null = subprocess.DEVNULL
        return children.popen(
            children.command(code, self._search), pass_fds=(control,), stdin=null, stdout=null
        )


class _ZygoteLink:
    """The server's end of the control socket."""

    def __init__(self, control: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self._loop = asyncio.get_running_loop()
        self._control = control
        self._buffer = b""
        self.process = process
        self.exits: dict[int, asyncio.Future[int | None]] = {}
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self.alive = True
        control.setblocking(False)
        self._loop.add_reader(control.fileno(), self._hear)

    def fork(self, child: int, channel: socket.socket) -> asyncio.Future[int | None]:
        """Orders a child; the future tells how it ended."""
        exited: asyncio.Future[int | None] = self._loop.create_future()
        self.exits[child] = exited
        try:
            socket.send_fds(self._control, [zygote.ORDER.pack(zygote.FORK, child)], [channel.fileno()])
        except OSError:
            self.close()
            # Hung up before: then it is not among those that were told just now.
            if not exited.done():
                exited.set_result(None)
        return exited

    def kill(self, child: int) -> None:
        """Orders the end of a child that is not known to have ended."""
        if self.alive and child in self.exits:
            with contextlib.suppress(OSError):
                self._control.send(zygote.ORDER.pack(zygote.KILL, child))

    def close(self) -> None:
        """Hangs up: the zygote kills its children and ends."""
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

    def _hear(self) -> None:
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
        while len(self._buffer) >= zygote.NEWS.size:
            what, child, status = zygote.NEWS.unpack_from(self._buffer)
            self._buffer = self._buffer[zygote.NEWS.size :]
            if what == zygote.READY and not self.ready.done():
                self.ready.set_result(None)
            exited = self.exits.pop(child, None) if what == zygote.EXITED else None
            if exited is not None and not exited.done():
                exited.set_result(status)


class SpawnLauncher:
    """One interpreter a child: no fork needed, a second of imports each."""

    def __init__(self, engine: str = ENGINE, search: Sequence[str] = ()) -> None:
        self._command = children.command(f"from py_autodoc.jobs.worker import main; main({engine!r})", search)
        self._running: set[subprocess.Popen[bytes]] = set()

    async def warm(self) -> None:
        """Nothing can be prepared."""

    async def start(self) -> Child:
        """Starts an interpreter; a thread carries what it says to the event loop."""
        loop = asyncio.get_running_loop()
        process = await loop.run_in_executor(None, self._popen)
        self._running.add(process)
        reader = asyncio.StreamReader()
        exited: asyncio.Future[int | None] = loop.create_future()
        pump = threading.Thread(target=self._pump, args=(process, loop, reader, exited), daemon=True)
        pump.start()
        source = process.stdin
        assert source is not None

        def write(data: bytes) -> None:
            # Requests are small, so this does not block.
            with contextlib.suppress(OSError, ValueError):
                source.write(data)
                source.flush()

        return Child(reader, write, process.kill, exited)

    async def rest(self) -> None:
        """Nothing is kept between children."""

    async def close(self) -> None:
        """Ends all children."""
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
        # The loop may be closed while a child ends: then nobody waits for it.
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
