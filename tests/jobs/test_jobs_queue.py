"""Single flight, bounds, cache, cancellation, progress."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from jobs_help import a_queue, coroutine, last_state, make_spec, outcome, until

from py_autodoc.jobs.errors import FileChanged, JobFailed, JobNotDone, QueueFull, UnknownJob
from py_autodoc.jobs.file_stamps import Stamp
from py_autodoc.jobs.ipc_frames import JobProgress
from py_autodoc.jobs.isolated_analysis import EncodedBody
from py_autodoc.jobs.job_record import CANCELLED, DONE, MESSAGE_INTERVAL_S, QUEUED, RUNNING, JobRecord


@coroutine
async def test_equal_requests_share_one_job(tmp_path: Path) -> None:
    async with a_queue() as queue:
        spec = make_spec(tmp_path, "wait go")
        jobs = await asyncio.gather(*(queue.submit(spec) for _ in range(100)))
        assert len({job.id for job in jobs}) == 1
        (tmp_path / "go").touch()
        assert (await last_state(queue, jobs[0].id)).state == DONE
        again = await queue.submit(spec)
        assert (again.id, again.state) == (jobs[0].id, DONE)


@coroutine
async def test_other_options_and_other_content_are_other_jobs(tmp_path: Path) -> None:
    async with a_queue() as queue:
        first = await outcome(queue, make_spec(tmp_path, "ok"))
        specs = [
            make_spec(tmp_path, "ok", bindings={"batch": 2}),
            make_spec(tmp_path, "ok", input_shapes={"x": [1, 2]}),
            make_spec(tmp_path, "ok", assume=True),
            make_spec(tmp_path, "ok", name="other.onnx"),
            make_spec(tmp_path, "changed"),
        ]
        others = [await outcome(queue, spec) for spec in specs]
        assert len({first.id, *(job.id for job in others)}) == 6
        assert others[-1].identity == "identity of changed"


@coroutine
async def test_a_file_that_changes_under_the_analysis_is_no_result(tmp_path: Path) -> None:
    # The engine of the real session checks it; see also test_jobs_session.
    async with a_queue() as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok", "m.onnx"))
        record = queue._store.get(job.id, 0)
        queue._stop_worker(record)
        os.utime(tmp_path / "m.onnx", ns=(1, 1))
        with pytest.raises(FileChanged):
            await queue.body(job.id, "node", 1)
        assert read(await queue.body(job.id, "graph")) == {"graph": "ok"}


@coroutine
async def test_a_change_beside_the_model_renews_the_analysis(tmp_path: Path) -> None:
    async with a_queue() as queue:
        spec = make_spec(tmp_path, "external")
        first = await outcome(queue, spec)
        assert (await queue.submit(spec)).id == first.id
        (tmp_path / "weights.bin").write_bytes(b"0")
        second = await outcome(queue, spec)
        assert second.id != first.id
        assert (await queue.submit(spec)).id == second.id


@coroutine
async def test_no_more_run_and_wait_than_allowed(tmp_path: Path) -> None:
    async with a_queue(max_running=2, max_pending=3) as queue:
        specs = [make_spec(tmp_path, "wait go", f"{number}.onnx") for number in range(6)]
        jobs = []
        for number, spec in enumerate(specs[:5]):
            jobs.append(await queue.submit(spec))
            if number < 2:
                await until(lambda: queue.job(jobs[-1].id).state == RUNNING)
        assert [queue.job(job.id).state for job in jobs] == [RUNNING] * 2 + [QUEUED] * 3
        with pytest.raises(QueueFull):
            await queue.submit(specs[5])
        assert (await queue.submit(specs[0])).id == jobs[0].id
        (tmp_path / "go").touch()
        assert {(await last_state(queue, job.id)).state for job in jobs} == {DONE}
        assert (await outcome(queue, specs[5])).state == DONE


@coroutine
async def test_what_can_run_at_once_does_not_count_as_waiting(tmp_path: Path) -> None:
    async with a_queue(max_running=1, max_pending=0) as queue:
        job = await queue.submit(make_spec(tmp_path, "wait go"))
        with pytest.raises(QueueFull):
            await queue.submit(make_spec(tmp_path, "ok", "b.onnx"))
        (tmp_path / "go").touch()
        assert (await last_state(queue, job.id)).state == DONE
        assert (await outcome(queue, make_spec(tmp_path, "ok", "b.onnx"))).state == DONE


@coroutine
async def test_the_last_requester_cancels(tmp_path: Path) -> None:
    async with a_queue(max_running=1) as queue:
        spec = make_spec(tmp_path, "sleep")
        job = await queue.submit(spec)
        await queue.submit(spec)
        waiting = await queue.submit(make_spec(tmp_path, "ok", "b.onnx"))
        await until(lambda: queue.job(job.id).state == RUNNING)
        queue.withdraw(job.id)
        assert queue.job(job.id).state == RUNNING
        queue.withdraw(job.id)
        assert queue.job(job.id).state == CANCELLED
        queue.withdraw(job.id)
        assert (await last_state(queue, waiting.id)).state == DONE
        with pytest.raises(JobNotDone):
            await queue.body(job.id, "graph")


@coroutine
async def test_cancelling_before_there_is_a_zygote_leaves_one_for_the_next(tmp_path: Path) -> None:
    async with a_queue() as queue:
        launcher = queue._launcher
        job = await queue.submit(make_spec(tmp_path, "sleep"))
        await asyncio.sleep(0)
        assert launcher.zygote is None
        queue.withdraw(job.id)
        assert (await last_state(queue, job.id)).state == CANCELLED
        await until(lambda: launcher.zygote is not None)
        first = launcher.zygote.process.pid
        assert (await outcome(queue, make_spec(tmp_path, "ok"))).state == DONE
        assert launcher.zygote.process.pid == first


@coroutine
async def test_a_rested_launcher_starts_again(tmp_path: Path) -> None:
    async with a_queue(idle_workers=0) as queue:
        launcher = queue._launcher
        assert (await outcome(queue, make_spec(tmp_path, "ok"))).state == DONE
        await until(lambda: launcher.zygote is not None and not launcher.zygote.exits)
        process = launcher.zygote.process
        await launcher.release()
        assert launcher.zygote is None
        assert process.returncode == 0
        assert (await outcome(queue, make_spec(tmp_path, "again"))).state == DONE


@coroutine
async def test_cancelling_what_waits(tmp_path: Path) -> None:
    async with a_queue(max_running=1) as queue:
        running = await queue.submit(make_spec(tmp_path, "wait go"))
        waiting = await queue.submit(make_spec(tmp_path, "ok", "b.onnx"))
        queue.withdraw(waiting.id)
        assert (await last_state(queue, waiting.id)).state == CANCELLED
        (tmp_path / "go").touch()
        assert (await last_state(queue, running.id)).state == DONE


@coroutine
async def test_a_failed_job_is_tried_again(tmp_path: Path) -> None:
    async with a_queue() as queue:
        spec = make_spec(tmp_path, "bad")
        first, second = await outcome(queue, spec), await outcome(queue, spec)
        assert first.id != second.id
        with pytest.raises(JobFailed) as failed:
            await queue.body(first.id, "report")
        assert failed.value.problem.code == "not-a-model-text"


@coroutine
async def test_results_are_dropped_by_size_least_recently_used_first(tmp_path: Path) -> None:
    async with a_queue(cache_bytes=2500, idle_workers=0) as queue:
        jobs = [await outcome(queue, make_spec(tmp_path, "large 1000", f"{name}.onnx")) for name in "ab"]
        await queue.body(jobs[0].id, "graph")
        await outcome(queue, make_spec(tmp_path, "large 1000", "c.onnx"))
        assert queue.has_job(jobs[0].id)
        assert not queue.has_job(jobs[1].id)
        with pytest.raises(UnknownJob):
            await queue.body(jobs[1].id, "graph")
        huge = await outcome(queue, make_spec(tmp_path, "large 15000", "d.onnx"))
        assert (await queue.body(huge.id, "graph")).size == 15002


@coroutine
async def test_details_come_from_the_same_child_and_from_a_new_one_later(tmp_path: Path) -> None:
    async with a_queue(idle_workers=1) as queue:
        first = await outcome(queue, make_spec(tmp_path, "ok", "a.onnx"))
        pids = {read(await queue.body(first.id, "node", node))["pid"] for node in range(5)}
        assert len(pids) == 1
        assert read(await queue.body(first.id, "report"))["pid"] in pids
        second = await outcome(queue, make_spec(tmp_path, "ok", "b.onnx"))
        assert queue._store.get(first.id, queue._now()).worker is None
        assert read(await queue.body(second.id, "node", 1))["pid"] not in pids
        answers = await asyncio.gather(*(queue.body(first.id, "node", node) for node in range(5)))
        assert [read(answer)["id"] for answer in answers] == list(range(5))
        assert len({read(answer)["pid"] for answer in answers}) == 1


@coroutine
async def test_watching_begins_with_the_present_and_ends_with_the_end(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await queue.submit(make_spec(tmp_path, "wait go"))
        assert job.state == QUEUED
        early = asyncio.create_task(seen(queue, job.id))
        await until(lambda: queue.job(job.id).phase == "step 2")
        late = asyncio.create_task(seen(queue, job.id))
        await asyncio.sleep(0)
        (tmp_path / "go").touch()
        for states in (await early, await late):
            assert [job.seq for job in states] == sorted({job.seq for job in states})
            assert states[-1].state == DONE
            assert states[-1].identity == "identity of wait go"
        assert (await early)[0].seq < (await late)[0].seq
        assert (await late)[0].phase == "step 2"
        assert [job.state for job in await seen(queue, job.id)] == [DONE]


@coroutine
async def test_a_watcher_gets_ten_states_a_second_at_most_but_the_last_at_once(tmp_path: Path) -> None:
    record = JobRecord(("key",), make_spec(tmp_path, "ok"))
    record.begin()
    loop = asyncio.get_running_loop()
    begun = loop.time()
    watching = asyncio.create_task(all_of(record))
    for step in range(2000):
        record.progress(JobProgress("step", step, 2000))
        await asyncio.sleep(0)
    record.finish()
    states = await watching
    assert len(states) <= 3 + (loop.time() - begun) / MESSAGE_INTERVAL_S
    assert (states[0].state, states[-1].state) == (RUNNING, DONE)


async def all_of(record: JobRecord) -> list:
    return [job async for job in record.watch()]


def test_stamps_tell_files_and_states_apart(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_text("a")
    two.write_text("a")
    before = Stamp.of(os.stat(one))
    assert before != Stamp.of(os.stat(two))
    os.utime(one, ns=(before.mtime_ns, before.mtime_ns + 1))
    assert before != Stamp.of(os.stat(one))


async def seen(queue: object, job_id: str) -> list:
    return [job async for job in queue.watch(job_id)]  # type: ignore[attr-defined]


def read(body: EncodedBody) -> dict:
    return json.loads(b"".join(body.unpacked()))
