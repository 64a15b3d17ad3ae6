"""Jobs over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest_help import assert_problem
from jobs_help import until
from jupyter_server.utils import JupyterServerAuthWarning
from tornado import web

pytestmark = pytest.mark.slow


async def test_from_post_to_picture(client: Any) -> None:
    started = await client.start(client.file("m.onnx"), bindings={"batch": 1}, assume=True)
    assert started.status == 202
    job = started.json
    assert started.headers["Location"].endswith(f"/autodoc/api/jobs/{job['id']}")
    assert set(job) == {"id", "state", "phase", "done", "total", "seq", "identity", "problem"}
    done = await client.end(job["id"])
    assert (done["state"], done["identity"], done["problem"]) == ("done", "identity of ok", None)
    graph = await client.ask("GET", "jobs", job["id"], "graph")
    assert (graph.status, graph.json) == (200, {"graph": "ok"})
    report = await client.ask("GET", "jobs", job["id"], "report")
    assert report.json["report"] == "ok"
    node = await client.ask("GET", "jobs", job["id"], "nodes", "7")
    assert node.json["id"] == 7
    for answer in (started, graph, report, node):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Type"].startswith("application/json")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    again = await client.start("m.onnx", bindings={"batch": 1}, assume=True)
    assert (again.status, again.json["id"], again.json["state"]) == (200, job["id"], "done")


async def test_bodies_have_a_tag_and_are_not_sent_twice(client: Any) -> None:
    job = await client.run(client.file("m.onnx"))
    first = await client.ask("GET", "jobs", job["id"], "graph")
    tag = first.headers["ETag"]
    second = await client.ask("GET", "jobs", job["id"], "graph", headers={"If-None-Match": tag})
    assert (second.status, second.raw) == (304, b"")
    other = await client.run(client.file("n.onnx", "else"))
    assert (await client.ask("GET", "jobs", other["id"], "graph")).headers["ETag"] != tag


async def test_a_large_body_comes_whole(client: Any) -> None:
    job = await client.run(client.file("m.onnx", "large 20000000"))
    answer = await client.ask("GET", "jobs", job["id"], "graph")
    assert len(answer.raw) == 20_000_002
    assert answer.headers["Vary"] == "Accept-Encoding"
    # Tornado's client unpacks and keeps the trace of it.
    assert answer.headers["X-Consumed-Content-Encoding"] == "gzip"
    for accepted in ("identity", "gzip;q=0, br"):
        plain = await client.ask(
            "GET",
            "jobs",
            job["id"],
            "graph",
            headers={"Accept-Encoding": accepted},
            decompress_response=False,
        )
        assert plain.raw == answer.raw
        assert plain.headers["Content-Length"] == "20000002"
        assert "Content-Encoding" not in plain.headers
        assert plain.headers["ETag"] != answer.headers["ETag"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"", "truncated"),
        (b"{", "truncated"),
        (b"\xff\xfe", "malformed"),
        ({}, "path"),
        ({"path": 3}, "$.path"),
        ({"path": "m.onnx", "bindings": {"n": "many"}}, "$.bindings"),
        ({"path": "m.onnx", "input_shapes": {"x": [1.5]}}, "$.input_shapes"),
        ({"path": "m.onnx", "assume": "yes"}, "$.assume"),
        (b'{"path": "m.onnx", "bindings": {"batch": 1, "batch": 2}}', "'batch' occurs twice"),
    ],
)
async def test_bad_requests_name_the_place(body: Any, place: str, client: Any) -> None:
    client.file("m.onnx")
    answer = await client.ask("POST", "jobs", body=body)
    assert_problem(answer, 422, "bad-request")
    assert place in answer.json["detail"]


async def test_a_huge_request_is_refused(client: Any) -> None:
    answer = await client.ask("POST", "jobs", body={"path": "x" * (1 << 20)})
    assert_problem(answer, 413, "limit-request-bytes")


async def test_a_hundred_equal_requests_are_one_job(client: Any) -> None:
    client.file("m.onnx", "wait go")
    answers = await asyncio.gather(*(client.start("m.onnx") for _ in range(100)))
    assert {answer.status for answer in answers} == {202}
    (job_id,) = {answer.json["id"] for answer in answers}
    client.file("go")
    assert (await client.end(job_id))["state"] == "done"


async def test_a_changed_file_is_a_new_job(client: Any) -> None:
    before = await client.run(client.file("m.onnx"))
    after = await client.run(client.file("m.onnx", "changed"))
    assert before["id"] != after["id"]
    assert after["identity"] == "identity of changed"
    os.utime(client.root / "m.onnx", ns=(1, 1))
    assert (await client.start("m.onnx")).status == 202


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("bad", 422, "not-a-model-text"),
        ("memory", 413, "limit-memory-bytes"),
        ("kill", 500, "worker-died"),
        ("segv", 500, "worker-died"),
        ("bug", 500, "internal-error"),
    ],
)
async def test_the_problem_of_a_failed_job(text: str, status: int, code: str, client: Any) -> None:
    job = await client.run(client.file("m.onnx", text))
    assert job["state"] == "failed"
    assert (job["problem"]["status"], job["problem"]["code"]) == (status, code)
    assert job["problem"]["hint"]
    for resource in (["graph"], ["report"], ["nodes", "1"]):
        assert_problem(await client.ask("GET", "jobs", job["id"], *resource), status, code)
    assert (await client.run(client.file("n.onnx")))["state"] == "done"


@pytest.mark.parametrize("extension_config", [{"seconds": 1.0}])
async def test_a_job_that_takes_too_long(client: Any) -> None:
    job = await client.run(client.file("m.onnx", "sleep"))
    assert job["problem"]["code"] == "limit-seconds"
    assert job["problem"]["status"] == 413


async def test_cancelling(client: Any) -> None:
    started = await client.start(client.file("m.onnx", "sleep"))
    job_id = started.json["id"]
    assert_problem(await client.ask("GET", "jobs", job_id, "graph"), 409, "job-not-done")
    deleted = await client.ask("DELETE", "jobs", job_id)
    assert (deleted.status, deleted.raw) == (204, b"")
    assert (await client.end(job_id))["state"] == "cancelled"
    assert (await client.ask("DELETE", "jobs", job_id)).status == 204
    assert_problem(await client.ask("GET", "jobs", job_id, "graph"), 409, "job-not-done")
    assert (await client.run(client.file("n.onnx")))["state"] == "done"


@pytest.mark.parametrize("extension_config", [{"max_running": 1, "max_pending": 2}])
async def test_a_full_queue_says_when_to_come_back(client: Any) -> None:
    for name in "abc":
        answer = await client.start(client.file(f"{name}.onnx", "wait go"))
        assert answer.status == 202
        if name == "a":
            while (await client.ask("GET", "jobs", answer.json["id"])).json["state"] == "queued":
                pass
    full = await client.start(client.file("d.onnx"))
    assert_problem(full, 429, "queue-full")
    assert int(full.headers["Retry-After"]) > 0
    client.file("go")
    assert (await client.end(answer.json["id"]))["state"] == "done"
    assert (await client.run("d.onnx"))["state"] == "done"


async def test_unknown_jobs_and_nodes(client: Any) -> None:
    for resource in ([], ["graph"], ["report"], ["nodes", "1"]):
        assert_problem(await client.ask("GET", "jobs", "nope", *resource), 404, "unknown-job")
    assert_problem(await client.ask("DELETE", "jobs", "nope"), 404, "unknown-job")
    job = await client.run(client.file("m.onnx"))
    for node in ("99", "-1", "x", "1.5", "9" * 30, "٣"):
        assert_problem(await client.ask("GET", "jobs", job["id"], "nodes", node), 404, "unknown-node")


async def test_a_method_that_is_not_offered(client: Any) -> None:
    answer = await client.ask("GET", "jobs")
    assert answer.status == 405
    assert answer.json["code"] == "http-405"


async def test_a_node_after_the_answer_came_from_the_cache(client: Any, autodoc: Any) -> None:
    first = await client.run(client.file("m.onnx"))
    for record in autodoc.jobs._store.records:
        autodoc.jobs._stop_worker(record)
    again = await client.start("m.onnx")
    assert (again.status, again.json["id"]) == (200, first["id"])
    assert (await client.ask("GET", "jobs", first["id"], "nodes", "3")).json["id"] == 3


async def test_a_node_of_a_file_that_is_another_now(client: Any, autodoc: Any) -> None:
    job = await client.run(client.file("m.onnx"))
    for record in autodoc.jobs._store.records:
        autodoc.jobs._stop_worker(record)
    client.file("m.onnx", "changed")
    assert_problem(await client.ask("GET", "jobs", job["id"], "nodes", "3"), 409, "file-changed")


async def states(socket: Any) -> list[dict[str, Any]]:
    """All messages until the server closes."""
    seen = []
    while (message := await socket.read_message()) is not None:
        seen.append(json.loads(message))
    return seen


async def test_sockets_send_a_snapshot_and_close_after_the_end(client: Any, jp_ws_fetch: Any) -> None:
    job = (await client.start(client.file("m.onnx", "wait go"))).json
    sockets = [await jp_ws_fetch("autodoc", "api", "jobs", job["id"], "ws") for _ in range(3)]
    first = [json.loads(await socket.read_message()) for socket in sockets]
    assert {message["id"] for message in first} == {job["id"]}
    client.file("go")
    for socket in sockets:
        seen = await states(socket)
        assert seen[-1]["state"] == "done"
        assert socket.close_code == 1000
    late = await jp_ws_fetch("autodoc", "api", "jobs", job["id"], "ws")
    assert [message["state"] for message in await states(late)] == ["done"]
    assert late.close_code == 1000


async def test_a_socket_tells_of_failure(client: Any, jp_ws_fetch: Any) -> None:
    job = (await client.start(client.file("m.onnx", "bad"))).json
    socket = await jp_ws_fetch("autodoc", "api", "jobs", job["id"], "ws")
    assert (await states(socket))[-1]["problem"]["code"] == "not-a-model-text"


async def test_a_client_that_leaves_disturbs_nobody(client: Any, autodoc: Any, jp_ws_fetch: Any) -> None:
    job = (await client.start(client.file("m.onnx", "wait go"))).json
    leaving = await jp_ws_fetch("autodoc", "api", "jobs", job["id"], "ws")
    staying = await jp_ws_fetch("autodoc", "api", "jobs", job["id"], "ws")
    await leaving.read_message()
    leaving.close()
    await staying.write_message("x" * 1000)
    client.file("go")
    assert (await states(staying))[-1]["state"] == "done"


async def test_the_socket_of_an_unknown_job_closes_with_a_code(client: Any, jp_ws_fetch: Any) -> None:
    socket = await jp_ws_fetch("autodoc", "api", "jobs", "nope", "ws")
    assert await states(socket) == []
    assert (socket.close_code, socket.close_reason) == (4404, "unknown-job")


@pytest.mark.parametrize("engine", ["own"])
async def test_stopping_the_server_ends_running_jobs(client: Any, autodoc: Any) -> None:
    job = (await client.start(client.file("m.onnx", "sleep"))).json
    await until(lambda: autodoc.jobs.job(job["id"]).phase == "step 2")
    launcher = autodoc.jobs._launcher
    process = launcher.zygote.process
    await autodoc.stop_extension()
    assert autodoc.jobs.job(job["id"]).state == "cancelled"
    assert process.returncode is not None


def test_the_server_process_does_not_import_the_analysis() -> None:
    heavy = ("onnx", "onnx_ir", "numpy", "torch", "py_autodoc.graph.ir.model")
    code = f"import sys, py_autodoc.server.app; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_installing_enables_the_extension() -> None:
    root = Path(__file__).parent.parent.parent
    enabled = json.loads((root / "jupyter-config/server-config/py_autodoc.json").read_text())
    (name,) = enabled["ServerApp"]["jpserver_extensions"]
    (point,) = import_module(name)._jupyter_server_extension_points()
    assert point["app"].name == name


async def test_a_handler_without_permission_would_be_noticed(client: Any, autodoc: Any) -> None:
    """That this suite's server is as strict as its tests claim."""

    class Open(web.RequestHandler):
        def get(self) -> None: ...

    with pytest.raises(JupyterServerAuthWarning, match="GET of Open"):
        autodoc.serverapp.web_app.add_handlers(".*$", [("/open", Open)])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ('{"path": "m.onnx", "thresholds": {"a": ' + "[" * 100_000 + "}", 413, "limit-request"),
        ('{"path": "m.onnx", "x": ' + '{"a":' * 5_000 + "1" + "}" * 5_001, 413, "limit-request"),
        ('{"path": "m.onnx", "x": [' + "," * 600_000 + "]}", 413, "limit-request"),
        (
            json.dumps({"path": "m.onnx", "bindings": {f"n{number}": 1 for number in range(60_000)}}),
            413,
            "limit-sizes",
        ),
        (json.dumps({"path": "m.onnx", "input_shapes": {"x": [1] * 60_000}}), 413, "limit-sizes"),
    ],
    ids=["deep", "deep objects", "wide", "bindings", "rank"],
)
async def test_a_body_that_is_too_much(body: str, status: int, code: str, client: Any) -> None:
    client.file("m.onnx")
    assert_problem(await client.ask("POST", "jobs", body=body), status, code)


async def test_as_many_sizes_as_are_taken_reach_the_child(client: Any) -> None:
    sizes = {f"{number:0>40}": 1 for number in range(10_000)}
    started = await client.start(client.file("m.onnx"), bindings=sizes)
    assert (await client.end(started.json["id"]))["state"] == "done"
