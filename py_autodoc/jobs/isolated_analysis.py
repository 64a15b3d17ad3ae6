"""The server's side of one analysis in a child process: requests, progress, timeouts, errors.

Bodies remain encoded and in pieces: the event loop never decodes, joins or copies them.
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

ChunkReceiver = Callable[[bytes], Awaitable[None]]
"""Receives the pieces of a body as they arrive."""
log = logging.getLogger("py_autodoc.jobs")

MAX_BODY_BYTES = 1 << 29
MAX_LOGS = 16
"""Maximum number of log messages from one child; one that sends more is killed."""
STOP_GRACE_S = 3.0
"""Seconds in which a child must end a cancelled request."""
_GZIP_FORMAT = 31
"""``wbits`` of zlib for a gzip header."""
_BROKEN = (ipc_frames.BrokenStream, asyncio.IncompleteReadError, msgspec.MsgspecError, OSError)
_PROGRESS = msgspec.json.Decoder(JobProgress)
_SUMMARY = msgspec.json.Decoder(Summary)
_END = msgspec.json.Decoder(ipc_frames.JobEnd)
_PROBLEM = msgspec.json.Decoder(Problem)


@dataclass(frozen=True, slots=True)
class EncodedBody:
    """An encoded response in pieces of at most 256 KiB, possibly compressed."""

    pieces: tuple[bytes, ...]
    size: int
    """Bytes of all pieces."""
    raw_size: int
    """Bytes of the uncompressed JSON."""
    gzip: bool
    digest: str
    """Hash of the uncompressed content."""

    def unpacked(self) -> Iterator[bytes]:
        """Yield the uncompressed JSON, in pieces that take less than a millisecond each."""
        if not self.gzip:
            yield from self.pieces
            return
        unpacker = zlib.decompressobj(wbits=_GZIP_FORMAT)
        remaining = self.raw_size
        for piece in self.pieces:
            while piece and remaining > 0:
                out = unpacker.decompress(piece, min(remaining, ipc_frames.CHUNK_BYTES))
                piece = unpacker.unconsumed_tail
                remaining -= len(out)
                if out:
                    yield out


class _PendingBody:
    """A response that is being received."""

    def __init__(self, receiver: ChunkReceiver | None) -> None:
        self.receiver = receiver
        self.pieces: list[bytes] = []
        self.size = 0
        self.done: asyncio.Future[EncodedBody] = asyncio.get_running_loop().create_future()

    async def add(self, payload: bytes) -> None:
        """Add a piece. If the receiver raises an exception, the request fails and the rest is ignored."""
        self.size += len(payload)
        if self.size > MAX_BODY_BYTES:
            raise ipc_frames.BrokenStream
        if self.done.done():
            return
        if self.receiver is None:
            self.pieces.append(payload)
            return
        try:
            await self.receiver(payload)
        except ipc_frames.BrokenStream:
            raise
        except Exception as error:  # noqa: BLE001 - raised by the request
            self.fail(error)

    def end(self, end: ipc_frames.JobEnd) -> None:
        """Complete the body. Raises: BrokenStream: its size is wrong."""
        if end.size != self.size:
            raise ipc_frames.BrokenStream
        if not self.done.done():
            self.done.set_result(
                EncodedBody(tuple(self.pieces), self.size, end.raw_size, end.gzip, end.digest)
            )

    def fail(self, error: BaseException) -> None:
        """End the request with an error."""
        if not self.done.done():
            self.done.set_exception(error)


class IsolatedAnalysis:
    """A child process that analyses ``spec`` and then responds to requests.

    Requests run one at a time. One further request can run while weights are read: the child handles it
    between two pieces. Every violation of the protocol kills the child; errors that it reports do not.
    """

    def __init__(self, child: Child, spec: AnalysisSpec) -> None:
        self._child = child
        self._spec = spec
        self._interactive_lock = asyncio.Lock()
        self._weights_lock = asyncio.Lock()
        self._request_numbers = itertools.count(1)
        self._pending: dict[int, _PendingBody] = {}
        self._listener: asyncio.Task[None] | None = None
        self._log_count = 0
        self._killed = False

    @classmethod
    async def start(cls, launcher: Launcher, spec: AnalysisSpec) -> IsolatedAnalysis:
        """Start a child. It waits for ``analyse``."""
        return cls(await launcher.start(), spec)

    @property
    def alive(self) -> bool:
        """True while the child can receive requests."""
        return self._child.alive and not self._killed

    def kill(self) -> None:
        """Kill the child."""
        self._killed = True
        self._child.kill()

    async def analyse(self, on_progress: Callable[[JobProgress], None]) -> Summary:
        """Run the analysis.

        Raises:
            JobFailed: the child reported a problem.
            WorkerGone: the child ended.
            LimitError: the analysis took too long.
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
            raise await self._exit_error(error) from None
        except BaseException:
            # Cancelled in the middle of a frame: the stream can no longer be used.
            self.kill()
            raise

    async def render(self, request: BodyRequest, receiver: ChunkReceiver | None = None) -> EncodedBody:
        """Request a body of the finished analysis.

        Cancelling this call cancels the request in the child, which is killed only if it does not react in
        time.

        Args:
            request: the body to request.
            receiver: called with each piece; the returned body then has no pieces.

        Raises: JobFailed, WorkerGone, LimitError as ``analyse``, and exceptions of the receiver.
        """
        async with self._weights_lock if request.kind in ipc_frames.INTERRUPTIBLE else self._interactive_lock:
            return await self._request(request, receiver)

    async def _request(self, request: BodyRequest, receiver: ChunkReceiver | None) -> EncodedBody:
        if not self.alive:
            raise await self._exit_error()
        if self._listener is None:
            self._listener = asyncio.get_running_loop().create_task(self._listen())
        number = next(self._request_numbers)
        pending = self._pending[number] = _PendingBody(receiver)
        seconds = self._spec.limits.seconds
        try:
            self._child.write(
                ipc_frames.encode(ipc_frames.RENDER, msgspec.structs.replace(request, number=number))
            )
            return await asyncio.wait_for(asyncio.shield(pending.done), seconds)
        except asyncio.TimeoutError:
            self.kill()
            raise out_of_time(seconds) from None
        except asyncio.CancelledError:
            await self._cancel(number, pending)
            raise
        finally:
            # The rest of the response is ignored.
            pending.done.cancel()

    async def _cancel(self, number: int, pending: _PendingBody) -> None:
        """Cancel a request; kill the child if it does not end the response in time."""
        if self.alive and not pending.done.done():
            self._child.write(ipc_frames.pack(ipc_frames.STOP, ipc_frames.NUMBER.pack(number)))
        try:
            await asyncio.wait_for(asyncio.shield(pending.done), STOP_GRACE_S)
        except asyncio.TimeoutError:
            self.kill()
        except Exception as error:  # noqa: BLE001 - the request was cancelled
            log.debug("cancelled: %s", type(error).__name__)

    async def _listen(self) -> None:
        """Receive responses until the child ends; then fail all pending requests."""
        cause: AutodocError = WorkerGone.stopped_by_server()
        try:
            while True:
                await self._receive_response()
        except _BROKEN as error:
            cause = await self._exit_error(error)
        finally:
            self.kill()
            for pending in self._pending.values():
                pending.fail(cause)

    async def _receive_response(self) -> None:
        """Receive one response. Raises: BrokenStream."""
        kind, payload = await self._receive()
        if kind != ipc_frames.BEGIN or len(payload) != ipc_frames.NUMBER.size:
            raise ipc_frames.BrokenStream
        (number,) = ipc_frames.NUMBER.unpack(payload)
        pending = self._pending.get(number)
        if pending is None:
            raise ipc_frames.BrokenStream
        while True:
            kind, payload = await self._receive()
            if kind == ipc_frames.CHUNK:
                await pending.add(payload)
                continue
            if kind == ipc_frames.END:
                pending.end(_END.decode(payload))
            elif kind == ipc_frames.PROBLEM:
                pending.fail(JobFailed(_PROBLEM.decode(payload)))
            else:
                raise ipc_frames.BrokenStream
            del self._pending[number]
            return

    async def _analyse(self, on_progress: Callable[[JobProgress], None]) -> Summary:
        self._child.write(ipc_frames.encode(ipc_frames.ANALYSE, self._spec))
        while True:
            kind, payload = await self._receive()
            if kind == ipc_frames.PROGRESS:
                on_progress(_PROGRESS.decode(payload))
                # A child that sends many messages must not block the event loop.
                await asyncio.sleep(0)
            elif kind == ipc_frames.SUMMARY:
                return _SUMMARY.decode(payload)
            elif kind == ipc_frames.PROBLEM:
                raise JobFailed(_PROBLEM.decode(payload))
            else:
                raise ipc_frames.BrokenStream

    async def _receive(self) -> tuple[bytes, bytes]:
        """Return the next frame that is not a log message; those are logged."""
        while True:
            header = await self._child.reader.readexactly(ipc_frames.HEADER.size)
            kind, length = ipc_frames.unpack_header(header)
            payload = await self._child.reader.readexactly(length)
            if kind != ipc_frames.LOG:
                return kind, payload
            self._log_count += 1
            if self._log_count > MAX_LOGS:
                raise ipc_frames.BrokenStream
            for line in ipc_frames.log_lines(payload):
                log.error("worker: %s", line)

    async def _exit_error(self, error: Exception | None = None) -> AutodocError:
        """Return the error for a broken stream: the server, another process or the model ended the child."""
        if self._killed:
            return WorkerGone.stopped_by_server()
        if isinstance(error, (ipc_frames.BrokenStream, msgspec.MsgspecError)):
            self.kill()
            return WorkerGone.invalid_response()
        status = await self._child.exit_status()
        self.kill()
        if status is None or status >= 0:
            return WorkerGone.no_response(lost=status is None)
        if status == -getattr(signal, "SIGXCPU", 0):
            return out_of_time(self._spec.limits.seconds)
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return WorkerGone.killed_by(name)
