"""The child's side of a job: analyse one model, then respond to requests until the stream ends.

The same loop runs in a forked child (``zygote``) and, on platforms without fork, in a new interpreter
(``main``). A thread reads the requests, so that the process exits as soon as the stream ends, whatever the
main thread computes.
"""

from __future__ import annotations

import collections
import contextlib
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
from py_autodoc.jobs.problems import internal_problem, problem_of

ProgressCall = Callable[[str, int, int], None]
PROGRESS_INTERVAL_S = 0.1
LOG_BYTES = 1 << 14
"""Maximum bytes of a traceback that is sent to the server."""
_READER_STACK_BYTES = 1 << 18
T = TypeVar("T")
TOO_DEEP = AnalysisError("too-deep", "The model is nested too deeply.", "Simplify its subgraphs and types.")


class WorkerSession(Protocol):
    """An analysed model. Its methods return encoded JSON."""

    identity: str
    companions: list[Companion]
    has_all_companions: bool

    def graph(self) -> bytes:
        """Return the payload of the viewer."""

    def report(self) -> bytes:
        """Return the report."""

    def sections(self) -> bytes:
        """Return the report as sections of a document."""

    def batch(self) -> bytes:
        """Return whether the batch size can be changed."""

    def node(self, node: int) -> bytes:
        """Return the details of a node."""

    def weights(self, request: ipc_frames.BodyRequest, check: Callable[[], None]) -> bytes:
        """Return values of a constant. ``check`` is called between pieces and can raise to stop reading."""

    def file(self, request: ipc_frames.BodyRequest) -> bytes:
        """Return a document or image as a file."""

    def comparison(self, request: ipc_frames.BodyRequest) -> bytes:
        """Return the alignment with another model."""

    def serving(self, request: ipc_frames.BodyRequest) -> bytes:
        """Return estimates of text generation on a device."""

    def extract(self, request: ipc_frames.BodyRequest, check: Callable[[], None]) -> bytes:
        """Return a line of JSON about the extracted nodes, then the model; ``check`` as for ``weights``."""


Engine = Callable[[AnalysisSpec, ProgressCall], WorkerSession]


def find_engine(name: str) -> Engine:
    """Import the engine named ``module:function``."""
    module, _, function = name.partition(":")
    engine: Engine = getattr(import_module(module), function)
    return engine


class Worker:
    """The main loop of a child: reads from ``source`` and writes to ``sink``, both blocking descriptors."""

    def __init__(self, engine: Engine, source: int, sink: int) -> None:
        self._engine = engine
        self._source = source
        self._sink = sink
        self._requests: queue.SimpleQueue[ipc_frames.BodyRequest] = queue.SimpleQueue()
        self._deferred: collections.deque[ipc_frames.BodyRequest] = collections.deque()
        """Requests to read weights that arrived while others were read."""
        self._cancelled: set[int] = set()
        """Numbers of cancelled requests; added by the thread that reads."""
        self._last_progress = 0.0
        self._last_phase = ""

    def serve(self) -> None:
        """Run the analysis in the first frame, then respond to requests until the process exits."""
        kind, payload = ipc_frames.read_frame(self._source)
        if kind != ipc_frames.ANALYSE:
            raise ipc_frames.BrokenStream
        spec = msgspec.json.decode(payload, type=AnalysisSpec)
        limits = spec.limits
        process_limits.limit_process(limits.memory_bytes, limits.seconds)
        threading.stack_size(_READER_STACK_BYTES)
        threading.Thread(target=self._read_requests, daemon=True).start()
        session = self._run_guarded(spec, lambda: self._engine(spec, self._progress))
        if session is None:
            return
        summary = ipc_frames.Summary(
            identity=session.identity,
            companions=session.companions,
            has_all_companions=session.has_all_companions,
        )
        self._send(ipc_frames.encode(ipc_frames.SUMMARY, summary))
        while True:
            request = self._deferred.popleft() if self._deferred else self._requests.get()
            self._respond(
                spec, session, request, partial(self._handle_pending, spec, session, request.number)
            )

    def _respond(
        self,
        spec: AnalysisSpec,
        session: WorkerSession,
        request: ipc_frames.BodyRequest,
        check: Callable[[], None],
    ) -> None:
        process_limits.renew_cpu(spec.limits.seconds)
        body = self._run_guarded(spec, partial(render, session, request, check), request.number)
        self._cancelled.discard(request.number)
        if body is not None:
            self._send(ipc_frames.pack(ipc_frames.BEGIN, ipc_frames.NUMBER.pack(request.number)))
            # Weights are hardly compressible.
            for frame in ipc_frames.body_frames(body, compressible=not request.bulky):
                self._send(frame)

    def _handle_pending(self, spec: AnalysisSpec, session: WorkerSession, number: int) -> None:
        """Respond to short requests while weights are read for the request ``number``.

        Raises: JobStopped: this request was cancelled.
        """
        while number not in self._cancelled:
            try:
                request = self._requests.get_nowait()
            except queue.Empty:
                return
            if request.kind in ipc_frames.INTERRUPTIBLE:
                self._deferred.append(request)
            else:
                self._respond(spec, session, request, _no_check)
        raise JobStopped

    def _read_requests(self) -> None:
        try:
            while True:
                kind, payload = ipc_frames.read_frame(self._source)
                if kind == ipc_frames.STOP:
                    self._cancelled.add(ipc_frames.NUMBER.unpack(payload)[0])
                    continue
                if kind != ipc_frames.RENDER:
                    break
                self._requests.put(msgspec.json.decode(payload, type=ipc_frames.BodyRequest))
        finally:
            # The server has ended or no longer needs this process; there is nothing to clean up.
            os._exit(0)

    def _run_guarded(self, spec: AnalysisSpec, work: Callable[[], T], number: int | None = None) -> T | None:
        """Return the result of ``work``; None if it failed and the problem of request ``number`` was sent."""
        try:
            return work()
        except AutodocError as error:
            problem = problem_of(error, spec.path)
        except MemoryError:
            problem = problem_of(out_of_memory(spec.limits.memory_bytes))
        except RecursionError:
            problem = problem_of(TOO_DEEP)
        except Exception:  # noqa: BLE001 - the process boundary: the server must get a response
            self._send(ipc_frames.pack(ipc_frames.LOG, traceback.format_exc().encode()[-LOG_BYTES:]))
            problem = internal_problem()
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

    def _send(self, data: bytes | memoryview) -> None:
        ipc_frames.write_all(self._sink, data)


def render(session: WorkerSession, request: ipc_frames.BodyRequest, check: Callable[[], None]) -> bytes:
    """Return the requested body."""
    if request.kind == "graph":
        return session.graph()
    if request.kind == "report":
        return session.report()
    if request.kind == "sections":
        return session.sections()
    if request.kind == "batch":
        return session.batch()
    if request.kind == "weights":
        return session.weights(request, check)
    if request.kind == "file":
        return session.file(request)
    if request.kind == "comparison":
        return session.comparison(request)
    if request.kind == "serving":
        return session.serving(request)
    if request.kind == "extract":
        return session.extract(request, check)
    return session.node(request.node)


def _no_check() -> None:
    """Do nothing: short requests are not interrupted."""


def run(engine: Engine, source: int, sink: int) -> None:
    """Serve requests until the stream ends, which is not an error."""
    with contextlib.suppress(ipc_frames.BrokenStream, OSError):
        Worker(engine, source, sink).serve()


def main(engine: str) -> None:
    """Run a child over standard input and output, for platforms without fork."""
    source, sink = os.dup(0), os.dup(1)
    process_limits.silence()
    run(find_engine(engine), source, sink)
