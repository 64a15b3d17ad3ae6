"""One analysis in one child, seen from the server: ask, follow, time out, kill.

Bodies stay encoded bytes in pieces: the event loop never decodes, joins or copies one.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import signal
import zlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import msgspec

from py_autodoc.errors import AutodocError
from py_autodoc.jobs import ipc_frames
from py_autodoc.jobs.errors import JobFailed, WorkerGone, out_of_time
from py_autodoc.jobs.ipc_frames import AnalysisSpec, BodyRequest, JobProgress, Summary
from py_autodoc.jobs.launch import Child, Launcher
from py_autodoc.report.schema import Problem

Take = Callable[[bytes], Awaitable[None]]
log = logging.getLogger("py_autodoc.jobs")

MAX_BODY_BYTES = 1 << 29
MAX_LOGS = 16
"""Log messages taken from one child; one more and it is up to no good."""
STOP_GRACE_S = 3.0
"""How long a child may take to stop what nobody waits for."""
_GZIP_FORMAT = 31
_BROKEN = (ipc_frames.BrokenStream, asyncio.IncompleteReadError, msgspec.MsgspecError, OSError)
_PROGRESS = msgspec.json.Decoder(JobProgress)
_SUMMARY = msgspec.json.Decoder(Summary)
_END = msgspec.json.Decoder(ipc_frames.JobEnd)
_PROBLEM = msgspec.json.Decoder(Problem)


@dataclass(frozen=True, slots=True)
class EncodedBody:
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
                out = unpacker.decompress(piece, min(left, ipc_frames.CHUNK_BYTES))
                piece = unpacker.unconsumed_tail
                left -= len(out)
                if out:
                    yield out


class _Answer:
    """What a request waits for."""

    def __init__(self, take: Take | None) -> None:
        self.take = take
        self.pieces: list[bytes] = []
        self.size = 0
        self.done: asyncio.Future[EncodedBody] = asyncio.get_running_loop().create_future()

    async def add(self, payload: bytes) -> None:
        """Another piece of the body. What ``take`` raises is the answer; the rest is dropped then."""
        self.size += len(payload)
        if self.size > MAX_BODY_BYTES:
            raise ipc_frames.BrokenStream
        if self.done.done():
            return
        if self.take is None:
            self.pieces.append(payload)
            return
        try:
            await self.take(payload)
        except ipc_frames.BrokenStream:
            raise
        except Exception as error:  # noqa: BLE001 - passed on to the one who gave ``take``
            self.fail(error)

    def end(self, end: ipc_frames.JobEnd) -> None:
        """The body is complete."""
        if end.size != self.size:
            raise ipc_frames.BrokenStream
        if not self.done.done():
            self.done.set_result(
                EncodedBody(tuple(self.pieces), self.size, end.raw_size, end.gzip, end.digest)
            )

    def fail(self, error: BaseException) -> None:
        """There will be no body."""
        if not self.done.done():
            self.done.set_exception(error)


class IsolatedAnalysis:
    """A child that analyses ``spec`` and then answers questions about it.

    One question at a time, and one more while weights are read: the child answers it between two pieces.
    Whatever goes wrong between the two processes (an error inside the child is not that) kills the child.
    """

    def __init__(self, child: Child, spec: AnalysisSpec) -> None:
        self._child = child
        self._spec = spec
        self._quick = asyncio.Lock()
        self._slow = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._answers: dict[int, _Answer] = {}
        self._listening: asyncio.Task[None] | None = None
        self._logs = 0
        self._killed = False

    @classmethod
    async def start(cls, launcher: Launcher, spec: AnalysisSpec) -> IsolatedAnalysis:
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

    async def analyse(self, on_progress: Callable[[JobProgress], None]) -> Summary:
        """Runs the analysis.

        Raises:
            JobFailed: the child reported a problem.
            WorkerGone: it ended.
            AutodocError: it ran over a limit.
        """
        seconds = self._spec.limits.seconds
        try:
            return await asyncio.wait_for(self._analyse(on_progress), seconds)
        except JobFailed:
            raise
        except asyncio.TimeoutError:
            self.kill()
            raise out_of_time(seconds) from None
        except _BROKEN as error:
            raise await self._ended(error) from None
        except BaseException:
            # Cancelled in the middle of a frame: the stream cannot be used any more.
            self.kill()
            raise

    async def render(self, request: BodyRequest, take: Take | None = None) -> EncodedBody:
        """A body of the finished analysis; its pieces go to ``take`` instead when that is given.

        Raises like ``analyse``, and what ``take`` raises.

        Cancelled, it asks the child to stop, and kills it only when it does not: the analysis is worth
        keeping.
        """
        async with self._slow if request.what in ipc_frames.SLOW else self._quick:
            return await self._asked(request, take)

    async def _asked(self, request: BodyRequest, take: Take | None) -> EncodedBody:
        if not self.alive:
            raise await self._ended()
        if self._listening is None:
            self._listening = asyncio.get_running_loop().create_task(self._listen())
        number = next(self._numbers)
        answer = self._answers[number] = _Answer(take)
        seconds = self._spec.limits.seconds
        try:
            self._child.write(
                ipc_frames.encode(ipc_frames.RENDER, msgspec.structs.replace(request, number=number))
            )
            return await asyncio.wait_for(asyncio.shield(answer.done), seconds)
        except asyncio.TimeoutError:
            self.kill()
            raise out_of_time(seconds) from None
        except asyncio.CancelledError:
            await self._stop(number, answer)
            raise
        finally:
            # Nobody looks at what comes now.
            answer.done.cancel()

    async def _stop(self, number: int, answer: _Answer) -> None:
        """Waits a little for the end of an answer that nobody needs; past that the child is killed."""
        if self.alive and not answer.done.done():
            self._child.write(ipc_frames.pack(ipc_frames.STOP, ipc_frames.NUMBER.pack(number)))
        try:
            await asyncio.wait_for(asyncio.shield(answer.done), STOP_GRACE_S)
        except asyncio.TimeoutError:
            self.kill()
        except Exception as error:  # noqa: BLE001 - nobody waits for this answer
            log.debug("stopped: %s", type(error).__name__)

    async def _listen(self) -> None:
        """Gives the answers to those who wait for them, until the child ends."""
        cause: AutodocError = WorkerGone.dismissed()
        try:
            while True:
                await self._hear()
        except _BROKEN as error:
            cause = await self._ended(error)
        finally:
            self.kill()
            for answer in self._answers.values():
                answer.fail(cause)

    async def _hear(self) -> None:
        """One answer."""
        kind, payload = await self._receive()
        if kind != ipc_frames.BEGIN or len(payload) != ipc_frames.NUMBER.size:
            raise ipc_frames.BrokenStream
        (number,) = ipc_frames.NUMBER.unpack(payload)
        answer = self._answers.get(number)
        if answer is None:
            raise ipc_frames.BrokenStream
        while True:
            kind, payload = await self._receive()
            if kind == ipc_frames.CHUNK:
                await answer.add(payload)
                continue
            if kind == ipc_frames.END:
                answer.end(_END.decode(payload))
            elif kind == ipc_frames.PROBLEM:
                answer.fail(JobFailed(_PROBLEM.decode(payload)))
            else:
                raise ipc_frames.BrokenStream
            del self._answers[number]
            return

    async def _analyse(self, on_progress: Callable[[JobProgress], None]) -> Summary:
        self._child.write(ipc_frames.encode(ipc_frames.ANALYSE, self._spec))
        while True:
            kind, payload = await self._receive()
            if kind == ipc_frames.PROGRESS:
                on_progress(_PROGRESS.decode(payload))
                # A child that floods us must not keep the loop to itself.
                await asyncio.sleep(0)
            elif kind == ipc_frames.SUMMARY:
                return _SUMMARY.decode(payload)
            elif kind == ipc_frames.PROBLEM:
                raise JobFailed(_PROBLEM.decode(payload))
            else:
                raise ipc_frames.BrokenStream

    async def _receive(self) -> tuple[bytes, bytes]:
        """The next frame; log lines are logged."""
        while True:
            header = await self._child.reader.readexactly(ipc_frames.HEADER.size)
            kind, length = ipc_frames.unpack_header(header)
            payload = await self._child.reader.readexactly(length)
            if kind != ipc_frames.LOG:
                return kind, payload
            self._logs += 1
            if self._logs > MAX_LOGS:
                raise ipc_frames.BrokenStream
            # Escaped: a traceback may quote names from the model, control characters included.
            for line in payload.decode("utf-8", "replace").splitlines():
                log.error("worker: %s", line.encode("unicode_escape").decode("ascii"))

    async def _ended(self, error: Exception | None = None) -> AutodocError:
        """Why the stream broke: whether we ended the child, somebody else did, or the model."""
        if self._killed:
            return WorkerGone.dismissed()
        if isinstance(error, (ipc_frames.BrokenStream, msgspec.MsgspecError)):
            self.kill()
            return WorkerGone.babbling()
        status = await self._child.exit_status()
        self.kill()
        if status is None or status >= 0:
            return WorkerGone.silent(lost=status is None)
        if status == -getattr(signal, "SIGXCPU", 0):
            return out_of_time(self._spec.limits.seconds)
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return WorkerGone.by_signal(name)
