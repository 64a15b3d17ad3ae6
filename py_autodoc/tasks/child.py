"""The process of one task: a request on stdin, JSON lines on stdout.

python -m py_autodoc.tasks.child
"""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from py_autodoc.errors import AutodocError
from py_autodoc.jobs.problems import problem_of
from py_autodoc.report.schema import Problem, TaskRequest, TaskResult
from py_autodoc.tasks.kinds import TaskFiles, run_task


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Sent by the server: the request, and the files it refers to."""

    request: TaskRequest
    files: TaskFiles
    memory_bytes: int


class TaskMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line from the child: progress, or the outcome."""

    step: str = ""
    done: int = 0
    total: int = 0
    result: TaskResult | None = None
    problem: Problem | None = None


def main() -> int:
    """Run the task; return 0 if the outcome was reported."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    # Libraries may print to stdout; the pipe is reserved for our lines.
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit(order.memory_bytes)

    def send(message: TaskMessage) -> None:
        pipe.write(msgspec.json.encode(message) + b"\n")
        pipe.flush()

    def report_progress(step: str, done: int, total: int) -> None:
        send(TaskMessage(step=step, done=done, total=total))

    try:
        result = run_task(order.request, order.files, report_progress)
    except AutodocError as fault:
        send(TaskMessage(problem=problem_of(fault, order.files.model)))
    except MemoryError:
        send(TaskMessage(problem=_no_memory(order.memory_bytes)))
    else:
        send(TaskMessage(result=result))
    return 0


def _limit(memory_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def _no_memory(limit: int) -> Any:
    from py_autodoc.jobs.errors import out_of_memory

    return problem_of(out_of_memory(limit))


if __name__ == "__main__":
    sys.exit(main())
