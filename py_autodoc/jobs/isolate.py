"""One analysis in one child, seen from the server: ask, follow, time out, kill.

Bodies stay encoded bytes in pieces: the event loop never decodes, joins or copies one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from py_autodoc.errors import AutodocError
from py_autodoc.jobs import frames
from py_autodoc.jobs.errors import JobFailed, out_of_time, worker_died
from py_autodoc.jobs.frames import Progress, Render, Spec, Summary
from py_autodoc.jobs.launch import Child, Launcher
from py_autodoc.report.schema import Problem

T = TypeVar("T")
Take = Callable[[bytes], Awaitable[None]]
log = logging.getLogger("py_autodoc.jobs")

MAX_BODY_BYTES = 1 << 29
MAX_LOGS = 16
"""Log messages taken from one child; one more and it is up to no good."""
STOP_GRACE_S = 3.0
"""How long a child may take to stop what nobody waits for."""
_GZIP_FORMAT = 31
_PROGRESS = msgspec.json.Decoder(Progress)
_SUMMARY = msgspec.json.Decoder(Summary)
_END = msgspec.json.Decoder(frames.End)
_PROBLEM = msgspec.json.Decoder(Problem)


@dataclass(frozen=True, slots=True)
class Body:
    """An encoded answer in pieces of at most 256 KiB, compressed when that pays.

    ``size`` counts the bytes kept, ``raw_size`` those of the JSON; ``digest`` identifies the content.
    """

    pieces: tuple[bytes, ...]
    size: int
    raw_size: int
    gzip: bool
    digest: str

    def unpacked(self) -> Iterator[bytes]:
        """The JSON, in pieces that cost less than a millisecond each."""
        if not self.gzip:
            yield from self.pieces
            return
        unpacker = zlib.decompressobj(wbits=_GZIP_FORMAT)
        left = self.raw_size
        for piece in self.pieces:
            while piece and left > 0:
                out = unpacker.decompress(piece, min(left, frames.CHUNK_BYTES))
                piece = unpacker.unconsumed_tail
                left -= len(out)
                if out:
                    yield out


class Isolated:
    """A child that analyses ``spec`` and then answers questions about it, one at a time.

    Whatever goes wrong between the two (an error inside the child is not that) kills the child.
    """

    def __init__(self, child: Child, spec: Spec) -> None:
        self._child = child
        self._spec = spec
        self._busy = asyncio.Lock()
        self._logs = 0
        self._killed = False

    @classmethod
    async def start(cls, launcher: Launcher, spec: Spec) -> Isolated:
        """A new child that has not begun yet."""
        return cls(await launcher.start(), spec)

    @property
    def alive(self) -> bool:
        """True while it can be asked."""
        return self._child.alive and not self._killed

    def kill(self) -> None:
        """Ends it now."""
        self._killed = True
        self._child.kill()

    async def analyse(self, on_progress: Callable[[Progress], None]) -> Summary:
        """Runs the analysis.

        Raises:
            JobFailed: the child reported a problem.
            AutodocError: it died or ran over a limit.
        """
        return await self._bounded(self._analyse(on_progress))

    async def render(self, request: Render, take: Take | None = None) -> Body:
        """A body of the finished analysis; its pieces go to ``take`` instead when that is given.

        Raises like ``analyse``, and what ``take`` raises: the child is killed then.

        Cancelled while it reads weights, it asks the child to stop, and kills it only when it does not: the
        analysis is worth keeping. Nothing else takes long; there it kills.
        """
        async with self._busy:
            if request.what != "weights":
                return await self._bounded(self._render(request, take))
            work = asyncio.ensure_future(self._bounded(self._render(request)))
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                await self._stop(work)
                raise

    async def _stop(self, work: asyncio.Future[Body]) -> None:
        """Waits a little for the end of ``work``, which nobody needs; past that it is cancelled: killed."""
        if self.alive and not work.done():
            self._child.write(frames.pack(frames.STOP))
        with contextlib.suppress(AutodocError, asyncio.TimeoutError):
            await asyncio.wait_for(work, STOP_GRACE_S)

    async def _bounded(self, work: Coroutine[Any, Any, T]) -> T:
        seconds = self._spec.limits.seconds
        try:
            return await asyncio.wait_for(work, seconds)
        except JobFailed:
            raise
        except asyncio.TimeoutError:
            self.kill()
            raise out_of_time(seconds) from None
        except (frames.BrokenStream, asyncio.IncompleteReadError, msgspec.MsgspecError, OSError):
            self.kill()
            raise self._cause(await self._child.exit_status()) from None
        except BaseException:
            # Cancelled in the middle of a frame: the stream cannot be used any more.
            self.kill()
            raise

    async def _analyse(self, on_progress: Callable[[Progress], None]) -> Summary:
        self._child.write(frames.encode(frames.ANALYSE, self._spec))
        while True:
            kind, payload = await self._receive()
            if kind == frames.PROGRESS:
                on_progress(_PROGRESS.decode(payload))
                # A child that floods us must not keep the loop to itself.
                await asyncio.sleep(0)
            elif kind == frames.SUMMARY:
                return _SUMMARY.decode(payload)
            else:
                raise frames.BrokenStream

    async def _render(self, request: Render, take: Take | None = None) -> Body:
        self._child.write(frames.encode(frames.RENDER, request))
        pieces: list[bytes] = []
        size = 0
        while True:
            kind, payload = await self._receive()
            if kind == frames.CHUNK:
                size += len(payload)
                if size > MAX_BODY_BYTES:
                    raise frames.BrokenStream
                if take is None:
                    pieces.append(payload)
                else:
                    await take(payload)
            elif kind == frames.END:
                end = _END.decode(payload)
                if end.size != size:
                    raise frames.BrokenStream
                return Body(tuple(pieces), size, end.raw_size, end.gzip, end.digest)
            else:
                raise frames.BrokenStream

    async def _receive(self) -> tuple[bytes, bytes]:
        """The next frame; log lines are logged, a problem is raised."""
        while True:
            header = await self._child.reader.readexactly(frames.HEADER.size)
            kind, length = frames.unpack_header(header)
            payload = await self._child.reader.readexactly(length)
            if kind == frames.PROBLEM:
                raise JobFailed(_PROBLEM.decode(payload))
            if kind != frames.LOG:
                return kind, payload
            self._logs += 1
            if self._logs > MAX_LOGS:
                raise frames.BrokenStream
            # Escaped: a traceback may quote names from the model, control characters included.
            for line in payload.decode("utf-8", "replace").splitlines():
                log.error("worker: %s", line.encode("unicode_escape").decode("ascii"))

    def _cause(self, status: int | None) -> AutodocError:
        """Why the stream broke, from how the child ended."""
        if status is None or status >= 0:
            return worker_died("no signal")
        if status == -getattr(signal, "SIGXCPU", 0):
            return out_of_time(self._spec.limits.seconds)
        try:
            return worker_died(signal.Signals(-status).name)
        except ValueError:
            return worker_died(f"signal {-status}")
