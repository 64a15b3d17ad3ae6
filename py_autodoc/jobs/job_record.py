"""State of one job, and notification of its changes."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from py_autodoc.errors import AutodocError
from py_autodoc.jobs.file_stamps import Companion
from py_autodoc.jobs.ipc_frames import AnalysisSpec, JobProgress
from py_autodoc.jobs.isolated_analysis import EncodedBody, IsolatedAnalysis
from py_autodoc.jobs.problems import problem_of
from py_autodoc.report.schema import Job, Problem

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
TERMINAL = frozenset({DONE, FAILED, CANCELLED})
MESSAGE_INTERVAL_S = 0.1


@dataclass(eq=False)
class JobRecord:
    """A job. Only ``JobQueue`` changes its state, with the methods below."""

    key: tuple[object, ...]
    spec: AnalysisSpec
    options_bytes: int = 0
    """Bytes of what the client sent with the path: sizes and thresholds."""
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    state: str = QUEUED
    phase: str = QUEUED
    done: int = 0
    total: int = 0
    seq: int = 0
    identity: str | None = None
    problem: Problem | None = None
    companions: list[Companion] = field(default_factory=list)
    has_all_companions: bool = True
    """As ``Summary.has_all_companions``."""
    bodies: dict[str, EncodedBody] = field(default_factory=dict)
    """Encoded results by kind: ``graph`` and all others that were requested, except those of single nodes."""
    requesters: int = 1
    """Number of clients that submitted it. It is cancelled when the last one withdraws."""
    task: asyncio.Task[None] | None = None
    worker: IsolatedAnalysis | None = None
    """The child that holds the analysis."""
    worker_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a stopped child is replaced."""
    weights_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while values of a constant are read."""
    active_requests: int = 0
    """Number of requests that currently use the child. It is idle if there are none."""
    used_at: float = 0.0
    """Time of the last access, by ``time.monotonic``."""
    worker_used_at: float = 0.0
    """Time of the last request to the child, by ``time.monotonic``."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _finished: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        """True if the job is done, failed or cancelled."""
        return self.state in TERMINAL

    @property
    def bytes(self) -> int:
        """Bytes of all encoded bodies, and of the request's options."""
        return self.options_bytes + sum(body.size for body in self.bodies.values())

    def job(self) -> Job:
        """Return the wire form of the current state."""
        return Job(
            id=self.id,
            state=self.state,
            phase=self.phase,
            done=self.done,
            total=self.total,
            seq=self.seq,
            identity=self.identity,
            problem=self.problem,
        )

    def begin(self) -> None:
        """Change to running: a child is being started."""
        self.state = RUNNING
        self._set_phase("starting")

    def progress(self, progress: JobProgress) -> None:
        """Set the phase and progress that the child reported."""
        self._set_phase(progress.phase, progress.done, progress.total)

    def _set_phase(self, phase: str, done: int = 0, total: int = 0) -> None:
        self.phase, self.done, self.total = phase, done, total
        self._notify()

    def finish(self) -> None:
        """Change to done: the graph is available."""
        self.state = DONE
        self._set_phase(DONE, 1, 1)

    def fail(self, error: AutodocError) -> None:
        """Change to failed, with the problem for an error."""
        self.state = FAILED
        self.problem = problem_of(error, self.spec.path)
        self._notify()

    def cancel(self) -> None:
        """Change to cancelled."""
        self.state = CANCELLED
        self._notify()

    def _notify(self) -> None:
        self.seq += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        if self.ended:
            self._finished.set()

    async def watch(self) -> AsyncIterator[Job]:
        """Yield the current state, then changes, at most ten per second, up to the final state."""
        while True:
            changed = self._changed
            job = self.job()
            yield job
            if job.state in TERMINAL:
                return
            await changed.wait()
            # The final state is not delayed; the changes before it are combined.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._finished.wait(), MESSAGE_INTERVAL_S)
