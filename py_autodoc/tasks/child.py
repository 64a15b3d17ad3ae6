"""The process of one task: an order on stdin, frames on stdout (``tasks.protocol``).

The server keeps stdin open while it needs the task. When it closes, for whatever reason, this process and
those it started end.
"""

from __future__ import annotations

import os
import sys
import traceback

import msgspec

from py_autodoc import process_limits, temporary
from py_autodoc.errors import AutodocError
from py_autodoc.graph.loading.external_data import refuse_hidden_files
from py_autodoc.jobs import ipc_frames
from py_autodoc.jobs.errors import out_of_memory
from py_autodoc.jobs.problems import internal_problem, problem_of
from py_autodoc.outputs import confine
from py_autodoc.report.schema import Problem
from py_autodoc.tasks.kinds import run_task
from py_autodoc.tasks.protocol import MAX_RESULT_BYTES, Order, result_too_large

_LOG_BYTES = 1 << 14


def main(server: int) -> None:
    """Run the task for the process ``server``, and report its outcome."""
    process_limits.die_with_parent(server)
    _, payload = ipc_frames.read_frame(0)
    order = msgspec.json.decode(payload, type=Order)
    process_limits.end_at_eof(0)
    # Libraries may print to stdout; the pipe is reserved for our frames.
    pipe = os.dup(1)
    os.dup2(2, 1)
    process_limits.limit_memory(order.memory_bytes)
    if not order.allow_hidden:
        refuse_hidden_files()
    if order.root:
        confine(order.root)
    if order.folder:
        temporary.use_for_libraries(order.folder)
    for frame in _outcome(order, pipe):
        ipc_frames.write_all(pipe, frame)


def _outcome(order: Order, pipe: int) -> list[bytes | memoryview]:
    """Run the task; return the frames that end it."""

    def report_progress(step: str, done: int, total: int) -> None:
        progress = ipc_frames.JobProgress(step, done, total)
        ipc_frames.write_all(pipe, ipc_frames.encode(ipc_frames.PROGRESS, progress))

    try:
        result = msgspec.json.encode(run_task(order.request, order.files, report_progress))
        if len(result) > MAX_RESULT_BYTES:
            raise result_too_large(len(result))
        return list(ipc_frames.body_frames(result))
    except AutodocError as fault:
        return [_problem(problem_of(fault, order.files.model))]
    except MemoryError:
        setting = "AutodocApp.task_memory_bytes"
        return [_problem(problem_of(out_of_memory(order.memory_bytes, "task", setting)))]
    except Exception:  # noqa: BLE001 - the process boundary: the server must get an outcome
        trace = traceback.format_exc().encode("utf-8", "backslashreplace")[-_LOG_BYTES:]
        return [ipc_frames.pack(ipc_frames.LOG, trace), _problem(internal_problem())]


def _problem(problem: Problem) -> bytes:
    return ipc_frames.encode(ipc_frames.PROBLEM, problem)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid())
