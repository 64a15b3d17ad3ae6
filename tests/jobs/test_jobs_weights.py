"""Values of constants from a child: kept while the files are the same, stopped when nobody waits."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from jobs_help import a_queue, coroutine, make_spec, outcome, until

from py_autodoc.jobs import isolated_analysis
from py_autodoc.jobs.errors import FileChanged, JobFailed, JobNotDone, UnknownJob
from py_autodoc.jobs.ipc_frames import BodyRequest
from py_autodoc.jobs.job_queue import JobQueue
from py_autodoc.jobs.response_cache import ResponseCache


def ask(tensor: int = -1, name: str = "") -> BodyRequest:
    return BodyRequest(kind="weights", tensor=tensor, name=name)


async def read(queue: JobQueue, job_id: str, request: BodyRequest) -> dict[str, Any]:
    body = await queue.weights(job_id, request)
    found: dict[str, Any] = json.loads(b"".join(body.unpacked()))
    return found


def worker(queue: JobQueue) -> isolated_analysis.IsolatedAnalysis:
    (record,) = queue._store.records
    assert record.worker is not None
    return record.worker


@coroutine
async def test_they_are_read_once(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok"))
        first = await read(queue, job.id, ask(3))
        queue._stop_worker(queue._store.records[0])
        assert await read(queue, job.id, ask(3)) == first
        assert queue._store.records[0].worker is None
        assert (await read(queue, job.id, ask(name="w")))["name"] == "w"


@coroutine
async def test_another_file_beside_the_model_is_read_again(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await outcome(queue, make_spec(tmp_path, "external"))
        first = await read(queue, job.id, ask(3))
        assert await read(queue, job.id, ask(3)) == first
        (tmp_path / "weights.bin").write_text("came later")
        queue._stop_worker(queue._store.records[0])
        with pytest.raises(FileChanged):
            await read(queue, job.id, ask(3))


@coroutine
async def test_whoever_goes_away_stops_the_reading_and_not_the_child(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok"))
        before = await read(queue, job.id, ask(1))
        reading = asyncio.ensure_future(queue.weights(job.id, ask(name="slow")))
        await until(lambda: worker(queue)._weights_lock.locked())
        waiting = asyncio.ensure_future(queue.weights(job.id, ask(2)))
        await asyncio.sleep(0.05)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        after = json.loads(b"".join((await waiting).unpacked()))
        assert after["pid"] == before["pid"]


@coroutine
async def test_a_child_that_does_not_listen_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated_analysis, "STOP_GRACE_S", 0.2)
    async with a_queue() as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok"))
        before = await read(queue, job.id, ask(1))
        reading = asyncio.ensure_future(queue.weights(job.id, ask(name="deaf")))
        await until(lambda: worker(queue)._weights_lock.locked())
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        after = await read(queue, job.id, ask(2))
        assert after["pid"] != before["pid"]


@coroutine
async def test_faults(tmp_path: Path) -> None:
    async with a_queue() as queue:
        with pytest.raises(UnknownJob):
            await queue.weights("nope", ask(1))
        job = await queue.submit(make_spec(tmp_path, "sleep"))
        with pytest.raises(JobNotDone):
            await queue.weights(job.id, ask(1))
        queue.withdraw(job.id)
        bad = await outcome(queue, make_spec(tmp_path, "bad", "bad.onnx"))
        with pytest.raises(JobFailed):
            await queue.weights(bad.id, ask(1))
        fine = await outcome(queue, make_spec(tmp_path, "ok", "ok.onnx"))
        with pytest.raises(JobFailed) as unknown:
            await queue.weights(fine.id, ask(10))
        assert unknown.value.problem.status == 404
        assert (await read(queue, fine.id, ask(1)))["tensor"] == 1


def test_the_cache_drops_what_was_used_least_recently() -> None:
    def body(size: int) -> isolated_analysis.EncodedBody:
        return isolated_analysis.EncodedBody((), size, size, False, "")

    cache = ResponseCache(2)
    for size in (1, 2):
        cache.put(size, [], body(size))
    assert cache.get(1, []) == body(1)
    cache.put(3, [], body(3))
    assert cache.get(2, []) is None
    assert cache.get(1, []) == body(1)
