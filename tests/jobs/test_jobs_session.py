"""The real engine in real children."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from jobs_help import LIMITS, coroutine, outcome

from py_autodoc.jobs.errors import FileChanged, JobFailed, UnknownNode
from py_autodoc.jobs.file_stamps import Stamp
from py_autodoc.jobs.ipc_frames import AnalysisSpec
from py_autodoc.jobs.isolated_analysis import EncodedBody
from py_autodoc.jobs.job_queue import JobQueue, QueueSettings
from py_autodoc.jobs.job_record import DONE
from py_autodoc.jobs.launch import ForkLauncher, SpawnLauncher
from py_autodoc.jobs.model_session import open_session
from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import GraphPayload, NodeDetails

pytestmark = pytest.mark.slow

MODELS = Path(__file__).parent.parent / "data" / "models"


def spec_of(path: Path, **options: object) -> AnalysisSpec:
    return AnalysisSpec(path=str(path), stamp=Stamp.of(os.stat(path)), limits=LIMITS, **options)


def silent(*_: object) -> None:
    """Progress nobody needs."""


@pytest.mark.parametrize("launcher", [ForkLauncher, SpawnLauncher])
@coroutine
async def test_a_model_end_to_end(launcher: type[ForkLauncher]) -> None:
    queue = JobQueue(launcher(), QueueSettings(limits=LIMITS))
    try:
        job = await outcome(queue, spec_of(MODELS / "bert_tiny.onnx", assume=True))
        assert job.problem is None
        assert job.state == DONE
        graph = msgspec.json.decode(joined(await queue.body(job.id, "graph")), type=GraphPayload)
        assert graph.model.name == "bert_tiny.onnx"
        assert graph.model.identity == job.identity
        report = msgspec.json.decode(joined(await queue.body(job.id, "report")), type=Report)
        assert len(report.layers) == report.graph.num_nodes > 10
        assert report.metrics.total_macs == graph.metrics.total_macs
        for layer in report.layers[:3]:
            body = joined(await queue.body(job.id, "node", layer.id))
            details = msgspec.json.decode(body, type=NodeDetails)
            assert (details.id, details.name, details.type) == (layer.id, layer.name, layer.type)
        with pytest.raises(JobFailed) as unknown:
            await queue.body(job.id, "node", 10**6)
        assert unknown.value.problem.code == "unknown-node"
    finally:
        await queue.close()


@coroutine
async def test_bad_files_and_limits_are_typed(tmp_path: Path) -> None:
    (tmp_path / "empty.onnx").write_bytes(b"")
    (tmp_path / "page.onnx").write_text("<!DOCTYPE html><html></html>")
    (tmp_path / "cut.onnx").write_bytes((MODELS / "resnet_tiny.onnx").read_bytes()[:5000])
    queue = JobQueue(ForkLauncher(), QueueSettings(limits=LIMITS))
    try:
        for name, code in (
            ("empty", "not-a-model-empty"),
            ("page", "not-a-model-html"),
            ("cut", "corrupt-model"),
        ):
            job = await outcome(queue, spec_of(tmp_path / f"{name}.onnx"))
            assert job.problem is not None
            assert (job.problem.status, job.problem.code) == (422, code)
            assert f"{name}.onnx" in job.problem.detail
            assert str(tmp_path) not in job.problem.detail + job.problem.hint
        small = msgspec.structs.replace(spec_of(MODELS / "bert_tiny.onnx"), limits=replace(LIMITS, nodes=3))
        job = await outcome(queue, small)
        assert job.problem is not None
        assert (job.problem.status, job.problem.code) == (413, "limit-nodes")
        bad = await outcome(queue, spec_of(MODELS / "bert_tiny.onnx", input_shapes={"nope": [1]}))
        assert bad.problem is not None
        assert bad.problem.status == 422
    finally:
        await queue.close()


@coroutine
async def test_a_job_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    tempfile.tempdir = None
    queue = JobQueue(ForkLauncher(), QueueSettings(limits=LIMITS))
    try:
        job = await outcome(queue, spec_of(MODELS / "ppocr_v4_det.onnx"))
        assert job.state == DONE, job.problem
        await queue.body(job.id, "report")
    finally:
        await queue.close()
        tempfile.tempdir = None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changed_while_it_was_read_gives_no_result(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes((MODELS / "bert_tiny.onnx").read_bytes())
    spec = spec_of(path)

    def touch(*_: object) -> None:
        os.utime(path, ns=(1, 1))

    with pytest.raises(FileChanged):
        open_session(spec, touch)


def test_node_ids_are_checked() -> None:
    session = open_session(spec_of(MODELS / "bert_tiny.onnx"), silent)
    for node in (-1, 10**9):
        with pytest.raises(UnknownNode):
            session.node(node)


def test_external_files_are_part_of_the_identity() -> None:
    session = open_session(spec_of(MODELS / "resnet_tiny_ext.onnx"), silent)
    (companion,) = session.companions
    assert companion.name == "resnet_tiny_ext.bin"
    assert companion.stamp is not None
    assert companion.stamp.bytes == (MODELS / companion.name).stat().st_size


def test_everything_the_analysis_imports_is_there_before_the_first_fork() -> None:
    """What a job imports late is paid by each job again."""
    code = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from py_autodoc.jobs import model_session
        model_session.prepare()
        from test_jobs_session import MODELS, silent, spec_of
        before = set(sys.modules)
        opened = model_session.open_session(spec_of(MODELS / "bert_tiny.onnx", assume=True), silent)
        opened.graph(), opened.report(), opened.node(0)
        heavy = ("onnx", "numpy", "py_autodoc.graph", "py_autodoc.costs", "py_autodoc.report")
        print(sorted(name for name in set(sys.modules) - before if name.startswith(heavy)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def joined(body: EncodedBody) -> bytes:
    return b"".join(body.unpacked())
