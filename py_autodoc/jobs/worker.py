"""The child's side of a job: analyse one model, then answer questions about it until told to end.

The same loop serves a forked child (``zygote``) and, where there is no fork, a process of its own
(``main``). A thread reads requests, so that the end of the stream ends the process at once, whatever
the main thread computes.
"""

from __future__ import annotations

import collections
import contextlib
import gzip
import hashlib
import os
import queue
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Protocol, TypeVar

import msgspec

from py_autodoc import process_limits
from py_autodoc.errors import AnalysisError, AutodocError
from py_autodoc.jobs import ipc_frames
from py_autodoc.jobs.errors import JobStopped, out_of_memory
from py_autodoc.jobs.file_stamps import Companion
from py_autodoc.jobs.ipc_frames import AnalysisSpec
from py_autodoc.jobs.problems import problem_of, unexpected

ProgressCall = Callable[[str, int, int], None]
PROGRESS_INTERVAL_S = 0.1
LOG_BYTES = 1 << 14
GZIP_FROM_BYTES = 1 << 14
GZIP_LEVEL = 1
"""A payload shrinks to a seventh at 110 MB/s: 1–2 % of an analysis, and much saved through a tunnel."""
_READER_STACK_BYTES = 1 << 18
T = TypeVar("T")
TOO_DEEP = AnalysisError("too-deep", "The model is nested too deeply.", "Simplify its subgraphs and types.")


class WorkerSession(Protocol):
    """An analysed model that answers with encoded JSON."""

    identity: str
    companions: list[Companion]

    def graph(self) -> bytes:
        """The viewer's payload."""

    def report(self) -> bytes:
        """The whole report."""

    def sections(self) -> bytes:
        """The report as a document."""

    def batch(self) -> bytes:
        """Whether its batch can be another."""

    def node(self, node: int) -> bytes:
        """Details of one node."""

    def weights(self, request: ipc_frames.BodyRequest, check: Callable[[], None]) -> bytes:
        """Values of one constant. ``check`` is called from time to time; what it raises ends the reading."""

    def file(self, request: ipc_frames.BodyRequest) -> bytes:
        """A file for the reader to keep."""

    def comparison(self, request: ipc_frames.BodyRequest) -> bytes:
        """How this model and another one correspond."""

    def serving(self, request: ipc_frames.BodyRequest) -> bytes:
        """Text generation on a device."""

    def extract(self, request: ipc_frames.BodyRequest, check: Callable[[], None]) -> bytes:
        """What was cut out in a line of JSON, then the sub-model itself. ``check`` as in ``weights``."""


Engine = Callable[[AnalysisSpec, ProgressCall], WorkerSession]


def find_engine(name: str) -> Engine:
    """The engine named ``module:function``."""
    module, _, function = name.partition(":")
    engine: Engine = getattr(import_module(module), function)
    return engine


class Worker:
    """One child: reads from ``source``, writes to ``sink`` (blocking descriptors)."""

    def __init__(self, engine: Engine, source: int, sink: int) -> None:
        self._engine = engine
        self._source = source
        self._sink = sink
        self._requests: queue.SimpleQueue[ipc_frames.BodyRequest] = queue.SimpleQueue()
        self._slow: collections.deque[ipc_frames.BodyRequest] = collections.deque()
        """Those that came while weights were read and wait for their end."""
        self._stopped: set[int] = set()
        """Requests nobody waits for; written by the thread that reads."""
        self._last_progress = 0.0
        self._last_phase = ""

    def serve(self) -> None:
        """Analyses what the first frame asks for, then answers requests for ever."""
        kind, payload = ipc_frames.read_frame(self._source)
        if kind != ipc_frames.ANALYSE:
            raise ipc_frames.BrokenStream
        spec = msgspec.json.decode(payload, type=AnalysisSpec)
        limits = spec.limits
        process_limits.limit_process(limits.memory_bytes, limits.seconds)
        threading.stack_size(_READER_STACK_BYTES)
        threading.Thread(target=self._read_requests, daemon=True).start()
        session = self._guarded(spec, lambda: self._engine(spec, self._progress))
        if session is None:
            return
        summary = ipc_frames.Summary(identity=session.identity, companions=session.companions)
        self._send(ipc_frames.encode(ipc_frames.SUMMARY, summary))
        while True:
            request = self._slow.popleft() if self._slow else self._requests.get()
            self._answer(spec, session, request, partial(self._between, spec, session, request.number))

    def _answer(
        self,
        spec: AnalysisSpec,
        session: WorkerSession,
        request: ipc_frames.BodyRequest,
        check: Callable[[], None],
    ) -> None:
        process_limits.renew_cpu(spec.limits.seconds)
        body = self._guarded(spec, partial(render, session, request, check), request.number)
        self._stopped.discard(request.number)
        if body is not None:
            self._send(ipc_frames.pack(ipc_frames.BEGIN, ipc_frames.NUMBER.pack(request.number)))
            # Weights do not shrink.
            self._send_body(body, packed=not request.bulky)

    def _between(self, spec: AnalysisSpec, session: WorkerSession, number: int) -> None:
        """Called while weights are read for the request ``number``: who asks for little does not wait.

        Raises: JobStopped.
        """
        while number not in self._stopped:
            try:
                request = self._requests.get_nowait()
            except queue.Empty:
                return
            if request.what in ipc_frames.SLOW:
                self._slow.append(request)
            else:
                self._answer(spec, session, request, _nothing)
        raise JobStopped

    def _read_requests(self) -> None:
        try:
            while True:
                kind, payload = ipc_frames.read_frame(self._source)
                if kind == ipc_frames.STOP:
                    self._stopped.add(ipc_frames.NUMBER.unpack(payload)[0])
                    continue
                if kind != ipc_frames.RENDER:
                    break
                self._requests.put(msgspec.json.decode(payload, type=ipc_frames.BodyRequest))
        finally:
            # The server is gone or has no more use for this process; nothing is worth cleaning up.
            os._exit(0)

    def _guarded(self, spec: AnalysisSpec, work: Callable[[], T], number: int | None = None) -> T | None:
        """The result of ``work``, or None after its problem was sent, as the answer to ``number``."""
        try:
            return work()
        except AutodocError as error:
            problem = problem_of(error, spec.path)
        except MemoryError:
            problem = problem_of(out_of_memory(spec.limits.memory_bytes))
        except RecursionError:
            problem = problem_of(TOO_DEEP)
        except Exception:  # noqa: BLE001 - the process boundary: whatever it is, the server must hear of it
            self._send(ipc_frames.pack(ipc_frames.LOG, traceback.format_exc().encode()[-LOG_BYTES:]))
            problem = unexpected()
        if number is not None:
            self._send(ipc_frames.pack(ipc_frames.BEGIN, ipc_frames.NUMBER.pack(number)))
        self._send(ipc_frames.encode(ipc_frames.PROBLEM, problem))
        return None

    def _progress(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if phase == self._last_phase and now - self._last_progress < PROGRESS_INTERVAL_S:
            return
        self._last_phase, self._last_progress = phase, now
        self._send(ipc_frames.encode(ipc_frames.PROGRESS, ipc_frames.JobProgress(phase, done, total)))

    def _send_body(self, body: bytes, packed: bool) -> None:
        pays = packed and len(body) >= GZIP_FROM_BYTES
        sent = gzip.compress(body, GZIP_LEVEL, mtime=0) if pays else body
        for chunk in ipc_frames.chunks(sent):
            self._send(ipc_frames.HEADER.pack(ipc_frames.CHUNK, len(chunk)))
            self._send(chunk)
        digest = hashlib.sha256(body).hexdigest()[:32]
        end = ipc_frames.JobEnd(size=len(sent), raw_size=len(body), gzip=pays, digest=digest)
        self._send(ipc_frames.encode(ipc_frames.END, end))

    def _send(self, data: bytes | memoryview) -> None:
        ipc_frames.write_all(self._sink, data)


def render(session: WorkerSession, request: ipc_frames.BodyRequest, check: Callable[[], None]) -> bytes:
    """The body that was asked for."""
    if request.what == "graph":
        return session.graph()
    if request.what == "report":
        return session.report()
    if request.what == "sections":
        return session.sections()
    if request.what == "batch":
        return session.batch()
    if request.what == "weights":
        return session.weights(request, check)
    if request.what == "file":
        return session.file(request)
    if request.what == "comparison":
        return session.comparison(request)
    if request.what == "serving":
        return session.serving(request)
    if request.what == "extract":
        return session.extract(request, check)
    return session.node(request.node)


def _nothing() -> None:
    """Small answers are not interrupted."""


def run(engine: Engine, source: int, sink: int) -> None:
    """Serves until the stream ends; a stream that breaks is the normal end."""
    with contextlib.suppress(ipc_frames.BrokenStream, OSError):
        Worker(engine, source, sink).serve()


def main(engine: str) -> None:
    """A process of its own, over standard input and output (platforms without fork)."""
    source, sink = os.dup(0), os.dup(1)
    process_limits.silence()
    run(find_engine(engine), source, sink)
