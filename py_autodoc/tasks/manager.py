"""Tasks of a server: one runs at a time, others are queued; each can be watched and cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from py_autodoc.errors import AnalysisError, AutodocError, PathError
from py_autodoc.jobs.problems import problem_of
from py_autodoc.report.schema import Problem, Task, TaskResult
from py_autodoc.tasks.child import Order, TaskMessage

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
MAX_TASKS = 32
"""Maximum number of tasks kept."""
_LINE_BYTES = 1 << 26
_MESSAGE_DECODER = msgspec.json.Decoder(TaskMessage)


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
    step: str = ""
    done: int = 0
    total: int = 0
    problem: Problem | None = None
    result: TaskResult | None = None
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def to_wire(self) -> Task:
        return Task(
            id=self.id,
            kind=self.kind,
            state=self.state,
            step=self.step,
            done=self.done,
            total=self.total,
            problem=self.problem,
            result=self.result,
        )


class TaskManager:
    """Starts, watches and cancels tasks.

    Args:
        seconds: time limit of a task.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._records: OrderedDict[str, _Record] = OrderedDict()
        self._run_lock = asyncio.Lock()

    def start(self, order: Order, on_end: Callable[[], None] | None = None) -> Task:
        """Start a task; ``on_end`` is called when it ends for any reason. Raises: TooManyTasks."""
        self._forget()
        record = _Record(secrets.token_urlsafe(12), order.request.kind)
        self._records[record.id] = record
        record.task = asyncio.get_running_loop().create_task(self._run(record, order))
        if on_end is not None:
            record.task.add_done_callback(lambda _: on_end())
        return record.to_wire()

    def get(self, number: str) -> Task:
        """Return its current state. Raises: UnknownTask."""
        return self._record(number).to_wire()

    def cancel(self, number: str) -> None:
        """Cancel it unless it has ended. Raises: UnknownTask."""
        record = self._record(number)
        if record.state in (QUEUED, RUNNING) and record.task is not None:
            record.state = CANCELLED
            record.task.cancel()

    async def close(self) -> None:
        """Cancel all tasks."""
        for record in list(self._records.values()):
            with contextlib.suppress(UnknownTask):
                self.cancel(record.id)
        tasks = [record.task for record in self._records.values() if record.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    def _record(self, number: str) -> _Record:
        record = self._records.get(number)
        if record is None:
            raise UnknownTask
        return record

    def _forget(self) -> None:
        ended = [record.id for record in self._records.values() if record.state not in (QUEUED, RUNNING)]
        for number in ended[: max(0, len(self._records) - MAX_TASKS + 1)]:
            del self._records[number]
        if len(self._records) >= MAX_TASKS:
            raise TooManyTasks

    async def _run(self, record: _Record, order: Order) -> None:
        async with self._run_lock:
            record.state = RUNNING
            try:
                await asyncio.wait_for(self._child(record, order), self._seconds)
            except asyncio.TimeoutError:
                message = f"The task took more than {self._seconds:,.0f} s and was stopped."
                record.problem = problem_of(AnalysisError("task-too-long", message, "Pass fewer samples."))
                record.state = FAILED

    async def _child(self, record: _Record, order: Order) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "py_autodoc.tasks.child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LINE_BYTES,
            start_new_session=True,
        )
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(msgspec.json.encode(order))
            process.stdin.close()
            async for line in process.stdout:
                message = _MESSAGE_DECODER.decode(line)
                record.step, record.done, record.total = (
                    message.step or record.step,
                    message.done,
                    message.total,
                )
                record.result, record.problem = message.result, message.problem
                if message.result is not None or message.problem is not None:
                    break
            await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    _kill(process.pid)
                await process.wait()
        if record.result is None and record.problem is None:
            code = process.returncode or 0
            ending = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with {code}"
            record.problem = problem_of(
                AnalysisError(
                    "task-died", f"The process of the task ended {ending}.", "It may need more memory."
                )
            )
        record.state = DONE if record.result is not None else FAILED


def _kill(pid: int) -> None:
    """Kill the child's whole session, including threads and processes it started."""
    if hasattr(os, "killpg"):
        os.killpg(pid, signal.SIGKILL)
    else:
        os.kill(pid, signal.SIGTERM)
