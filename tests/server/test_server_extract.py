"""Parts of a model, written beside it by the server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from conftest_help import assert_problem
from jupyter_server.auth import Authorizer
from onnx import helper, numpy_helper

import py_autodoc.server.incoming_file as saving
from py_autodoc.errors import LimitError
from py_autodoc.extract import extract_bytes
from py_autodoc.report.schema import Extracted, GraphPayload

pytestmark = pytest.mark.slow


@pytest.fixture
def engine() -> str:
    return "real"


def save(root: Path, name: str = "m.onnx", external: bool = False) -> str:
    """x → Gemm (a weight of 400 kB) → Relu → Twice (a local function) → y."""
    rng = np.random.default_rng(0)
    weight = numpy_helper.from_array(rng.normal(0, 1, (100, 1000)).astype(np.float32), "weight")
    info = helper.make_tensor_value_info
    body = [helper.make_node("Add", ["v", "v"], ["o"], "add")]
    twice = helper.make_function("own", "Twice", ["v"], ["o"], body, [helper.make_opsetid("", 21)])
    nodes = [
        helper.make_node("Gemm", ["x", "weight"], ["h"], "gemm"),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("Twice", ["r"], ["y"], "twice", domain="own"),
    ]
    graph = helper.make_graph(
        nodes, "g", [info("x", 1, [2, 100])], [info("y", 1, [2, 1000])], [weight],
        value_info=[info("h", 1, [2, 1000]), info("r", 1, [2, 1000])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=[twice])
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"save_as_external_data": True, "location": "w.bin", "size_threshold": 0} if external else {}
    onnx.save(proto, path, **options)
    return name


async def extract(client: Any, job: dict[str, Any], path: str, nodes: list[int], **more: Any) -> Any:
    return await client.ask("POST", "jobs", job["id"], "extract", body={"path": path, "nodes": nodes, **more})


def left(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def run(path: Path, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, feeds)


async def test_a_part_is_written_beside_the_model_and_runs(client: Any) -> None:
    path = save(client.root, "sub/m.onnx")
    job = await client.run(path)
    graph = msgspec.json.decode((await client.ask("GET", "jobs", job["id"], "graph")).raw, type=GraphPayload)
    assert len(graph.nodes.name) == 3
    answer = await extract(client, job, path, [0, 1], part="Encoder/layer 0")
    assert answer.status == 201, answer.raw
    found = msgspec.json.decode(answer.raw, type=Extracted)
    assert found.path == "sub/m.Encoder-layer-0.onnx"
    assert (found.nodes, found.inputs, found.outputs, found.convex) == (2, ["x"], ["r"], True)
    assert (found.input_count, found.output_count, found.widened) == (1, 1, 0)
    written = client.root / found.path
    assert found.bytes == written.stat().st_size > 400_000
    onnx.checker.check_model(str(written), full_check=True)
    x = np.random.default_rng(1).normal(0, 1, (2, 100)).astype(np.float32)
    (part,) = run(written, {"x": x})
    (whole,) = run(client.root / path, {"x": x})
    np.testing.assert_array_equal(part + part, whole)
    assert left(client.root / "sub") == ["m.Encoder-layer-0.onnx", "m.onnx"]
    again = await client.run(found.path)
    assert again["state"] == "done"


async def test_functions_are_expanded_as_in_the_payload(client: Any) -> None:
    job = await client.run(save(client.root))
    answer = await extract(client, job, "m.onnx", [2])
    assert answer.json["path"] == "m.part.onnx"
    assert [node.op_type for node in onnx.load(client.root / "m.part.onnx").graph.node] == ["Add"]


async def test_nothing_is_replaced_unless_asked(client: Any) -> None:
    job = await client.run(save(client.root))
    (client.root / "m.part.onnx").write_text("mine")
    for number in (2, 3):
        assert (await extract(client, job, "m.onnx", [1])).json["path"] == f"m.part-{number}.onnx"
    before = left(client.root)
    assert_problem(await extract(client, job, "m.onnx", [1], name="m.part.onnx"), 409, "output-exists")
    assert (client.root / "m.part.onnx").read_text() == "mine"
    assert left(client.root) == before
    answer = await extract(client, job, "m.onnx", [1], name="m.part.onnx", overwrite=True)
    assert answer.json["path"] == "m.part.onnx"
    onnx.checker.check_model(str(client.root / "m.part.onnx"))
    model = (client.root / "m.onnx").read_bytes()
    assert_problem(
        await extract(client, job, "m.onnx", [1], name="m.onnx", overwrite=True), 409, "output-is-input"
    )
    assert (client.root / "m.onnx").read_bytes() == model
    for name in ("../x.onnx", "a/b.onnx", ".hidden.onnx", "x.txt", "a\\b.onnx", "x\0.onnx", ".onnx"):
        assert_problem(await extract(client, job, "m.onnx", [1], name=name), 422, "bad-name")
    assert left(client.root) == before


async def test_nothing_of_the_model_is_replaced_whatever_its_name(client: Any) -> None:
    """Links and hard links of the model and of its weights; ``overwrite`` changes nothing about that."""
    job = await client.run(save(client.root, external=True))
    (client.root / "link.onnx").symlink_to("m.onnx")
    os.link(client.root / "m.onnx", client.root / "hard.onnx")
    os.link(client.root / "w.bin", client.root / "weights.onnx")
    (client.root / "data.onnx").symlink_to("w.bin")
    before = {path.name: path.read_bytes() for path in client.root.iterdir()}
    for name in ("link.onnx", "hard.onnx", "weights.onnx", "data.onnx"):
        for overwrite in (False, True):
            answer = await extract(client, job, "m.onnx", [1], name=name, overwrite=overwrite)
            held = overwrite or name in ("link.onnx", "hard.onnx")
            assert_problem(answer, 409, "output-is-input" if held else "output-exists")
            assert str(client.root) not in answer.raw.decode()
    assert {path.name: path.read_bytes() for path in client.root.iterdir()} == before
    (client.root / "folder.onnx").mkdir()
    answer = await extract(client, job, "m.onnx", [1], name="folder.onnx", overwrite=True)
    assert_problem(answer, 409, "output-is-a-folder")


async def test_faults_are_told_and_leave_nothing(client: Any) -> None:
    job = await client.run(save(client.root, external=True))
    before = left(client.root)
    assert_problem(await extract(client, job, "m.onnx", []), 422, "nothing-selected")
    assert_problem(await extract(client, job, "m.onnx", [3]), 404, "unknown-node")
    assert_problem(await extract(client, job, "m.onnx", [-1]), 404, "unknown-node")
    assert_problem(await extract(client, job, "m.onnx", [0, 10**15]), 404, "unknown-node")
    assert_problem(await extract(client, {"id": "nope"}, "m.onnx", [0]), 404, "unknown-job")
    assert_problem(await extract(client, job, "other.onnx", [0]), 404, "file-not-found")
    assert_problem(await extract(client, job, "../m.onnx", [0]), 404, "file-not-found")
    many = await extract(client, job, "m.onnx", list(range(0, 30_000, 2)))
    assert_problem(many, 413, "limit-extract-nodes")
    save(client.root, "second.onnx")
    assert_problem(await extract(client, job, "second.onnx", [0]), 422, "other-file")
    (client.root / "second.onnx").unlink()
    os.rename(client.root / "w.bin", client.root / "away.bin")
    missing = await extract(client, job, "m.onnx", [0])
    assert missing.status == 422
    assert "w.bin" in missing.json["detail"] + missing.json["hint"]
    assert str(client.root) not in missing.raw.decode()
    # What needs no weights can be had without them.
    assert (await extract(client, job, "m.onnx", [1])).status == 201
    (client.root / "m.part.onnx").unlink()
    os.rename(client.root / "away.bin", client.root / "w.bin")
    with (client.root / "m.onnx").open("ab") as file:
        file.write(b"\0")
    assert_problem(await extract(client, job, "m.onnx", [0]), 409, "file-changed")
    assert left(client.root) == before


def test_too_many_weights_are_told(tmp_path: Path) -> None:
    save(tmp_path)
    with pytest.raises(LimitError, match="400,000 bytes"):
        extract_bytes(tmp_path / "m.onnx", [0], max_bytes=399_999)
    found, data = extract_bytes(tmp_path / "m.onnx", [0], max_bytes=400_000)
    assert found.paths == ()
    assert onnx.load_from_string(data).graph.initializer[0].name == "weight"


async def test_a_disk_that_is_full_leaves_nothing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job = await client.run(save(client.root))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving.os, "replace", full)
    answer = await extract(client, job, "m.onnx", [0])
    assert_problem(answer, 500, "output-failed")
    assert "No space left" in answer.json["detail"]
    assert left(client.root) == ["m.onnx"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_cannot_be_written(client: Any) -> None:
    path = save(client.root, "locked/m.onnx")
    job = await client.run(path)
    (client.root / "locked").chmod(0o500)
    try:
        assert_problem(await extract(client, job, path, [0]), 500, "output-failed")
    finally:
        (client.root / "locked").chmod(0o700)


class ReadOnly(Authorizer):
    """As on a server that shows notebooks and lets nobody change them."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return (action, resource) != ("write", "contents")


@pytest.fixture
def read_only(jp_server_config: dict[str, Any]) -> None:
    jp_server_config["ServerApp"]["authorizer_class"] = ReadOnly


async def test_who_may_not_save_files_may_not_extract(read_only: None, client: Any) -> None:
    job = await client.run(save(client.root))
    assert_problem(await extract(client, job, "m.onnx", [0]), 403, "http-403")
    assert left(client.root) == ["m.onnx"]
