"""A task ends in every case: whatever its process does, whether it starts, whenever it is cancelled."""

from __future__ import annotations

import asyncio
import errno
import functools
import os
import subprocess
import sys
import threading
import time

import msgspec
import pytest

from py_autodoc import children
from py_autodoc.jobs import ipc_frames
from py_autodoc.jobs.memory_budget import MemoryBudget
from py_autodoc.report.schema import TaskRequest
from py_autodoc.tasks import process
from py_autodoc.tasks.kinds import TaskFiles
from py_autodoc.tasks.manager import TaskManager
from py_autodoc.tasks.protocol import Order

HEAD = (
    "import os, sys, time\n"
    "from py_autodoc.jobs.ipc_frames import *\n"
    "def frame(kind, data): os.write(1, pack(kind, data))\n"
    "def order(): return read_frame(0)\n"
    'END_OF_NONE = b\'{"size":0,"raw_size":0,"gzip":false,"digest":""}\'\n'
)
ODD = {
    "nothing": ("pass", "task-died", "ended with 0"),
    "status": ("os._exit(7)", "task-died", "ended with 7"),
    "killed": ("os.kill(os.getpid(), 9)", "task-died", "SIGKILL"),
    "an odd signal": ("os.kill(os.getpid(), 40)", "task-died", "signal"),
    "within a frame": ("order(); os.write(1, b'C\\0\\0')", "task-died", "ended with 0"),
    "no frames": ("order(); print('{\"result\": 1}' * 99)", "task-died", "invalid response"),
    "unknown frame": ("order(); frame(b'?', b'')", "task-died", "invalid response"),
    "frame too long": ("order(); os.write(1, HEADER.pack(CHUNK, 2**31))", "task-died", "invalid response"),
    "broken JSON": ("order(); frame(PROGRESS, b'[\"a\", 1')", "task-died", "invalid response"),
    "other JSON": ("order(); frame(PROBLEM, b'[]')", "task-died", "invalid response"),
    "not UTF-8": ("order(); frame(PROGRESS, b'[\"\\xff\", 1, 2]')", "task-died", "invalid response"),
    "wrong size": (
        "order(); frame(CHUNK, b'{}'); frame(END, END_OF_NONE)", "task-died", "invalid response"
    ),
    "many logs": ("order(); [frame(LOG, b'x') for _ in range(99)]", "task-died", "invalid response"),
    "output closed, alive": ("order(); os.close(1); time.sleep(600)", "task-died", "closed its output"),
    "too large": (
        "order(); [frame(CHUNK, bytes(CHUNK_BYTES)) for _ in range(99)]",
        "limit-task-result-bytes", "maximum",
    ),
    "unpacks to too much": (
        "order(); frame(END, END_OF_NONE.replace(b'raw_size\":0', b'raw_size\":99999999'))",
        "limit-task-result-bytes", "maximum",
    ),
    "too long": ("time.sleep(600)", "task-too-long", "took more than"),
    "progress for ever": (
        "order()\nwhile True: frame(PROGRESS, b'[\"a\", 1, 2]')", "task-too-long", "took more than"
    ),
}  # fmt: skip


def an_order(**files) -> Order:
    request = TaskRequest(kind="measure", path="m.onnx")
    return Order(request=request, files=TaskFiles(model="m.onnx", **files), memory_bytes=1 << 32)


def acting(monkeypatch, code: str) -> list[subprocess.Popen[bytes]]:
    """Let tasks start processes with this code; return those that were started."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        one = children.popen(
            children.command(f"exec({HEAD + code!r})"),
            stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0,
        )  # fmt: skip
        started.append(one)
        return one

    monkeypatch.setattr(process, "start_process", start)
    monkeypatch.setattr(process, "GRACE_S", 0.3 if "sleep" in code else 10.0)
    return started


def a_manager(seconds: float = 60.0, max_bytes: int = 1 << 30) -> TaskManager:
    return TaskManager(seconds, MemoryBudget(max_bytes))


async def last(manager: TaskManager, number: str):
    for _ in range(3000):
        task, result = manager.get(number)
        if task.state not in ("queued", "running"):
            return task, result
        await asyncio.sleep(0.01)
    raise AssertionError(task)


def assert_gone(started: list[subprocess.Popen[bytes]]) -> None:
    until = time.monotonic() + 30
    for one in started:
        while not one.stdout.closed and time.monotonic() < until:
            time.sleep(0.01)
        assert one.returncode is not None
        assert one.stdin.closed
        assert one.stdout.closed


def async_test(function):
    @functools.wraps(function)
    def run(*args, **kwargs):
        asyncio.run(function(*args, **kwargs))

    return run


@pytest.mark.parametrize("case", ODD)
def test_whatever_the_process_does(monkeypatch, case):
    code, expected, said = ODD[case]
    monkeypatch.setattr(process, "MAX_RESULT_BYTES", 1 << 20)
    started = acting(monkeypatch, code)
    ends: list[str] = []

    async def main() -> None:
        manager = a_manager(1.5 if expected == "task-too-long" else 60.0)
        number = manager.start(an_order(), lambda: ends.append(case)).id
        task, result = await last(manager, number)
        assert (task.state, result) == ("failed", None)
        assert task.problem.code == expected
        assert said in task.problem.detail
        # The next one is not kept waiting.
        assert manager.start(an_order()).state == "queued"
        await manager.close()

    asyncio.run(main())
    assert ends == [case]
    assert_gone(started)


@pytest.mark.parametrize(
    "fault",
    [
        OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)),
        FileNotFoundError(errno.ENOENT, "gone", sys.executable),
        MemoryError(),
        ValueError("embedded null byte"),
        RuntimeError("a bug"),
    ],
    ids=lambda fault: type(fault).__name__,
)
@async_test
async def test_a_process_that_cannot_start(monkeypatch, fault):
    def start():
        raise fault

    monkeypatch.setattr(process, "start_process", start)
    manager = a_manager()
    task, _ = await last(manager, manager.start(an_order()).id)
    assert (task.state, task.problem.code) == ("failed", "task-not-started")
    assert sys.executable not in task.problem.detail


@async_test
async def test_a_thread_that_cannot_start(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    manager = a_manager()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        task, _ = await last(manager, manager.start(an_order()).id)
    assert (task.state, task.problem.code) == ("failed", "task-not-started")


@pytest.mark.parametrize("fault", [RuntimeError, OSError, KeyError])
@async_test
async def test_what_is_freed_at_the_end_fails(monkeypatch, fault):
    acting(monkeypatch, "order(); frame(CHUNK, b'{}'); frame(END, END_OF_NONE.replace(b':0', b':2'))")
    manager = a_manager()

    def fail() -> None:
        raise fault

    for _ in range(2):
        task, result = await last(manager, manager.start(an_order(), fail).id)
        assert (task.state, b"".join(result.unpacked())) == ("done", b"{}")


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.01, 0.03, 0.1, 0.3])
def test_cancelled_at_any_moment(monkeypatch, delay):
    started = acting(monkeypatch, "order()\nframe(PROGRESS, b'[\"a\", 1, 2]')\ntime.sleep(600)")
    ends: list[int] = []

    async def main() -> None:
        manager = a_manager()
        numbers = [manager.start(an_order(), lambda one=one: ends.append(one)).id for one in range(3)]
        await asyncio.sleep(delay)
        for number in numbers:
            manager.cancel(number)
            manager.cancel(number)
            assert manager.get(number)[0].state == "cancelled"
        await manager.close()
        assert [manager.get(number)[0].state for number in numbers] == ["cancelled"] * 3

    asyncio.run(main())
    assert sorted(ends) == [0, 1, 2]
    assert_gone(started)


def test_the_loop_ends_without_closing(monkeypatch):
    """A server that stops its loop leaves no process behind."""
    started = acting(monkeypatch, "order()\ntime.sleep(600)")

    async def main() -> None:
        a_manager().start(an_order())
        while not started:
            await asyncio.sleep(0.01)

    asyncio.run(main())
    assert_gone(started)


@async_test
async def test_results_stay_encoded_and_within_the_budget(monkeypatch):
    """The oldest results go first; the newest is kept even if it alone is too large."""
    size = 3 * ipc_frames.CHUNK_BYTES
    body = (
        f"order(); body = b'[' + b' ' * {size - 2} + b']'\n"
        "for one in body_frames(body, False): write_all(1, one)"
    )
    acting(monkeypatch, body)
    manager = a_manager(max_bytes=2 * size)
    numbers = []
    for _ in range(4):
        numbers.append(manager.start(an_order()).id)
        _, result = await last(manager, numbers[-1])
        assert all(isinstance(piece, bytes) for piece in result.pieces)
        assert result.size == size
        time.sleep(0.01)
    assert manager.bytes == 2 * size
    kept = [number for number in numbers if number in manager._records]
    assert kept == numbers[2:]
    small = a_manager(max_bytes=0)
    number = small.start(an_order()).id
    await last(small, number)
    assert small.get(number)[1].size == size


def test_a_result_is_refused_by_the_process_itself(monkeypatch):
    from py_autodoc.tasks import child

    class Huge(msgspec.Struct):
        text: str = "x" * 100

    monkeypatch.setattr(child, "MAX_RESULT_BYTES", 99)
    monkeypatch.setattr(child, "run_task", lambda *_: Huge())
    (frame,) = child._outcome(an_order(), 1)
    assert frame[:1] == ipc_frames.PROBLEM
    assert b"limit-task-result-bytes" in frame


@pytest.mark.parametrize("fault", [MemoryError, KeyError, RecursionError, UnicodeDecodeError])
def test_every_exception_of_a_task_is_a_problem(monkeypatch, fault):
    from py_autodoc.tasks import child

    def fail(*_):
        raise fault("utf-8", b"", 0, 1, "\x1b") if fault is UnicodeDecodeError else fault("\x1b")

    monkeypatch.setattr(child, "run_task", fail)
    frames = child._outcome(an_order(), 1)
    assert frames[-1][:1] == ipc_frames.PROBLEM
    assert b"task_memory_bytes" in frames[-1] or b"internal-error" in frames[-1]
