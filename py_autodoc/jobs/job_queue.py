"""Jobs: one for each content and set of options, a few at a time, results kept for a while."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from py_autodoc.errors import AnalysisError, AutodocError, LimitError, OptionError
from py_autodoc.jobs.errors import FileChanged, JobFailed, JobNotDone, QueueFull, WorkerGone
from py_autodoc.jobs.file_stamps import unchanged
from py_autodoc.jobs.ipc_frames import AnalysisSpec, BodyRequest, JobProgress, ranges_of
from py_autodoc.jobs.isolated_analysis import EncodedBody, IsolatedAnalysis, Take
from py_autodoc.jobs.job_record import DONE, JobRecord
from py_autodoc.jobs.job_store import JobStore
from py_autodoc.jobs.launch import Launcher
from py_autodoc.jobs.response_cache import ResponseCache
from py_autodoc.limits import MAX_SIZES, SERVER, Limits
from py_autodoc.report.schema import Job

log = logging.getLogger("py_autodoc.jobs")

SWEEP_S = 15.0
MAX_RANGES = 10_000
"""They must fit one frame."""
_FEWER = "Select fewer nodes, or use `onnx-autodoc extract`."
NOT_RUN = AnalysisError("internal-error", "The analysis could not be run.", "See the server's log.")


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """How much a queue may use. Units: seconds, bytes, counts."""

    limits: Limits = SERVER
    max_running: int = field(default_factory=lambda: min(2, os.cpu_count() or 1))
    max_pending: int = 32
    cache_bytes: int = 256 << 20
    cache_seconds: float = 3600.0
    max_records: int = 256
    cached_weights: int = 256
    """Constants whose values are kept; some 10 KiB each."""
    idle_workers: int = 3
    """Children kept after their analysis to answer questions about nodes; 140 MB each at 50,000 nodes."""
    max_workers: int = 16
    """Children at the same time, whatever they do. A dismissed one that is asked again waits for a place."""
    worker_idle_seconds: float = 1800.0
    launcher_idle_seconds: float = 3600.0


class JobQueue:
    """Single-flight, bounded, cancellable. All methods run on the event loop and never block it."""

    def __init__(self, launcher: Launcher, settings: QueueSettings | None = None, version: str = "") -> None:
        self._launcher = launcher
        self.settings = settings or QueueSettings()
        self._version = version
        self._store = JobStore(
            self.settings.cache_bytes, self.settings.max_records, self.settings.cache_seconds
        )
        self._slots = asyncio.Semaphore(self.settings.max_running)
        self._weights = ResponseCache(self.settings.cached_weights)
        self._sweeper: asyncio.TimerHandle | None = None
        self._used_at = time.monotonic()
        self._tasks: set[asyncio.Task[None]] = set()
        self._freed = asyncio.Event()
        """Set, and replaced, whenever a child was dismissed or became idle."""
        self._reviving: set[str] = set()
        """Jobs whose child is being started again."""
        self._closed = False

    # ------------------------------------------------------------ requests

    async def submit(self, spec: AnalysisSpec) -> Job:
        """The job for ``spec``: one that runs or is done, else a new one. Raises: QueueFull, LimitError."""
        sizes = max(len(spec.bindings), len(spec.input_shapes), *map(len, spec.input_shapes.values()), 0)
        if sizes > MAX_SIZES:
            message = f"{sizes:,} sizes are given, and at most {MAX_SIZES:,} are taken."
            raise LimitError("sizes", sizes, MAX_SIZES, message, "Use names that the model has.")
        now = self._now()
        key = self._key(spec)
        record = self._store.find(key, now)
        if record is not None and record.state == DONE and record.companions:
            loop = asyncio.get_running_loop()
            same = await loop.run_in_executor(None, unchanged, spec.path, spec.stamp, record.companions)
            # Somebody else may have started the renewed analysis meanwhile.
            newer = self._store.find(key, now)
            record = record if same else (newer if newer is not record else None)
        if record is not None:
            record.requesters += 1
            return record.job()
        waiting = sum(not other.over for other in self._store.records) - self.settings.max_running
        if waiting >= self.settings.max_pending:
            raise QueueFull(waiting)
        record = JobRecord(key, spec)
        self._store.add(record, now)
        record.task = asyncio.get_running_loop().create_task(self._run(record))
        self._keep(record.task)
        return record.job()

    def job(self, job_id: str) -> Job:
        """State of a job. Raises ``UnknownJob``."""
        return self._store.get(job_id, self._now()).job()

    def knows(self, job_id: str) -> bool:
        """True when ``job`` would find it."""
        return job_id in self._store

    def watch(self, job_id: str) -> AsyncIterator[Job]:
        """States of a job, the present one first. Raises ``UnknownJob``."""
        return self._store.get(job_id, self._now()).watch()

    def withdraw(self, job_id: str) -> None:
        """One requester loses interest; with the last one the job is cancelled and its child killed."""
        record = self._store.get(job_id, self._now())
        record.requesters -= 1
        if record.requesters <= 0 and not record.over and record.task is not None:
            record.cancel()
            record.task.cancel()

    async def body(self, job_id: str, what: str, node: int = -1) -> EncodedBody:
        """``graph``, ``report``, ``sections``, ``batch`` or ``node`` of a finished job.

        Raises:
            UnknownJob: or its result was dropped.
            JobNotDone: too early, or cancelled.
            JobFailed: with the problem of the job.
            FileChanged: the answer needs the analysis again and the file is another one now.
        """
        record = self._finished(job_id)
        if what in record.bodies:
            return record.bodies[what]
        body = await self._ask(record, BodyRequest(what=what, node=node))
        if what != "node":
            record.bodies[what] = body
            self._trim()
        return body

    async def weights(self, job_id: str, request: BodyRequest) -> EncodedBody:
        """Values of one constant of a finished job; known ones as long as the files are what they were.

        All values (a ``format``) are read each time: what is kept of a constant is small.

        Cancelled, it stops the reading. Raises like ``body``, and the problems of reading.
        """
        record = self._finished(job_id)
        key = (record.spec.path, record.spec.stamp, request.tensor, request.name, request.graph)
        # One after the other: who asks for the same finds it done.
        async with record.reading:
            if request.bulky:
                return await self._ask(record, request)
            known = self._weights.get(key, record.companions)
            loop = asyncio.get_running_loop()
            spec = record.spec
            if known is not None and await loop.run_in_executor(
                None, unchanged, spec.path, spec.stamp, record.companions
            ):
                return known
            body = await self._ask(record, request)
            self._weights.put(key, record.companions, body)
            return body

    async def file(self, job_id: str, format: str, metric: str = "") -> EncodedBody:
        """A finished job's model as a file to keep. Raises like ``body``; OptionError for unknown formats."""
        return await self._ask(self._finished(job_id), BodyRequest(what="file", format=format, metric=metric))

    async def serving(self, job_id: str, device: str, precision: str = "", runtime: str = "") -> EncodedBody:
        """Text generation with a finished job's model on a device. Raises like ``body``, and OptionError."""
        request = BodyRequest(what="serving", device=device, precision=precision, runtime=runtime)
        return await self._ask(self._finished(job_id), request)

    async def comparison(self, job_id: str, other: str) -> EncodedBody:
        """How the model of a finished job and that of another correspond. Raises like ``body``.

        The other need not be finished: the child of the first analyses it itself.
        """
        beside = self._store.get(other, self._now())
        if beside.problem is not None or (beside.over and beside.state != DONE):
            self._finished(other)
        return await self._ask(self._finished(job_id), BodyRequest(what="comparison", other=beside.spec))

    async def extract(self, job_id: str, path: str, nodes: Iterable[int], take: Take) -> None:
        """Some nodes of a finished job's model as a model: a line of JSON, then its bytes, to ``take``.

        Raises like ``body``; OptionError when the job is of another file than ``path``; LimitError when too
        many nodes are asked for; and what ``take`` raises.
        """
        record = self._finished(job_id)
        if record.spec.path != path:
            raise OptionError("other-file", "This analysis belongs to a different file.", "Reload the model.")
        request = BodyRequest(what="extract", ranges=ranges_of(nodes))
        if len(request.ranges) > MAX_RANGES:
            size = len(request.ranges)
            raise LimitError("extract_nodes", size, MAX_RANGES, f"{size:,} separate runs of nodes.", _FEWER)
        await self._ask(record, request, take)

    def data_files(self, job_id: str) -> list[str]:
        """Paths of the files that the weights of a finished job's model are in. Raises like ``body``."""
        record = self._finished(job_id)
        folder = os.path.dirname(record.spec.path)
        return [os.path.join(folder, companion.name) for companion in record.companions]

    def _finished(self, job_id: str) -> JobRecord:
        record = self._store.get(job_id, self._now())
        if record.problem is not None:
            raise JobFailed(record.problem)
        if record.state != DONE:
            raise JobNotDone(record.state)
        return record

    async def _ask(self, record: JobRecord, request: BodyRequest, take: Take | None = None) -> EncodedBody:
        """The answer of the record's child, which is kept for as long; asked once more when it is gone."""
        taken = False

        async def taking(piece: bytes) -> None:
            nonlocal taken
            taken = True
            assert take is not None
            await take(piece)

        record.asking += 1
        try:
            try:
                worker = await self._worker_of(record)
                return await worker.render(request, taking if take else None)
            except WorkerGone:
                # What has been passed on cannot be taken back.
                if taken or self._closed:
                    raise
            worker = await self._worker_of(record)
            return await worker.render(request, take)
        finally:
            record.asking -= 1
            record.worker_used_at = self._now()
            self._trim()
            self._wake()

    async def warm(self) -> None:
        """Prepares for a quick first job."""
        await self._launcher.warm()
        self._schedule_sweep()

    async def close(self) -> None:
        """Ends all children."""
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for record in self._store.records:
            self._dismiss(record)
        await self._launcher.close()

    # ------------------------------------------------------------ running

    async def _run(self, record: JobRecord) -> None:
        try:
            async with self._slots:
                record.begin()
                try:
                    worker = await self._analyse(record, record.progress)
                except WorkerGone as gone:
                    if not gone.lost or self._closed:
                        raise
                    worker = await self._analyse(record, record.progress)
                record.progress(JobProgress("picture", 0, 0))
                record.bodies["graph"] = await worker.render(BodyRequest(what="graph"))
            record.finish()
        except asyncio.CancelledError:
            if not record.over:
                record.cancel()
        except AutodocError as error:
            record.fail(error)
        except Exception:
            # A fault of ours (or no process to be had): the job must not hang in the state running.
            log.exception("a job could not be run")
            record.fail(NOT_RUN)
        finally:
            if record.state != DONE:
                self._dismiss(record)
            self._trim()
            self._schedule_sweep()

    async def _analyse(
        self, record: JobRecord, on_progress: Callable[[JobProgress], None]
    ) -> IsolatedAnalysis:
        """A child that has analysed the record's file. The caller holds a slot."""
        worker = await IsolatedAnalysis.start(self._launcher, record.spec)
        record.worker = worker
        summary = await worker.analyse(on_progress)
        record.identity = summary.identity
        record.companions = summary.companions
        record.worker_used_at = self._now()
        return worker

    async def _worker_of(self, record: JobRecord) -> IsolatedAnalysis:
        """The child that has the record's analysis; a new one when it was dismissed or died."""
        async with record.reviving:
            if record.worker is not None and record.worker.alive:
                return record.worker
            self._dismiss(record)
            loop = asyncio.get_running_loop()
            spec = record.spec
            if not await loop.run_in_executor(None, unchanged, spec.path, spec.stamp, record.companions):
                raise FileChanged(os.path.basename(spec.path))
            await self._place(record)
            try:
                async with self._slots:
                    worker = await self._analyse(record, _ignore)
            finally:
                self._reviving.discard(record.id)
            self._schedule_sweep()
            return worker

    async def _place(self, record: JobRecord) -> None:
        """Waits until the record may have a child again: all that may live may be busy."""
        while True:
            living = {other.id for other in self._store.records if other.worker is not None}
            if len(living | self._reviving) < self.settings.max_workers:
                self._reviving.add(record.id)
                return
            idle = self._idle()
            if idle:
                self._dismiss(idle[-1])
            else:
                await self._freed.wait()

    # ------------------------------------------------------------ housekeeping

    def _key(self, spec: AnalysisSpec) -> tuple[object, ...]:
        return (
            spec.path,
            spec.stamp,
            tuple(sorted(spec.bindings.items())),
            tuple(sorted((name, tuple(shape)) for name, shape in spec.input_shapes.items())),
            spec.assume,
            spec.thresholds_file,
            None if spec.thresholds is None else msgspec.json.encode(spec.thresholds, order="deterministic"),
            spec.read_weights,
            self._version,
        )

    def _now(self) -> float:
        self._used_at = time.monotonic()
        return self._used_at

    def _trim(self) -> None:
        for record in self._store.trim(time.monotonic()):
            self._dismiss(record)
        oldest = time.monotonic() - self.settings.worker_idle_seconds
        for place, record in enumerate(self._idle()):
            if place >= self.settings.idle_workers or record.worker_used_at < oldest:
                self._dismiss(record)

    def _idle(self) -> list[JobRecord]:
        """Those whose child waits for questions, most recently used first."""
        idle = [
            record
            for record in self._store.records
            if record.worker is not None and record.over and not record.asking
        ]
        return sorted(idle, key=lambda record: record.worker_used_at, reverse=True)

    def _dismiss(self, record: JobRecord) -> None:
        worker, record.worker = record.worker, None
        if worker is not None:
            worker.kill()
            self._wake()

    def _wake(self) -> None:
        """A place may be free."""
        freed, self._freed = self._freed, asyncio.Event()
        freed.set()

    def _schedule_sweep(self) -> None:
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(SWEEP_S, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        self._trim()
        if time.monotonic() - self._used_at > self.settings.launcher_idle_seconds:
            self._keep(asyncio.get_running_loop().create_task(self._launcher.rest()))
        else:
            self._schedule_sweep()

    def _keep(self, task: asyncio.Task[None]) -> None:
        # The loop holds tasks weakly.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _ignore(_: JobProgress) -> None:
    """Nobody follows the progress of a repeated analysis."""
