"""A queue with a real launcher and a fake engine; coroutine tests run on pytest-jupyter's loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from py_autodoc.jobs.frames import Spec
from py_autodoc.jobs.launch import ForkLauncher, Launcher, SpawnLauncher
from py_autodoc.jobs.queue import JobQueue, Settings
from py_autodoc.jobs.stamps import Stamp
from py_autodoc.limits import SERVER, Limits

HERE = str(Path(__file__).parent)
LIMITS = replace(SERVER, memory_bytes=1 << 30, seconds=60.0)
FAKE = "fakes:open_session"


def fake_launcher(kind: type[ForkLauncher] | type[SpawnLauncher] = ForkLauncher) -> Launcher:
    return kind(FAKE, [HERE])


@pytest.fixture
def spec(tmp_path: Path) -> Callable[..., Spec]:
    """Makes a file with the given text and the job for it."""

    def make(text: str, name: str = "m.onnx", limits: Limits = LIMITS, **options: object) -> Spec:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return Spec(path=str(path), stamp=Stamp.of(os.stat(path)), limits=limits, **options)  # type: ignore[arg-type]

    return make


@pytest.fixture
def queue(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[JobQueue]:
    made = JobQueue(fake_launcher(), Settings(limits=LIMITS, max_running=2, max_pending=4))
    yield made
    jp_asyncio_loop.run_until_complete(made.close())


@pytest.fixture
def run(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Callable[[Awaitable[object]], object]:
    return jp_asyncio_loop.run_until_complete


async def finished(queue: JobQueue, job_id: str):
    """The last state of a job."""
    async for job in queue.watch(job_id):
        last = job
    return last


async def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Waits for a condition; fails instead of waiting for ever."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not happen"
        await asyncio.sleep(0.01)
