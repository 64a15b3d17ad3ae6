"""Queues with real child processes and a fake engine, and waiting with a deadline."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from py_autodoc.jobs.file_stamps import Stamp
from py_autodoc.jobs.ipc_frames import AnalysisSpec
from py_autodoc.jobs.job_queue import JobQueue, QueueSettings
from py_autodoc.jobs.launch import ForkLauncher, Launcher, SpawnLauncher
from py_autodoc.limits import SERVER, Limits
from py_autodoc.report.schema import Job

HERE = str(Path(__file__).parent)
LIMITS = replace(SERVER, memory_bytes=1 << 30, seconds=60.0)
FAKE = "fakes:open_session"
KINDS = {"fork": ForkLauncher, "spawn": SpawnLauncher}


def fake_launcher(kind: str = "fork") -> Launcher:
    return KINDS[kind](FAKE, [HERE])


def coroutine(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Runs a coroutine test on a loop of its own, with a deadline instead of a hanging suite."""

    @functools.wraps(test)
    def run(*args: object, **kwargs: object) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 120))

    return run


@asynccontextmanager
async def a_queue(kind: str = "fork", **settings: object) -> AsyncIterator[JobQueue]:
    queue = JobQueue(fake_launcher(kind), QueueSettings(**{"limits": LIMITS, "max_running": 2, **settings}))
    try:
        yield queue
    finally:
        await queue.close()


def make_spec(
    folder: Path, text: str, name: str = "m.onnx", limits: Limits = LIMITS, **options: object
) -> AnalysisSpec:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return AnalysisSpec(path=str(path), stamp=Stamp.of(os.stat(path)), limits=limits, **options)


async def last_state(queue: JobQueue, job_id: str) -> Job:
    async for job in queue.watch(job_id):
        last = job
    return last


async def outcome(queue: JobQueue, spec: AnalysisSpec) -> Job:
    return await last_state(queue, (await queue.submit(spec)).id)


async def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Waits for a condition; fails instead of waiting for ever."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not happen"
        await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False
