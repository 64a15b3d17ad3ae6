"""The queue of analyses: one job per content and options, limited concurrency, cached results."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from py_autodoc.errors import AnalysisError, AutodocError, LimitError, OptionError
from py_autodoc.jobs.errors import FileChanged, JobFailed, JobNotDone, QueueFull, WorkerGone
from py_autodoc.jobs.file_stamps import unchanged
from py_autodoc.jobs.ipc_frames import NO_THRESHOLDS, AnalysisSpec, BodyRequest, JobProgress, to_ranges
from py_autodoc.jobs.isolated_analysis import ChunkReceiver, EncodedBody, IsolatedAnalysis
from py_autodoc.jobs.job_record import DONE, JobRecord
from py_autodoc.jobs.job_store import JobStore
from py_autodoc.jobs.launch import Launcher
from py_autodoc.jobs.memory_budget import MemoryBudget
from py_autodoc.jobs.response_cache import ResponseCache
from py_autodoc.limits import MAX_SIZES, SERVER, Limits
from py_autodoc.report.schema import Job

log = logging.getLogger("py_autodoc.jobs")

SWEEP_S = 15.0
"""Seconds between two removals of idle jobs and children."""
MAX_RANGES = 10_000
"""Maximum number of ranges of nodes in a request: it must fit into one frame."""
_FEWER = "Select fewer nodes, or use `onnx-autodoc extract`."
NOT_RUN = AnalysisError("internal-error", "The analysis could not be run.", "See the server's log.")


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Limits of a queue, in seconds, bytes and counts."""

    limits: Limits = SERVER
    max_running: int = field(default_factory=lambda: min(2, os.cpu_count() or 1))
    max_pending: int = 32
    cache_bytes: int = 256 << 20
    """Maximum memory for results and requests of all kinds that are kept."""
    cache_seconds: float = 3600.0
    max_records: int = 256
    cached_weights: int = 256
    """Maximum number of constants whose values are cached, with about 10 KiB each."""
    idle_workers: int = 3
    """Children kept after their analysis for requests about nodes; 140 MB each at 50,000 nodes."""
    max_workers: int = 16
    """Maximum number of children. Requests that need another child wait until one ends or is idle."""
    worker_idle_seconds: float = 1800.0
    launcher_idle_seconds: float = 3600.0


class JobQueue:
    """A queue of analyses. Its methods run on the event loop and never block it.

    Equal requests share one job, which is cancelled when all of them are withdrawn.
    """

    def __init__(self, launcher: Launcher, settings: QueueSettings | None = None, version: str = "") -> None:
        self._launcher = launcher
        self.settings = settings or QueueSettings()
        self._version = version
        self._store = JobStore(self.settings.max_records, self.settings.cache_seconds, self._stop_worker)
        self.budget = MemoryBudget(self.settings.cache_bytes)
        """Limits the memory of all results; other queues of the server add theirs."""
        self.budget.add(self._store)
        self._slots = asyncio.Semaphore(self.settings.max_running)
        self._weights = ResponseCache(self.settings.cached_weights)
        self.budget.add(self._weights)
        self._sweeper: asyncio.TimerHandle | None = None
        self._used_at = time.monotonic()
        self._tasks: set[asyncio.Task[None]] = set()
        self._worker_freed = asyncio.Event()
        """Set, and replaced by a new event, when a child was stopped or became idle."""
        self._restarting: set[str] = set()
        """Ids of jobs whose child is being restarted."""
        self._closed = False

    # ------------------------------------------------------------ requests

    async def submit(self, spec: AnalysisSpec) -> Job:
        """Return the job for ``spec``: one that is running or done, else a new one.

        Raises: QueueFull, or LimitError: too many dimensions are given.
        """
        sizes = max(len(spec.bindings), len(spec.input_shapes), *map(len, spec.input_shapes.values()), 0)
        if sizes > MAX_SIZES:
            message = f"{sizes:,} dimensions are given; the maximum is {MAX_SIZES:,}."
            raise LimitError("sizes", sizes, MAX_SIZES, message, "Pass only names that the model has.")
        now = self._now()
        key = self._key(spec)
        record = self._store.find(key, now)
        if record is not None and record.state == DONE and not record.has_all_companions:
            record = None
        if record is not None and record.state == DONE and record.companions:
            loop = asyncio.get_running_loop()
            same = await loop.run_in_executor(None, unchanged, spec.path, spec.stamp, record.companions)
            # Another request may have started a new analysis in the meantime.
            newer = self._store.find(key, now)
            record = record if same else (newer if newer is not record else None)
        if record is not None:
            record.requesters += 1
            return record.job()
        waiting = sum(not other.ended for other in self._store.records) - self.settings.max_running
        if waiting >= self.settings.max_pending:
            raise QueueFull(waiting)
        record = JobRecord(key, spec, _options_bytes(spec))
        self._store.add(record, now)
        record.task = asyncio.get_running_loop().create_task(self._run(record))
        self._hold_task(record.task)
        return record.job()

    def job(self, job_id: str) -> Job:
        """Return the state of a job. Raises: UnknownJob."""
        return self._store.get(job_id, self._now()).job()

    def has_job(self, job_id: str) -> bool:
        """Return whether there is a job with this id."""
        return job_id in self._store

    def watch(self, job_id: str) -> AsyncIterator[Job]:
        """Yield the current and all further states of a job. Raises: UnknownJob."""
        return self._store.get(job_id, self._now()).watch()

    def withdraw(self, job_id: str) -> None:
        """Withdraw one request. With the last one, the job is cancelled and its child killed.

        Raises: UnknownJob.
        """
        record = self._store.get(job_id, self._now())
        record.requesters -= 1
        if record.requesters <= 0 and not record.ended and record.task is not None:
            record.cancel()
            record.task.cancel()

    async def body(self, job_id: str, kind: str, node: int = -1) -> EncodedBody:
        """Return the ``graph``, ``report``, ``sections``, ``batch`` or ``node`` of a finished job.

        Raises:
            UnknownJob: there is no such job, or its result was removed.
            JobNotDone: the job is not done, or was cancelled.
            JobFailed: the job failed, with its problem.
            FileChanged: the analysis must be repeated, but the file has changed.
            WorkerGone: the child ended twice.
        """
        record = self._finished(job_id)
        if kind in record.bodies:
            return record.bodies[kind]
        body = await self._request_body(record, BodyRequest(kind=kind, node=node))
        if kind != "node":
            record.bodies[kind] = body
            self._trim()
        return body

    async def weights(self, job_id: str, request: BodyRequest) -> EncodedBody:
        """Return values of one constant, from the cache if the files have not changed.

        Only summaries are cached; all values (``format="npy"``) are read each time. Cancelling this call
        stops the reading.

        Raises: as ``body``; JobFailed also if the constant cannot be read.
        """
        record = self._finished(job_id)
        key = (record.spec.path, record.spec.stamp, request.tensor, request.name, request.graph)
        # One request at a time: the next one for the same constant finds it in the cache.
        async with record.weights_lock:
            if request.bulky or not record.has_all_companions:
                return await self._request_body(record, request)
            known = self._weights.get(key, record.companions)
            loop = asyncio.get_running_loop()
            spec = record.spec
            if known is not None and await loop.run_in_executor(
                None, unchanged, spec.path, spec.stamp, record.companions
            ):
                return known
            body = await self._request_body(record, request)
            self._weights.put(key, record.companions, body)
            self.budget.trim()
            return body

    async def file(self, job_id: str, format: str, metric: str = "") -> EncodedBody:
        """Return the graph, model card or other document of a finished job as a file.

        Raises: as ``body``; JobFailed also for an unknown format.
        """
        return await self._request_body(
            self._finished(job_id), BodyRequest(kind="file", format=format, metric=metric)
        )

    async def serving(self, job_id: str, device: str, precision: str = "", runtime: str = "") -> EncodedBody:
        """Return estimates of text generation on a device.

        Raises: as ``body``; JobFailed also for an unknown device, precision or runtime.
        """
        request = BodyRequest(kind="serving", device=device, precision=precision, runtime=runtime)
        return await self._request_body(self._finished(job_id), request)

    async def comparison(self, job_id: str, other: str) -> EncodedBody:
        """Return the alignment of the models of two jobs.

        Only the first job must be done: its child also analyses the other model. Raises: as ``body``.
        """
        other_record = self._store.get(other, self._now())
        if other_record.problem is not None or (other_record.ended and other_record.state != DONE):
            self._finished(other)
        return await self._request_body(
            self._finished(job_id), BodyRequest(kind="comparison", other=other_record.spec)
        )

    async def extract(
        self, job_id: str, path: str, nodes: Iterable[int], receiver: ChunkReceiver, target: str = ""
    ) -> None:
        """Extract nodes of a finished job as a model; ``receiver`` gets a line of JSON, then its bytes.

        ``target`` is the file that the result replaces, if any.

        Raises: as ``body`` and the receiver; OptionError: the job is for another file than ``path``;
            LimitError: the nodes form too many ranges; JobFailed also if ``target`` belongs to the model.
        """
        record = self._finished(job_id)
        if record.spec.path != path:
            raise OptionError("other-file", "This analysis belongs to a different file.", "Reload the model.")
        request = BodyRequest(kind="extract", target=target, ranges=to_ranges(nodes))
        if len(request.ranges) > MAX_RANGES:
            size = len(request.ranges)
            message = f"The selection has {size:,} separate ranges of nodes."
            raise LimitError("extract_nodes", size, MAX_RANGES, message, _FEWER)
        await self._request_body(record, request, receiver)

    def _finished(self, job_id: str) -> JobRecord:
        record = self._store.get(job_id, self._now())
        if record.problem is not None:
            raise JobFailed(record.problem)
        if record.state != DONE:
            raise JobNotDone(record.state)
        return record

    async def _request_body(
        self, record: JobRecord, request: BodyRequest, receiver: ChunkReceiver | None = None
    ) -> EncodedBody:
        """Return a response of the job's child. If the child ends, try once more with a new one.

        The child is not stopped during the request.
        """
        forwarded = False

        async def forward(piece: bytes) -> None:
            nonlocal forwarded
            forwarded = True
            assert receiver is not None
            await receiver(piece)

        record.active_requests += 1
        try:
            try:
                worker = await self._worker_of(record)
                return await worker.render(request, forward if receiver else None)
            except WorkerGone:
                # Pieces that were passed on cannot be withdrawn.
                if forwarded or self._closed:
                    raise
            worker = await self._worker_of(record)
            return await worker.render(request, receiver)
        finally:
            record.active_requests -= 1
            record.worker_used_at = self._now()
            self._trim()
            self._signal_worker_freed()

    async def warm(self) -> None:
        """Prepare the launcher, so that the first job starts quickly."""
        await self._launcher.warm()
        self._schedule_sweep()

    async def close(self) -> None:
        """Cancel all jobs and stop all children."""
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for record in self._store.records:
            self._stop_worker(record)
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
                record.bodies["graph"] = await worker.render(BodyRequest(kind="graph"))
            record.finish()
        except asyncio.CancelledError:
            if not record.ended:
                record.cancel()
        except AutodocError as error:
            record.fail(error)
        except Exception:
            # A bug, or no process could be started: the job must not remain in the state running.
            log.exception("a job could not be run")
            record.fail(NOT_RUN)
        finally:
            if record.state != DONE:
                self._stop_worker(record)
            self._trim()
            self._schedule_sweep()

    async def _analyse(
        self, record: JobRecord, on_progress: Callable[[JobProgress], None]
    ) -> IsolatedAnalysis:
        """Analyse the file of a job in a new child and return the child. The caller holds a slot."""
        worker = await IsolatedAnalysis.start(self._launcher, record.spec)
        record.worker = worker
        summary = await worker.analyse(on_progress)
        record.identity = summary.identity
        record.companions = summary.companions
        record.has_all_companions = summary.has_all_companions
        record.worker_used_at = self._now()
        return worker

    async def _worker_of(self, record: JobRecord) -> IsolatedAnalysis:
        """Return the child with the analysis of a job; a new one if it was stopped or has ended.

        Raises: FileChanged, and the errors of ``IsolatedAnalysis.analyse``.
        """
        async with record.worker_lock:
            if record.worker is not None and record.worker.alive:
                return record.worker
            self._stop_worker(record)
            loop = asyncio.get_running_loop()
            spec = record.spec
            if not await loop.run_in_executor(None, unchanged, spec.path, spec.stamp, record.companions):
                raise FileChanged(os.path.basename(spec.path))
            await self._wait_for_worker_slot(record)
            try:
                async with self._slots:
                    worker = await self._analyse(record, _ignore)
            finally:
                self._restarting.discard(record.id)
            self._schedule_sweep()
            return worker

    async def _wait_for_worker_slot(self, record: JobRecord) -> None:
        """Wait until another child may be started, and stop an idle one if necessary."""
        while True:
            active = {other.id for other in self._store.records if other.worker is not None}
            if len(active | self._restarting) < self.settings.max_workers:
                self._restarting.add(record.id)
                return
            idle = self._idle()
            if idle:
                self._stop_worker(idle[-1])
            else:
                await self._worker_freed.wait()

    # ------------------------------------------------------------ housekeeping

    def _key(self, spec: AnalysisSpec) -> tuple[object, ...]:
        return (
            spec.path,
            spec.stamp,
            tuple(sorted(spec.bindings.items())),
            tuple(sorted((name, tuple(shape)) for name, shape in spec.input_shapes.items())),
            spec.assume,
            spec.thresholds_file,
            hashlib.sha256(spec.thresholds).digest(),
            spec.read_weights,
            spec.allow_hidden,
            self._version,
        )

    def _now(self) -> float:
        self._used_at = time.monotonic()
        return self._used_at

    def _trim(self) -> None:
        self._store.trim(time.monotonic())
        self.budget.trim()
        oldest = time.monotonic() - self.settings.worker_idle_seconds
        for rank, record in enumerate(self._idle()):
            if rank >= self.settings.idle_workers or record.worker_used_at < oldest:
                self._stop_worker(record)

    def _idle(self) -> list[JobRecord]:
        """Return the jobs with an idle child, most recently used first."""
        idle = [
            record
            for record in self._store.records
            if record.worker is not None and record.ended and not record.active_requests
        ]
        return sorted(idle, key=lambda record: record.worker_used_at, reverse=True)

    def _stop_worker(self, record: JobRecord) -> None:
        worker, record.worker = record.worker, None
        if worker is not None:
            worker.kill()
            self._signal_worker_freed()

    def _signal_worker_freed(self) -> None:
        """Wake the requests that wait for a child."""
        freed, self._worker_freed = self._worker_freed, asyncio.Event()
        freed.set()

    def _schedule_sweep(self) -> None:
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(SWEEP_S, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        self._trim()
        if time.monotonic() - self._used_at > self.settings.launcher_idle_seconds:
            self._hold_task(asyncio.get_running_loop().create_task(self._launcher.release()))
        else:
            self._schedule_sweep()

    def _hold_task(self, task: asyncio.Task[None]) -> None:
        # The event loop only holds weak references to tasks.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _options_bytes(spec: AnalysisSpec) -> int:
    sizes = [given for given in (spec.bindings, spec.input_shapes) if given]
    thresholds = 0 if spec.thresholds == NO_THRESHOLDS else len(bytes(spec.thresholds))
    return thresholds + (len(msgspec.json.encode(sizes)) if sizes else 0)


def _ignore(_: JobProgress) -> None:
    """The progress of a repeated analysis is not reported."""
