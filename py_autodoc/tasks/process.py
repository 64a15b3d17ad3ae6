"""The server's side of the process of a task. It ends in every case, with a result or a problem.

A thread starts and reads the process: not every event loop can start one, and a thread reads blocking pipes
on every platform. Results are kept as they were sent, compressed and in pieces.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from py_autodoc import children, temporary
from py_autodoc.errors import AnalysisError
from py_autodoc.jobs import ipc_frames
from py_autodoc.jobs.ipc_frames import JobEnd, JobProgress
from py_autodoc.jobs.isolated_analysis import EncodedBody
from py_autodoc.jobs.problems import problem_of, truncate
from py_autodoc.report.schema import Problem
from py_autodoc.tasks.protocol import MAX_RESULT_BYTES, Order, result_too_large

Outcome = EncodedBody | Problem
"""The encoded ``TaskResult``, or why there is none."""
ProgressCall = Callable[[str, int, int], None]
"""Called with (step, done, total), in another thread."""
GRACE_S = 5.0
"""Seconds in which a process must exit after closing its output, or after it was killed."""
MAX_LOGS = 16
_POLL_S = 0.02
_MAX_STEP = 100
_BROKEN = (ipc_frames.BrokenStream, msgspec.MsgspecError, OSError, ValueError)
_PROGRESS = msgspec.json.Decoder(JobProgress)
_END = msgspec.json.Decoder(JobEnd)
_PROBLEM = msgspec.json.Decoder(Problem)
log = logging.getLogger("py_autodoc.tasks")


async def run_process(order: Order, on_progress: ProgressCall) -> Outcome:
    """Run a task in a process of its own; cancelling this call kills it."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Outcome] = loop.create_future()
    process = TaskProcess(order, on_progress)

    def work() -> None:
        outcome = process.run()
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, ended, outcome)

    try:
        threading.Thread(target=work, name="autodoc-task", daemon=True).start()
    except RuntimeError as fault:
        return _not_started(fault)
    try:
        return await asyncio.shield(ended)
    finally:
        if not ended.done():
            process.stop()
            # A process that holds our pipe from outside its session must not keep the next task waiting.
            await asyncio.wait([ended], timeout=GRACE_S)


class TaskProcess:
    """One process. ``run`` blocks until it has ended; ``stop`` may be called by any thread at any moment."""

    def __init__(self, order: Order, on_progress: ProgressCall) -> None:
        self._order = order
        self._on_progress = on_progress
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._reaping = threading.Lock()
        """Held while the process is reaped: its id may belong to another one afterwards."""

    def stop(self) -> None:
        """Kill the process, now or as soon as it is started."""
        self._stopped = True
        self._kill()

    def run(self) -> Outcome:
        """Start the process and return its outcome. Never raises."""
        try:
            with temporary.scratch() as folder:
                outcome = self._run(msgspec.structs.replace(self._order, folder=str(folder)))
        except Exception as fault:
            log.exception("a task could not be run")
            return _not_started(fault)
        if self._order.files.out:
            # A process that was killed leaves its unfinished file beside the result.
            temporary.sweep(Path(self._order.files.out).parent, now=True)
        return outcome

    def _run(self, order: Order) -> Outcome:
        try:
            process = self._process = start_process()
        except (OSError, ValueError, subprocess.SubprocessError) as fault:
            return _not_started(fault)
        assert process.stdin is not None
        assert process.stdout is not None
        outcome: Outcome | None = None
        exited = True
        try:
            if self._stopped:
                self._kill()
            request = ipc_frames.encode(ipc_frames.ANALYSE, order)
            with contextlib.suppress(OSError):  # it has ended already: what it sent says why
                ipc_frames.write_all(process.stdin.fileno(), request)
            outcome = self._read(process.stdout.fileno())
        except _BROKEN as fault:
            outcome = None if _closed(fault) else _invalid_response()
        finally:
            if outcome is None:
                exited = self._await_exit(process)
            self._reap(process)
        return outcome or _died(process.returncode if exited else None)

    def _read(self, source: int) -> Outcome:
        """Read frames up to the outcome. Raises: BrokenStream, MsgspecError."""
        pieces: list[bytes] = []
        size = logs = 0
        while True:
            kind, payload = ipc_frames.read_frame(source, ipc_frames.CHUNK_BYTES)
            if kind == ipc_frames.CHUNK:
                size += len(payload)
                if size > MAX_RESULT_BYTES:
                    return problem_of(result_too_large(size))
                pieces.append(payload)
            elif kind == ipc_frames.PROGRESS:
                progress = _PROGRESS.decode(payload)
                self._on_progress(progress.phase[:_MAX_STEP], progress.done, progress.total)
            elif kind == ipc_frames.END:
                end = _END.decode(payload)
                if end.size != size:
                    raise ipc_frames.BrokenStream
                if end.raw_size > MAX_RESULT_BYTES:
                    return problem_of(result_too_large(end.raw_size))
                return EncodedBody(tuple(pieces), size, end.raw_size, end.gzip, end.digest)
            elif kind == ipc_frames.PROBLEM:
                return _PROBLEM.decode(payload)
            elif kind == ipc_frames.LOG and logs < MAX_LOGS:
                logs += 1
                for line in ipc_frames.log_lines(payload):
                    log.error("task: %s", line)
            else:
                raise ipc_frames.BrokenStream

    def _await_exit(self, process: subprocess.Popen[bytes]) -> bool:
        """Return whether a process that closed its output exits; it is not reaped where that is possible."""
        if hasattr(os, "waitid"):
            until = time.monotonic() + GRACE_S
            with contextlib.suppress(ChildProcessError):
                while time.monotonic() < until:
                    if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                        return True
                    time.sleep(_POLL_S)
                return False
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _kill(self) -> None:
        """Kill the process and those that it started."""
        process = self._process
        with self._reaping:
            if process is None or process.returncode is not None:
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()

    def _reap(self, process: subprocess.Popen[bytes]) -> None:
        """Kill what is left of it, and take its exit status."""
        self._kill()
        with self._reaping, contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def start_process() -> subprocess.Popen[bytes]:
    """Start the process of a task as the analyses are: away from our folder, our secrets and our session."""
    code = f"from py_autodoc.tasks.child import main; main({os.getpid()})"
    return children.popen(
        children.command(code),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )


def _settle(ended: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not ended.done():
        ended.set_result(outcome)


def _closed(fault: Exception) -> bool:
    """Return whether the stream ended between or within frames, as opposed to a violated protocol."""
    return isinstance(fault, (ipc_frames.ClosedStream, OSError))


def _not_started(fault: Exception) -> Problem:
    reason = getattr(fault, "strerror", None) or type(fault).__name__
    message = f"The process of the task could not be started: {truncate(str(reason))}."
    return problem_of(AnalysisError("task-not-started", message, "Close other programs, and try again."))


def _invalid_response() -> Problem:
    message = "The process of the task sent an invalid response and was stopped."
    return problem_of(AnalysisError("task-died", message, "Please report the model."))


def _died(code: int | None) -> Problem:
    if code is None:
        message = "The process of the task closed its output without a result and was stopped."
        return problem_of(AnalysisError("task-died", message, "Please report the model."))
    if code < 0:
        ending = f"ended by signal {_signal_name(-code)}"
    else:
        ending = f"ended with {code}"
    hint = "It may need more memory."
    return problem_of(AnalysisError("task-died", f"The process of the task {ending}.", hint))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
