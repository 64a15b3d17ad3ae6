"""A model that kills its process gives a problem and harms nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from jobs_help import FAKE, HERE, LIMITS, a_queue, alive, coroutine, last_state, make_spec, outcome, until

from py_autodoc.jobs.errors import JobFailed
from py_autodoc.jobs.job_record import CANCELLED, DONE, FAILED

pytestmark = pytest.mark.slow

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="reads /proc")

ENDS = [
    ("bad", "not-a-model-text", 422),
    ("segv", "worker-died", 500),
    ("kill", "worker-died", 500),
    ("die drawing", "worker-died", 500),
    ("memory", "limit-memory-bytes", 413),
    ("bug", "internal-error", 500),
    ("deep", "too-deep", 500),
    ("garbage", "worker-died", 500),
    ("flood", "worker-died", 500),
    ("write", "internal-error", 500),
]


@pytest.mark.parametrize("kind", ["fork", "spawn"])
@coroutine
async def test_every_bad_end_is_typed_and_the_next_job_works(kind: str, tmp_path: Path) -> None:
    async with a_queue(kind) as queue:
        for text, code, status in ENDS:
            job = await outcome(queue, make_spec(tmp_path, text, f"{text}.onnx"))
            assert job.state == FAILED, text
            assert job.problem is not None
            assert (job.problem.code, job.problem.status) == (code, status), text
            assert job.problem.title
            assert str(tmp_path) not in job.problem.detail + job.problem.hint, text
        assert (await outcome(queue, make_spec(tmp_path, "ok"))).state == DONE
    assert not (tmp_path / "written").exists() or (tmp_path / "written").stat().st_size == 0


@pytest.mark.parametrize("kind", ["fork", "spawn"])
@pytest.mark.parametrize("text", ["sleep", "spin"])
@coroutine
async def test_time_is_limited(kind: str, text: str, tmp_path: Path) -> None:
    async with a_queue(kind) as queue:
        job = await outcome(queue, make_spec(tmp_path, text, limits=replace(LIMITS, seconds=1.0)))
        assert job.problem is not None
        assert job.problem.code == "limit-seconds"
        assert (await outcome(queue, make_spec(tmp_path, "ok"))).state == DONE


@pytest.mark.parametrize("kind", ["fork", "spawn"])
@coroutine
async def test_the_child_knows_no_secret_of_the_server(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_TOKEN", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    async with a_queue(kind) as queue:
        job = await outcome(queue, make_spec(tmp_path, "environment"))
    assert job.problem is not None
    names = job.problem.detail.split()
    assert "PATH" in names
    assert not {"JUPYTER_TOKEN", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH"} & set(names)


@coroutine
async def test_nothing_is_imported_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("msgspec", "json", "py_autodoc"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w')")
    spec = make_spec(tmp_path, "ok")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    for kind in ("fork", "spawn"):
        async with a_queue(kind) as queue:
            assert (await outcome(queue, spec)).state == DONE
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("kind", ["fork", "spawn"])
@coroutine
async def test_a_large_body_arrives_whole(kind: str, tmp_path: Path) -> None:
    async with a_queue(kind) as queue:
        job = await outcome(queue, make_spec(tmp_path, "large 3000001"))
        body = await queue.body(job.id, "graph")
    assert b"".join(body.unpacked()) == b'"' + b"x" * 3_000_001 + b'"'
    assert body.gzip
    assert body.size < body.raw_size == 3_000_003
    assert max(map(len, (*body.pieces, *body.unpacked()))) <= 1 << 18


@needs_proc
@coroutine
async def test_cancelling_kills_the_whole_group(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await queue.submit(make_spec(tmp_path, "fork and sleep"))
        zygote = await zygote_pid(queue)
        await until(lambda: len(descendants(zygote)) == 2)
        children = descendants(zygote)
        queue.withdraw(job.id)
        assert (await last_state(queue, job.id)).state == CANCELLED
        await until(lambda: not any(map(alive, children)))
        assert (await outcome(queue, make_spec(tmp_path, "ok"))).state == DONE


@needs_proc
@coroutine
async def test_a_dead_zygote_is_replaced_and_its_jobs_run_again_once(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await queue.submit(make_spec(tmp_path, "sleep"))
        killed: list[int] = []
        for _ in range(2):
            zygote = await zygote_pid(queue, not_one_of=tuple(killed))
            await until(lambda pid=zygote: len(descendants(pid)) == 1)
            killed += [zygote, *descendants(zygote)]
            os.kill(zygote, 9)
        failed = await last_state(queue, job.id)
        assert failed.problem is not None
        assert failed.problem.code == "worker-died"
        assert "crash" not in failed.problem.detail
        await until(lambda: not any(map(alive, killed[1::2])))
        assert (await outcome(queue, make_spec(tmp_path, "ok"))).state == DONE


@needs_proc
@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_children_die_with_the_server(kind: str, tmp_path: Path) -> None:
    make_spec(tmp_path, "sleep")
    server = textwrap.dedent(f"""
        import asyncio, sys
        from pathlib import Path
        sys.path.insert(0, {HERE!r})
        from jobs_help import a_queue, make_spec
        async def main():
            async with a_queue({kind!r}) as queue:
                await queue.submit(make_spec(Path({str(tmp_path)!r}), "sleep"))
                await asyncio.sleep(0.1)
                print("started", flush=True)
                await asyncio.sleep(3600)
        asyncio.run(main())
    """)
    process = subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        wanted = 2 if kind == "fork" else 1
        asyncio.run(until(lambda: len(descendants(process.pid)) == wanted))
        children = descendants(process.pid)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    asyncio.run(until(lambda: not any(map(alive, children))))


@coroutine
async def test_a_crash_over_one_node_does_not_spoil_the_others(tmp_path: Path) -> None:
    async with a_queue() as queue:
        job = await outcome(queue, make_spec(tmp_path, "ok"))
        with pytest.raises(JobFailed) as unknown:
            await queue.body(job.id, "node", 77)
        assert unknown.value.problem.status == 404
        with pytest.raises(Exception, match="SIGSEGV"):
            await queue.body(job.id, "node", 666)
        body = await queue.body(job.id, "node", 3)
        assert json.loads(b"".join(body.unpacked()))["id"] == 3


def test_the_engine_is_chosen_by_code_and_not_by_configuration() -> None:
    from py_autodoc.server.app import AutodocApp

    assert not [
        name for name in AutodocApp.class_trait_names(config=True) if "engine" in name or "launch" in name
    ]
    assert FAKE.startswith("fakes:")


async def zygote_pid(queue: object, not_one_of: tuple[int, ...] = ()) -> int:
    launcher = queue._launcher  # type: ignore[attr-defined]
    await until(lambda: launcher.zygote is not None and launcher.zygote.process.pid not in not_one_of)
    return launcher.zygote.process.pid


def descendants(pid: int) -> list[int]:
    """Living processes below ``pid``."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found = [pid]
    for known in found:
        found += [child for child, parent in parents.items() if parent == known and alive(child)]
    return found[1:]


@needs_proc
def test_a_child_whose_parent_is_gone_already_ends() -> None:
    """The request to die with the parent comes too late when the parent is dead."""
    code = (
        "import time; from py_autodoc.process_limits import die_with_parent as d; d(1 << 22); time.sleep(60)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=30).returncode == -9
