"""The real analysis through the whole server: models, bad inputs, limits."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import onnx
import pytest
from conftest_help import assert_problem

from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import BatchAnswer, ComparisonColumns, GraphPayload, NodeDetails

pytestmark = pytest.mark.slow

MODELS = Path(__file__).parent.parent / "data" / "models"


@pytest.fixture
def engine() -> str:
    return "real"


def put(client: Any, name: str) -> str:
    shutil.copy(MODELS / name, client.root / name)
    return name


async def test_models(client: Any) -> None:
    job = await client.run(put(client, "bert_tiny.onnx"), assume=True)
    assert (job["state"], job["problem"]) == ("done", None)
    graph = await client.ask("GET", "jobs", job["id"], "graph")
    payload = msgspec.json.decode(graph.raw, type=GraphPayload)
    assert payload.model.identity == job["identity"]
    assert all(dim.value is not None for dim in payload.dims)
    report = msgspec.json.decode((await client.ask("GET", "jobs", job["id"], "report")).raw, type=Report)
    assert report.metrics == payload.metrics
    batch = await client.ask("GET", "jobs", job["id"], "batch")
    offer = msgspec.json.decode(batch.raw, type=BatchAnswer).offer
    assert payload.batch is None
    assert offer is not None
    assert offer.dim.value == 1
    node = report.layers[-1]
    details = await client.ask("GET", "jobs", job["id"], "nodes", str(node.id))
    assert msgspec.json.decode(details.raw, type=NodeDetails).name == node.name
    assert_problem(await client.ask("GET", "jobs", job["id"], "nodes", "100000"), 404, "unknown-node")

    for answer in (graph, details):
        assert str(client.root).encode() not in answer.raw


async def test_two_models_are_aligned(client: Any) -> None:
    names = ("resnet_tiny.onnx", "resnet_tiny_qdq_int8.onnx")
    jobs = [await client.run(put(client, name), assume=True) for name in names]
    ids = [job["id"] for job in jobs]
    answer = await client.ask("GET", "jobs", ids[0], "comparison", params={"other": ids[1]})
    columns = msgspec.json.decode(answer.raw, type=ComparisonColumns)
    for job, column in zip(jobs, (columns.left, columns.right), strict=True):
        graph = await client.ask("GET", "jobs", job["id"], "graph")
        assert len(msgspec.json.decode(graph.raw, type=GraphPayload).nodes.name) == len(column)
    assert columns.verdict == "same architecture"
    assert columns.core_matched == 24
    same = await client.ask("GET", "jobs", ids[0], "comparison", params={"other": ids[0]})
    assert not any(msgspec.json.decode(same.raw, type=ComparisonColumns).changes)
    # The other model need not be there yet.
    begun = await client.start(names[1], bindings={"early": 1}, assume=True)
    early = await client.ask("GET", "jobs", ids[0], "comparison", params={"other": begun.json["id"]})
    await client.end(begun.json["id"])
    if early.status == 200:
        assert msgspec.json.decode(early.raw, type=ComparisonColumns) == columns
    missing = await client.ask("GET", "jobs", ids[0], "comparison", params={"other": "nobody"})
    assert_problem(missing, 404, "unknown-job")
    (client.root / names[1]).write_bytes(b"another file")
    gone = await client.ask("GET", "jobs", ids[0], "comparison", params={"other": ids[1]})
    assert gone.status >= 400
    assert gone.json["code"] != "internal-error"


async def test_symbols(client: Any) -> None:
    name = "bert_base_dyn.stripped.onnx"
    shutil.copy(MODELS.parent / "stripped" / name, client.root / name)
    free = await dims(client, name)
    assert [value for value, _ in free.values()] == [None] * len(free)
    (symbol, *others) = free
    bound = await dims(client, name, bindings={symbol: 7}, assume=True)
    assert bound[symbol] == (7, False)
    assert all(value and assumed for value, assumed in (bound[other] for other in others))


async def dims(client: Any, path: str, **options: Any) -> dict[str, tuple[int | None, bool]]:
    job = await client.run(path, **options)
    graph = await client.ask("GET", "jobs", job["id"], "graph")
    payload = msgspec.json.decode(graph.raw, type=GraphPayload)
    return {dim.name: (dim.value, dim.assumed) for dim in payload.dims}


async def test_bad_inputs(client: Any) -> None:
    model = (MODELS / "bert_tiny.onnx").read_bytes()
    cases = {
        "empty.onnx": (b"", 422, "not-a-model-empty"),
        "page.onnx": (b"<!DOCTYPE html><html><body></body></html>", 422, "not-a-model-html"),
        "lfs.onnx": (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n",
            422,
            "not-a-model-git-lfs",
        ),
        "cut.onnx": (model[: len(model) // 2], 422, "corrupt-model"),
        "zeros.onnx": (b"\0" * 100_000, 422, None),
    }
    for name, (data, status, code) in cases.items():
        (client.root / name).write_bytes(data)
        problem = (await client.run(name))["problem"]
        assert problem["status"] == status, name
        assert code in (None, problem["code"]), name
        assert name in problem["detail"], name
        assert str(client.root) not in problem["detail"] + problem["hint"]
    problem = (await client.run(put(client, "resnet_tiny.onnx"), input_shapes={"nope": [1]}))["problem"]
    assert problem["status"] == 422
    assert problem["hint"] or "nope" in problem["detail"]
    # A hole of 3 GB costs no memory and no time.
    with open(client.root / "sparse.onnx", "wb") as file:
        os.truncate(file.fileno(), 3 << 30)
    assert (await client.run("sparse.onnx"))["state"] == "failed"
    assert (await client.run("resnet_tiny.onnx"))["state"] == "done"


@pytest.mark.parametrize("extension_config", [{"max_nodes": 5}])
async def test_a_model_over_the_limit(client: Any) -> None:
    job = await client.run(put(client, "bert_tiny.onnx"))
    assert (job["problem"]["status"], job["problem"]["code"]) == (413, "limit-nodes")
    assert_problem(await client.ask("GET", "jobs", job["id"], "graph"), 413, "limit-nodes")


@pytest.mark.parametrize("extension_config", [{"memory_bytes": 512 << 20}])
async def test_a_model_larger_than_the_memory_limit(client: Any) -> None:
    """Weights are not read, so a file may be larger than the memory an analysis may use."""
    model = onnx.load(MODELS / "resnet_tiny.onnx")
    count = 200 << 20
    # The last initializer's raw_data comes last in the file: 800 MB of hole.
    data = field(9, 4 * count)
    tensor = onnx.TensorProto(name="big", data_type=onnx.TensorProto.FLOAT, dims=[count]).SerializeToString()
    initializer = field(5, len(tensor) + len(data) + 4 * count) + tensor + data
    graph = model.graph.SerializeToString() + initializer
    model.ClearField("graph")
    head = model.SerializeToString() + field(7, len(graph) + 4 * count) + graph
    with open(client.root / "big.onnx", "wb") as file:
        file.write(head)
        file.truncate(len(head) + 4 * count)
    job = await client.run("big.onnx")
    assert job["state"] == "done", job["problem"]
    report = await client.ask("GET", "jobs", job["id"], "graph")
    assert report.json["model"]["file_bytes"] > 4 * count


def field(number: int, length: int) -> bytes:
    """Head of a length-delimited protobuf field."""
    out = bytearray([number << 3 | 2])
    while length > 127:
        out.append(length & 127 | 128)
        length >>= 7
    return bytes([*out, length])
