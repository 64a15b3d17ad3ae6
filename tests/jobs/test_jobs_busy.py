"""Children are not ended while they answer; what a dying one leaves unanswered is asked again, once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from jobs_help import LIMITS, a_queue, coroutine, make_spec, outcome, until
from onnx import helper, numpy_helper

from py_autodoc.jobs.errors import WorkerGone
from py_autodoc.jobs.file_stamps import Stamp
from py_autodoc.jobs.ipc_frames import AnalysisSpec, BodyRequest
from py_autodoc.jobs.isolated_analysis import EncodedBody
from py_autodoc.jobs.job_queue import JobQueue, QueueSettings
from py_autodoc.jobs.job_record import DONE, JobRecord
from py_autodoc.jobs.launch import ForkLauncher

pytestmark = pytest.mark.slow


def read(body: EncodedBody) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(b"".join(body.unpacked()))
    return found


def record_of(queue: JobQueue, job_id: str) -> JobRecord:
    return next(record for record in queue._store.records if record.id == job_id)


def gated(gate: Path) -> BodyRequest:
    """Weights that are read until the gate is there."""
    return BodyRequest(kind="weights", name=f"until {gate}")


async def reading(queue: JobQueue, job_id: str, gate: Path) -> asyncio.Task[EncodedBody]:
    """A reading of weights that has begun."""
    task = asyncio.ensure_future(queue.weights(job_id, gated(gate)))
    await until(lambda: record_of(queue, job_id).active_requests == 1)
    worker = record_of(queue, job_id).worker
    await until(lambda: worker is None or bool(worker._pending))
    return task


@coroutine
async def test_a_busy_child_is_not_taken_for_idle(tmp_path: Path) -> None:
    async with a_queue(idle_workers=1) as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok"))
        pid = read(await queue.body(job.id, "node", 1))["pid"]
        answer = await reading(queue, job.id, tmp_path / "gate")
        for number in range(4):
            assert (await outcome(queue, make_spec(tmp_path, "ok", f"{number}.onnx"))).state == DONE
        (tmp_path / "gate").touch()
        assert read(await answer)["pid"] == pid
        # Idle again, it counts again.
        assert sum(record.worker is not None for record in queue._store.records) == 1


@coroutine
async def test_a_result_in_use_is_not_dropped(tmp_path: Path) -> None:
    async with a_queue(cache_bytes=0, idle_workers=0) as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok"))
        answer = await reading(queue, job.id, tmp_path / "gate")
        await outcome(queue, make_spec(tmp_path, "ok", "other.onnx"))
        assert queue.has_job(job.id)
        (tmp_path / "gate").touch()
        assert read(await answer)["pid"]
        assert not queue.has_job(job.id)


@coroutine
async def test_a_child_that_analyses_again_is_not_taken_for_idle(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    async with a_queue(idle_workers=1) as queue:
        job = await outcome(queue, make_spec(tmp_path, "wait go"))
        queue._stop_worker(record_of(queue, job.id))
        (tmp_path / "go").unlink()
        answer = asyncio.ensure_future(queue.body(job.id, "node", 1))
        await until(lambda: record_of(queue, job.id).worker is not None)
        worker = record_of(queue, job.id).worker
        for number in range(4):
            assert (await outcome(queue, make_spec(tmp_path, "ok", f"{number}.onnx"))).state == DONE
        (tmp_path / "go").touch()
        assert read(await answer)["id"] == 1
        assert record_of(queue, job.id).worker is worker


@coroutine
async def test_what_a_killed_child_leaves_is_asked_again_once(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok"))
        first = read(await queue.body(job.id, "node", 1))["pid"]
        answer = await reading(queue, job.id, tmp_path / "gate")
        worker = record_of(queue, job.id).worker
        os.kill(first, signal.SIGKILL)
        await until(lambda: asked_other(queue, job.id, worker))
        (tmp_path / "gate").touch()
        second = read(await answer)["pid"]
        assert second != first

        again = await reading(queue, job.id, tmp_path / "gate that never opens")
        worker = record_of(queue, job.id).worker
        os.kill(second, signal.SIGKILL)
        await until(lambda: asked_other(queue, job.id, worker))
        third = read(await queue.body(job.id, "node", 1))["pid"]
        os.kill(third, signal.SIGKILL)
        with pytest.raises(WorkerGone, match=r"was killed \(SIGKILL\)") as gone:
            await again
        assert not gone.value.by_model


def asked_other(queue: JobQueue, job_id: str, before: object) -> bool:
    """True when a child other than ``before`` has been asked something."""
    worker = record_of(queue, job_id).worker
    return worker is not None and worker is not before and bool(worker._pending)


@coroutine
async def test_only_a_crash_is_laid_on_the_model(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok"))
        with pytest.raises(WorkerGone, match=r"A library crashed .* \(SIGSEGV\)") as gone:
            await queue.body(job.id, "node", 666)
        assert gone.value.by_model
        answer = await reading(queue, job.id, tmp_path / "gate")
        await queue.close()
        with pytest.raises(WorkerGone, match="The server stopped the process"):
            await answer


@coroutine
async def test_a_question_about_a_node_does_not_wait_for_weights(tmp_path: Path) -> None:
    for kind in ("fork", "spawn"):
        async with a_queue(kind) as queue:
            job = await outcome(queue, make_spec(tmp_path, "ok"))
            gate = tmp_path / kind
            answer = await reading(queue, job.id, gate)
            found = [read(await queue.body(job.id, "node", number)) for number in range(5)]
            assert [one["id"] for one in found] == list(range(5))
            assert b"".join((await queue.body(job.id, "report")).unpacked())
            assert not answer.done()
            gate.touch()
            assert read(await answer)["pid"] == found[0]["pid"]


@coroutine
async def test_an_extraction_and_weights_wait_for_each_other(tmp_path: Path) -> None:
    async with a_queue() as queue:
        spec = make_spec(tmp_path, "ok")
        job = await outcome(queue, spec)
        answer = await reading(queue, job.id, tmp_path / "gate")
        size = 0

        async def take(piece: bytes) -> None:
            nonlocal size
            size += len(piece)

        extraction = asyncio.ensure_future(queue.extract(job.id, spec.path, [1, 2], take))
        await asyncio.sleep(0.05)
        assert not extraction.done()
        (tmp_path / "gate").touch()
        await answer
        await extraction
        assert size > 600_000


@coroutine
async def test_whoever_cannot_take_an_answer_does_not_harm_the_child(tmp_path: Path) -> None:
    async with a_queue() as queue:
        spec = make_spec(tmp_path, "ok")
        job = await outcome(queue, spec)
        pid = read(await queue.body(job.id, "node", 1))["pid"]

        async def full(piece: bytes) -> None:
            raise OSError(28, "No space left on device")

        with pytest.raises(OSError, match="No space left"):
            await queue.extract(job.id, spec.path, [1], full)
        assert read(await queue.body(job.id, "node", 2))["pid"] == pid


@coroutine
async def test_what_was_passed_on_is_not_asked_again(tmp_path: Path) -> None:
    async with a_queue() as queue:
        spec = make_spec(tmp_path, "ok")
        job = await outcome(queue, spec)
        pid = read(await queue.body(job.id, "node", 1))["pid"]
        pieces: list[bytes] = []

        async def take(piece: bytes) -> None:
            pieces.append(piece)
            os.kill(pid, signal.SIGKILL)
            record_of(queue, job.id).worker.kill()

        with pytest.raises(WorkerGone):
            await queue.extract(job.id, spec.path, [1], take)
        assert sum(map(len, pieces)) < 600_000


@coroutine
async def test_children_have_a_number_that_is_not_exceeded(tmp_path: Path) -> None:
    async with a_queue(idle_workers=1, max_workers=2) as queue:
        jobs = [await outcome(queue, make_spec(tmp_path, "ok", f"{number}.onnx")) for number in range(4)]
        gates = [tmp_path / f"gate {number}" for number in range(4)]
        answers = [
            asyncio.ensure_future(queue.weights(job.id, gated(gate)))
            for job, gate in zip(jobs, gates, strict=True)
        ]
        seen = 0
        for gate in gates:
            for _ in range(10):
                await asyncio.sleep(0.01)
                seen = max(seen, sum(record.worker is not None for record in queue._store.records))
            gate.touch()
        assert [read(await answer)["tensor"] for answer in answers] == [-1] * 4
        assert seen == 2


def real_model(path: Path, size: int) -> AnalysisSpec:
    """Three products; ``size`` is that of the square weights."""
    rng = np.random.default_rng(size)
    weights = [
        numpy_helper.from_array(rng.normal(0, 1, (size, size)).astype(np.float32), f"w{one}")
        for one in range(3)
    ]
    nodes = [helper.make_node("MatMul", [f"t{one}", f"w{one}"], [f"t{one + 1}"]) for one in range(3)]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info("t0", 1, [1, size])], [info("t3", 1, [1, size])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return AnalysisSpec(path=str(path), stamp=Stamp.of(os.stat(path)), limits=LIMITS)


@coroutine
async def test_many_clients_of_real_children(tmp_path: Path) -> None:
    """More models than children are kept for, all asked at once while other analyses run."""
    queue = JobQueue(
        ForkLauncher(), QueueSettings(limits=LIMITS, max_running=2, idle_workers=1, cached_weights=2)
    )
    try:
        specs = [real_model(tmp_path / f"{size}.onnx", size) for size in (16, 32, 64, 1024)]
        jobs = [await outcome(queue, spec) for spec in specs]

        async def client(seed: int) -> int:
            dice = random.Random(seed)
            answered = 0
            for _ in range(6):
                which = dice.randrange(len(jobs))
                job, spec = jobs[which], specs[which]
                what = dice.choice(("node", "weights", "extract", "job"))
                if what == "node":
                    assert read(await queue.body(job.id, "node", dice.randrange(3)))["type"] == "MatMul"
                elif what == "weights":
                    name = f"w{dice.randrange(3)}"
                    body = read(await queue.weights(job.id, BodyRequest(kind="weights", name=name)))
                    assert body["name"] == name
                elif what == "extract":
                    pieces: list[bytes] = []

                    async def take(piece: bytes, pieces: list[bytes] = pieces) -> None:
                        pieces.append(piece)

                    await queue.extract(job.id, spec.path, [0], take)
                    assert onnx.load_from_string(b"".join(pieces).partition(b"\n")[2]).graph.node
                else:
                    other = real_model(tmp_path / f"other {seed} {answered}.onnx", 8)
                    assert (await outcome(queue, other)).state == DONE
                answered += 1
            return answered

        assert sum(await asyncio.gather(*map(client, range(30)))) == 180
        await until(lambda: sum(record.worker is not None for record in queue._store.records) <= 1)
    finally:
        await queue.close()
