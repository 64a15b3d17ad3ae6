"""Tasks of a server: one runs at a time, others are queued; each can be watched and cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from py_autodoc.errors import AnalysisError, AutodocError, PathError
from py_autodoc.jobs.isolated_analysis import EncodedBody
from py_autodoc.jobs.memory_budget import Kept, MemoryBudget
from py_autodoc.jobs.problems import internal_problem, problem_of
from py_autodoc.report.schema import Problem, Task
from py_autodoc.tasks.process import run_process
from py_autodoc.tasks.protocol import Order

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
MAX_TASKS = 32
"""Maximum number of tasks kept."""
log = logging.getLogger("py_autodoc.tasks")


class UnknownTask(PathError):
    """The task does not exist, or is no longer kept."""

    def __init__(self) -> None:
        super().__init__("unknown-task-id", "This task does not exist any more.", "Start it again.")


class TooManyTasks(AutodocError):
    """The maximum number of tasks is queued or running."""

    http_status = 429

    def __init__(self) -> None:
        super().__init__("too-many-tasks", "Too many tasks are queued.", "Cancel some, or try again later.")


@dataclass
class _Record:
    id: str
    kind: str
    state: str = QUEUED
    progress: tuple[str, int, int] = ("", 0, 0)
    """Step, done, total; replaced as a whole, by the thread that reads the process."""
    problem: Problem | None = None
    result: EncodedBody | None = None
    """The encoded ``TaskResult``."""
    used_at: float = 0.0
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def ended(self) -> bool:
        return self.state not in (QUEUED, RUNNING)

    def set_progress(self, step: str, done: int, total: int) -> None:
        self.progress = (step or self.progress[0], done, total)

    def to_wire(self) -> Task:
        """Return its state without the result."""
        step, done, total = self.progress
        return Task(
            id=self.id,
            kind=self.kind,
            state=self.state,
            step=step,
            done=done,
            total=total,
            problem=self.problem,
            result=None,
        )


class TaskManager:
    """Starts, watches and cancels tasks.

    Args:
        seconds: time limit of a task.
        budget: bounds the bytes of the results that are kept.
    """

    def __init__(self, seconds: float, budget: MemoryBudget) -> None:
        self._seconds = seconds
        self._records: OrderedDict[str, _Record] = OrderedDict()
        self._run_lock = asyncio.Lock()
        self._budget = budget
        budget.add(self)

    def start(self, order: Order, on_end: Callable[[], None] | None = None) -> Task:
        """Start a task; ``on_end`` is called when it ends for any reason. Raises: TooManyTasks."""
        self._forget()
        record = _Record(secrets.token_urlsafe(12), order.request.kind)
        self._records[record.id] = record
        record.task = asyncio.get_running_loop().create_task(self._run(record, order))
        record.task.add_done_callback(lambda _: _end(record, on_end))
        return record.to_wire()

    def get(self, number: str) -> tuple[Task, EncodedBody | None]:
        """Return its current state, and the result apart. Raises: UnknownTask."""
        record = self._record(number)
        return record.to_wire(), record.result

    def cancel(self, number: str) -> None:
        """Cancel it unless it has ended. Raises: UnknownTask."""
        record = self._record(number)
        if not record.ended and record.task is not None:
            record.state = CANCELLED
            record.task.cancel()

    async def close(self) -> None:
        """Cancel all tasks."""
        for record in list(self._records.values()):
            with contextlib.suppress(UnknownTask):
                self.cancel(record.id)
        tasks = [record.task for record in self._records.values() if record.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    # ------------------------------------------------------------ memory

    @property
    def bytes(self) -> int:
        """Bytes of all results."""
        return sum(record.result.size for record in self._records.values() if record.result is not None)

    def kept(self) -> Iterator[Kept]:
        """Yield the results; a task is forgotten with its result."""
        for record in self._records.values():
            if record.result is not None:
                yield Kept(record.used_at, record.result.size, partial(self._records.pop, record.id, None))

    def _record(self, number: str) -> _Record:
        record = self._records.get(number)
        if record is None:
            raise UnknownTask
        record.used_at = time.monotonic()
        return record

    def _forget(self) -> None:
        ended = [record.id for record in self._records.values() if record.ended]
        for number in ended[: max(0, len(self._records) - MAX_TASKS + 1)]:
            del self._records[number]
        if len(self._records) >= MAX_TASKS:
            raise TooManyTasks

    # ------------------------------------------------------------ running

    async def _run(self, record: _Record, order: Order) -> None:
        async with self._run_lock:
            record.state = RUNNING
            try:
                outcome = await asyncio.wait_for(run_process(order, record.set_progress), self._seconds)
            except asyncio.TimeoutError:
                message = f"The task took more than {self._seconds:,.0f} s and was stopped."
                outcome = problem_of(AnalysisError("task-too-long", message, "Pass fewer samples."))
        if record.ended:  # cancelled while it ended
            return
        if isinstance(outcome, Problem):
            record.problem, record.state = outcome, FAILED
            return
        record.result, record.state, record.used_at = outcome, DONE, time.monotonic()
        self._budget.trim()


def _end(record: _Record, on_end: Callable[[], None] | None) -> None:
    """Give a task its last state, whatever its coroutine came to, and free what it held."""
    assert record.task is not None
    fault = None if record.task.cancelled() else record.task.exception()
    if fault is not None:
        log.error("a task could not be run", exc_info=fault)
    if not record.ended:
        record.state = CANCELLED if record.task.cancelled() else FAILED
        record.problem = None if record.task.cancelled() else internal_problem()
    if on_end is not None:
        try:
            on_end()
        except Exception:
            log.exception("what a task held could not be freed")
