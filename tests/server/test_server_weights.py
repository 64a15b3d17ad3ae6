"""Values of constants, and the settings of the rules, through the whole server."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from conftest_help import assert_problem
from jobs_help import until
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.report.schema import GraphPayload, WeightFile, WeightValues

pytestmark = pytest.mark.slow


@pytest.fixture
def engine() -> str:
    return "real"


MODELS = Path(__file__).parent.parent / "data" / "models"
VALUES = np.random.default_rng(0).normal(0, 1, (40, 50)).astype(np.float32)


def model(client: Any, name: str = "m.onnx") -> str:
    """A Gemm with its weight inside, a bias in another file, and two bodies with a constant of one name."""
    bias = TensorProto(name="bias", data_type=1, dims=[50], data_location=TensorProto.EXTERNAL)
    bias.external_data.add(key="location", value="data/bias.bin")
    info = helper.make_tensor_value_info

    def body(name: str, value: float) -> onnx.GraphProto:
        inner = numpy_helper.from_array(np.full(50, value, np.float32), "inner")
        nodes = [helper.make_node("Add", ["h", "inner"], [f"{name}_out"])]
        return helper.make_graph(nodes, name, [], [info(f"{name}_out", 1, [1, 50])], [inner])

    nodes = [
        helper.make_node("Gemm", ["x", "weight", "bias"], ["h"], "gemm"),
        helper.make_node("If", ["c"], ["y"], "branch", then_branch=body("yes", 1), else_branch=body("no", 2)),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", 1, [1, 40]), info("c", 9, [])],
        [info("y", 1, [1, 50])],
        [numpy_helper.from_array(VALUES, "weight"), bias],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10),
        client.root / name,
    )
    return name


async def weights(client: Any, job: dict[str, Any], **params: Any) -> Any:
    return await client.ask("GET", "jobs", job["id"], "weights", params=params)


async def test_by_name_and_by_id(client: Any) -> None:
    job = await client.run(model(client))
    answer = await weights(client, job, name="weight")
    assert answer.status == 200, answer.raw
    found = msgspec.json.decode(answer.raw, type=WeightValues)
    assert (found.shape, found.elements, found.bytes, found.storage) == ([40, 50], 2000, 8000, "inline")
    assert np.float32(found.values[7]) == VALUES.reshape(-1)[7]
    assert len(found.values) == 200
    assert np.float32(found.min) == VALUES.min()
    assert sum(found.histogram.counts) == 2000
    graph = await client.ask("GET", "jobs", job["id"], "graph")
    names = msgspec.json.decode(graph.raw, type=GraphPayload).tensors.name
    same = await weights(client, job, tensor=str(names.index("weight")))
    assert same.json == answer.json
    tag = answer.headers["ETag"]
    again = await client.ask(
        "GET", "jobs", job["id"], "weights", params={"name": "weight"}, headers={"If-None-Match": tag}
    )
    assert again.status == 304


async def test_faults_teach(client: Any) -> None:
    job = await client.run(model(client))
    wrong = await weights(client, job, name="wieght")
    assert_problem(wrong, 404, "unknown-weight")
    assert "weight" in wrong.json["hint"]
    assert_problem(await weights(client, job, name="h"), 404, "not-a-weight")
    assert_problem(await weights(client, job, tensor="99999"), 404, "unknown-weight")
    several = await weights(client, job, name="inner")
    assert_problem(several, 422, "ambiguous-weight")
    assert "branch.then_branch" in several.json["hint"]
    one = await weights(client, job, name="inner", graph="branch.else_branch")
    assert one.json["mean"] == 2
    for params in (
        {},
        {"tensor": "1", "name": "weight"},
        {"tensor": "-1"},
        {"tensor": "٣"},
        {"tensor": "9" * 30},
    ):
        assert_problem(await weights(client, job, **params), 422, "bad-request")
    assert_problem(await weights(client, {"id": "nope"}, name="weight"), 404, "unknown-job")


async def test_a_missing_file_may_come_and_a_changed_one_is_told(client: Any) -> None:
    job = await client.run(model(client))
    missing = await weights(client, job, name="bias")
    assert_problem(missing, 422, "external-missing")
    assert "bias.bin" in missing.json["hint"]
    assert str(client.root) not in missing.raw.decode()
    (client.root / "data").mkdir()
    data = client.root / "data" / "bias.bin"
    data.write_bytes(np.full(50, 3, np.float32).tobytes())
    found = await weights(client, job, name="bias")
    assert (found.json["mean"], found.json["location"], found.json["offset"]) == (3, "bias.bin", 0)
    job = await client.run("m.onnx")
    assert (await weights(client, job, name="bias")).json["mean"] == 3
    data.write_bytes(np.full(50, 4, np.float32).tobytes())
    os.utime(data, ns=(1, 1))
    changed = await weights(client, job, name="bias")
    assert_problem(changed, 409, "file-changed")
    assert "bias.bin" in changed.json["detail"]
    job = await client.run("m.onnx")
    assert (await weights(client, job, name="bias")).json["mean"] == 4


async def test_a_changed_model_is_told(client: Any) -> None:
    job = await client.run(model(client))
    assert (await weights(client, job, name="weight")).status == 200
    os.utime(client.root / "m.onnx", ns=(1, 1))
    assert_problem(await weights(client, job, name="weight"), 409, "file-changed")


async def saved(client: Any, job: dict[str, Any], **params: Any) -> Any:
    return await client.ask("GET", "jobs", job["id"], "weights", "npy", params=params)


async def test_all_values_as_a_file(client: Any, autodoc: Any) -> None:
    job = await client.run(model(client))
    answer = await saved(client, job, name="weight")
    assert answer.status == 200, answer.raw
    found = msgspec.json.decode(answer.raw, type=WeightFile)
    assert (found.shape, found.dtype, found.converted) == ([40, 50], "float32", False)
    assert np.array_equal(np.load(io.BytesIO(found.data), allow_pickle=False), VALUES)
    assert base64.b64decode(answer.json["data"]) == found.data
    by_id = await saved(client, job, tensor=str(found.tensor))
    assert by_id.json == answer.json
    # What the viewer shows of it is another answer, and neither is taken for the other.
    shown = await weights(client, job, name="weight")
    assert shown.json["elements"] == 2000
    assert (await saved(client, job, name="weight")).json == answer.json
    assert len(autodoc.jobs._weights._entries) == 1


async def test_faults_of_the_file(client: Any) -> None:
    job = await client.run(model(client))
    assert_problem(await saved(client, job, name="h"), 404, "not-a-weight")
    assert_problem(await saved(client, job), 422, "bad-request")
    assert_problem(await saved(client, {"id": "nope"}, name="weight"), 404, "unknown-job")
    assert_problem(await saved(client, job, name="bias"), 422, "external-missing")
    os.utime(client.root / "m.onnx", ns=(1, 1))
    assert_problem(await saved(client, job, name="weight"), 409, "file-changed")


async def test_a_file_too_large_names_the_way_out(client: Any) -> None:
    """A hole of 200 MB, of which nothing is read."""
    huge = TensorProto(name="huge", data_type=1, dims=[50_000_000], data_location=TensorProto.EXTERNAL)
    huge.external_data.add(key="location", value="huge.bin")
    info = helper.make_tensor_value_info("y", 1, [50_000_000])
    graph = helper.make_graph([helper.make_node("Identity", ["huge"], ["y"])], "g", [], [info], [huge])
    onnx.save(helper.make_model(graph, ir_version=10), client.root / "m.onnx")
    with open(client.root / "huge.bin", "wb") as file:
        file.truncate(200_000_000)
    job = await client.run("m.onnx")
    answer = await saved(client, job, name="huge")
    assert_problem(answer, 413, "limit-array-bytes")
    assert "py_autodoc.read_array('m.onnx', 'huge')" in answer.json["hint"]


async def test_a_client_that_leaves_stops_the_reading(client: Any, autodoc: Any) -> None:
    """A hole of 200 GB takes minutes to read; the child is free again at once."""
    huge = TensorProto(name="huge", data_type=1, dims=[50_000_000_000], data_location=TensorProto.EXTERNAL)
    huge.external_data.add(key="location", value="huge.bin")
    graph = helper.make_graph(
        [helper.make_node("Identity", ["huge"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", 1, [50_000_000_000])],
        [huge, numpy_helper.from_array(VALUES, "weight")],
    )
    onnx.save(helper.make_model(graph, ir_version=10), client.root / "m.onnx")
    with open(client.root / "huge.bin", "wb") as file:
        file.truncate(200_000_000_000)
    job = await client.run("m.onnx")
    (record,) = autodoc.jobs._store.records
    pid_before = record.worker
    with pytest.raises(Exception, match=r"[Tt]imeout|599"):
        await client.ask("GET", "jobs", job["id"], "weights", params={"name": "huge"}, request_timeout=1)
    await until(lambda: not record.weights_lock.locked())
    assert (await asyncio.wait_for(weights(client, job, name="weight"), 30)).status == 200
    assert record.worker is pid_before


async def findings(client: Any, job: dict[str, Any]) -> GraphPayload:
    graph = await client.ask("GET", "jobs", job["id"], "graph")
    return msgspec.json.decode(graph.raw, type=GraphPayload)


async def test_thresholds_as_an_object_and_as_a_file(client: Any) -> None:
    name = "m.onnx"
    shutil.copy(MODELS / "light_bvlc_alexnet.onnx", client.root / name)
    plain = await findings(client, await client.run(name))
    rule = "oversized-dense"
    assert rule in {signal.id for signal in plain.risk_signals}
    chosen = {rule: {"enabled": False}}
    quiet = await findings(client, await client.run(name, thresholds=chosen))
    assert rule not in {signal.id for signal in quiet.risk_signals}
    client.file("rules.json", json.dumps(chosen))
    by_file = await findings(client, await client.run(name, thresholds="rules.json"))
    assert by_file.risk_signals == quiet.risk_signals
    client.file("rules.json", json.dumps({"floor": "high"}))
    os.utime(client.root / "rules.json", ns=(1, 1))
    floor = await findings(client, await client.run(name, thresholds="rules.json"))
    assert {signal.severity for signal in floor.risk_signals} <= {"high"}


@pytest.mark.parametrize(
    ("thresholds", "status", "code"),
    [
        ({"deep-chian": {}}, 422, "unknown-rule"),
        ({"deep-chain": {"min_layer": 3}}, 422, "unknown-threshold"),
        ({"deep-chain": {"min_layers": "many"}}, 422, "bad-threshold"),
        ("broken.json", 422, "bad-threshold-file"),
    ],
)
async def test_thresholds_are_checked(thresholds: Any, status: int, code: str, client: Any) -> None:
    client.file("broken.json", "{")
    job = await client.run(model(client), thresholds=thresholds)
    assert job["state"] == "failed"
    assert (job["problem"]["status"], job["problem"]["code"]) == (status, code)
    assert str(client.root) not in json.dumps(job)


async def test_a_threshold_file_that_is_not_there_and_of_no_type(client: Any) -> None:
    name = model(client)
    assert_problem(await client.start(name, thresholds="none.json"), 404, "file-not-found")
    assert_problem(await client.start(name, thresholds="../none.json"), 404, "file-not-found")
    assert_problem(await client.start(name, thresholds=3), 422, "bad-request")
    assert_problem(await client.start(name, read_weights="yes"), 422, "bad-request")


async def test_weights_are_read_for_the_rules_when_asked(client: Any) -> None:
    (client.root / "data").mkdir()
    (client.root / "data" / "bias.bin").write_bytes(np.full(50, np.nan, np.float32).tobytes())
    name = model(client)
    plain = await findings(client, await client.run(name))
    assert "bad-weights" not in {signal.id for signal in plain.risk_signals}
    read = await findings(client, await client.run(name, read_weights=True))
    assert "bad-weights" in {signal.id for signal in read.risk_signals}
