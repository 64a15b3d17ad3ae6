"""State of one job and whoever follows it."""

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
    """A job. Only the queue changes it, through the methods below."""

    key: tuple[object, ...]
    spec: AnalysisSpec
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    state: str = QUEUED
    phase: str = QUEUED
    done: int = 0
    total: int = 0
    seq: int = 0
    identity: str | None = None
    problem: Problem | None = None
    companions: list[Companion] = field(default_factory=list)
    bodies: dict[str, EncodedBody] = field(default_factory=dict)
    """``graph`` and, once somebody asked for it, ``report``."""
    requesters: int = 1
    """How many POSTs wait for it; it is cancelled when the last of them withdraws."""
    task: asyncio.Task[None] | None = None
    worker: IsolatedAnalysis | None = None
    """The child that still has the analysis."""
    reviving: asyncio.Lock = field(default_factory=asyncio.Lock)
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while values of a constant are read."""
    asking: int = 0
    """Requests under way that need the child. It is not idle before the last of them has ended."""
    used_at: float = 0.0
    worker_used_at: float = 0.0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _finished: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """True in a terminal state."""
        return self.state in TERMINAL

    @property
    def bytes(self) -> int:
        """What its bodies occupy."""
        return sum(body.size for body in self.bodies.values())

    def job(self) -> Job:
        """The wire form of the present state."""
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
        """A child is being started."""
        self.state = RUNNING
        self._move("starting")

    def progress(self, progress: JobProgress) -> None:
        """The child got further."""
        self._move(progress.phase, progress.done, progress.total)

    def _move(self, phase: str, done: int = 0, total: int = 0) -> None:
        self.phase, self.done, self.total = phase, done, total
        self._notify()

    def finish(self) -> None:
        """The graph is there."""
        self.state = DONE
        self._move(DONE, 1, 1)

    def fail(self, error: AutodocError) -> None:
        """There will be no result."""
        self.state = FAILED
        self.problem = problem_of(error, self.spec.path)
        self._notify()

    def cancel(self) -> None:
        """Nobody wants the result any more."""
        self.state = CANCELLED
        self._notify()

    def _notify(self) -> None:
        self.seq += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        if self.over:
            self._finished.set()

    async def watch(self) -> AsyncIterator[Job]:
        """The present state at once, then each change, at most ten a second; ends after the last state."""
        while True:
            changed = self._changed
            job = self.job()
            yield job
            if job.state in TERMINAL:
                return
            await changed.wait()
            # The end is told without delay, what happens before it in steps.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._finished.wait(), MESSAGE_INTERVAL_S)
