"""Tasks over HTTP: measured, quantized, watched, stopped, and what is refused."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import onnx
import pytest

from py_autodoc.tasks.kinds import KINDS

pytest.importorskip("onnxruntime")
DATA = Path(__file__).parents[1] / "data/quant"


@pytest.fixture
def digits(jp_root_dir):
    folder = jp_root_dir / "models"
    folder.mkdir()
    shutil.copy(DATA / "digits_cnn.onnx", folder)
    shutil.copy(DATA / "digits.npz", folder)
    return folder


async def ended(client, body):
    """(status, the task in its last state)."""
    answer = await client.ask("POST", "tasks", body=body)
    if answer.status != 202:
        return answer.status, answer.json
    for _ in range(600):
        task = (await client.ask("GET", "tasks", answer.json["id"])).json
        if task["state"] not in ("queued", "running"):
            return 202, task
        await asyncio.sleep(0.1)
    raise AssertionError(task)


MODEL = {"path": "models/digits_cnn.onnx", "data": "models/digits.npz"}


async def test_layers_are_measured(client, digits):
    _, task = await ended(client, {"kind": "measure", **MODEL})
    assert task["state"] == "done", task
    result = task["result"]
    assert result["values"]
    assert all(value >= 0 for value in result["values"].values())
    assert result["label"]


async def test_sensitivity_then_quantize(client, digits):
    before = (digits / "digits_cnn.onnx").read_bytes()
    _, task = await ended(client, {"kind": "sensitivity", "samples": 16, "target": "sqnr>=38", **MODEL})
    assert task["state"] == "done", task
    layers = task["result"]["layers"]
    assert len(layers) > 4
    assert all(one["error"] > 0 and one["node"] is not None for one in layers)
    assert set(task["result"]["values"]) == {str(one["node"]) for one in layers}
    assert any("38" in line for line in task["result"]["lines"])
    kept = layers[0]["tensor"]
    body = {"kind": "quantize", "out": "q.onnx", "samples": 16, "exclude": [kept], **MODEL}
    _, task = await ended(client, body)
    assert task["state"] == "done", task
    assert task["result"]["path"] == "q.onnx"
    made = onnx.load(digits / "q.onnx")
    assert any(node.op_type == "QuantizeLinear" for node in made.graph.node)
    assert (digits / "digits_cnn.onnx").read_bytes() == before
    assert not [one for one in digits.iterdir() if one.name.startswith(".")]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"kind": "fly", **MODEL}, 202, "unknown-task"),
        ({"kind": "quantize", **MODEL}, 422, "bad-name"),
        ({"kind": "quantize", "out": "../q.onnx", **MODEL}, 422, "bad-name"),
        ({"kind": "quantize", "out": "digits_cnn.onnx", "overwrite": True, **MODEL}, 202, "output-is-input"),
        ({"kind": "quantize", "out": "q.onnx", "path": MODEL["path"]}, 202, "no-data"),
        ({"kind": "measure", "path": "models/none.onnx"}, 404, "file-not-found"),
        ({"kind": "measure", **MODEL, "data": "../../etc/passwd"}, 404, "file-not-found"),
        ({"kind": "measure", "path": "models/digits.npz"}, 422, "not-an-onnx-name"),
        ({"kind": "sensitivity", **MODEL, "target": "x"}, 202, "bad-target"),
        ({"kind": 7, **MODEL}, 422, "bad-request"),
    ],
)
async def test_refusals(client, digits, body, status, code):
    got, answer = await ended(client, body)
    assert got == status
    problem = answer if status != 202 else answer["problem"]
    assert problem["code"] == code, problem
    assert str(digits) not in json.dumps(answer)


async def test_a_task_is_stopped(client, digits):
    first = (await client.ask("POST", "tasks", body={"kind": "sensitivity", **MODEL})).json
    second = (await client.ask("POST", "tasks", body={"kind": "measure", **MODEL})).json
    assert (await client.ask("GET", "tasks", second["id"])).json["state"] == "queued"
    for one in (second, first):
        assert (await client.ask("DELETE", "tasks", one["id"])).status == 204
        assert (await client.ask("GET", "tasks", one["id"])).json["state"] == "cancelled"
    assert (await client.ask("GET", "tasks", "none")).status == 404
    _, task = await ended(client, {"kind": "measure", **MODEL})
    assert task["state"] == "done"


async def test_a_damaged_model_ends_the_task_alone(client, digits):
    (digits / "bad.onnx").write_bytes((digits / "digits_cnn.onnx").read_bytes()[:3000])
    _, task = await ended(client, {"kind": "measure", "path": "models/bad.onnx"})
    assert task["state"] == "failed"
    assert task["problem"]["detail"]


def test_the_kinds():
    assert set(KINDS) == {"measure", "sensitivity", "quantize"}
