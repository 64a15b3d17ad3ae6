"""Tasks over HTTP: measured, quantized, watched, stopped, and what is refused."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import forked_tasks
import onnx
import pytest
from forked_interpreter import ForkedInterpreter

from py_autodoc.tasks import process
from py_autodoc.tasks.kinds import KINDS

pytest.importorskip("onnxruntime")
DATA = Path(__file__).parents[1] / "data/quant"


@pytest.fixture(scope="module")
def interpreter():
    if not hasattr(os, "fork"):
        yield None
        return
    made = ForkedInterpreter(forked_tasks.IMPORTS)
    yield made
    made.close()


@pytest.fixture
def forked(interpreter, monkeypatch):
    """The child processes of tasks are forks; tests without this fixture start new interpreters."""
    if interpreter is None:
        return
    monkeypatch.setattr(process, "start_process", lambda: forked_tasks.start(interpreter))


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


@pytest.mark.usefixtures("forked")
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
        ({"kind": "fly", **MODEL}, 422, "unknown-task"),
        ({"kind": "measure", "target": "cpu-avx2", **MODEL}, 422, "bad-target"),
        ({"kind": "quantize", "out": "q.onnx", "target": "abacus", **MODEL}, 422, "unknown-target"),
        ({"kind": "quantize", "out": "q.onnx", "method": "abacus", **MODEL}, 422, "unknown-method"),
        ({"kind": "quantize", "out": "digits.npz", "overwrite": True, **MODEL}, 422, "bad-name"),
        ({"kind": "quantize", **MODEL}, 422, "bad-name"),
        ({"kind": "quantize", "out": "../q.onnx", **MODEL}, 422, "bad-name"),
        ({"kind": "quantize", "out": "digits_cnn.onnx", "overwrite": True, **MODEL}, 409, "output-is-input"),
        ({"kind": "quantize", "out": "q.onnx", "path": MODEL["path"]}, 202, "no-data"),
        ({"kind": "measure", "path": "models/none.onnx"}, 404, "file-not-found"),
        ({"kind": "measure", **MODEL, "data": "../../etc/passwd"}, 404, "file-not-found"),
        ({"kind": "measure", "path": "models/digits.npz"}, 422, "not-an-onnx-name"),
        ({"kind": "sensitivity", **MODEL, "target": "x"}, 422, "bad-target"),
        ({"kind": 7, **MODEL}, 422, "bad-request"),
    ],
)
@pytest.mark.usefixtures("forked")
async def test_refusals(client, digits, body, status, code):
    got, answer = await ended(client, body)
    assert got == status
    problem = answer if status != 202 else answer["problem"]
    assert problem["code"] == code, problem
    assert 400 <= problem["status"] < 500, problem
    assert str(digits) not in json.dumps(answer)


@pytest.mark.usefixtures("forked")
async def test_the_target_of_a_quantization_is_used(client, digits):
    """For TensorRT, values are signed and symmetric; not what this machine would get."""
    body = {"kind": "quantize", "out": "q.onnx", "samples": 4, "target": "tensorrt", **MODEL}
    _, task = await ended(client, body)
    assert task["state"] == "done", task
    written = onnx.load(digits / "q.onnx")
    recipe = json.loads({one.key: one.value for one in written.metadata_props}["onnx_autodoc.quantization"])
    assert recipe["recipe"]["target"] == "tensorrt"


@pytest.mark.parametrize("name", ["copy.onnx", "link.onnx"])
@pytest.mark.usefixtures("forked")
async def test_another_name_of_the_model_is_no_output(client, digits, name):
    (os.link if name == "copy.onnx" else os.symlink)(digits / "digits_cnn.onnx", digits / name)
    before = (digits / "digits_cnn.onnx").read_bytes()
    answer = await client.ask(
        "POST", "tasks", body={"kind": "quantize", "out": name, "overwrite": True, **MODEL}
    )
    assert (answer.status, answer.json["code"]) == (409, "output-is-input")
    assert (digits / "digits_cnn.onnx").read_bytes() == before


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
    assert set(KINDS) == {"measure", "profile", "verify", "sensitivity", "quantize"}


async def sent(client, name, content):
    answer = await client.ask("POST", "uploads", body=content, params={"name": name})
    assert answer.status == 201, answer.raw
    return answer.json


def nodes_named(folder, count=2):
    graph = onnx.load(folder / "digits_cnn.onnx").graph
    return [node.output[0] for node in graph.node if node.op_type == "Conv"][:count]


@pytest.mark.usefixtures("forked")
async def test_a_profile_that_was_sent_is_attributed(client, digits):
    first, second = nodes_named(digits)
    table = {first: 0.5, second: 0.25, "elsewhere": 0.25}
    upload = await sent(client, "times of mine.json", json.dumps(table).encode())
    assert (upload["name"], upload["size"]) == ("times of mine.json", len(json.dumps(table)))
    _, task = await ended(client, {"kind": "profile", "path": MODEL["path"], "uploads": [upload["id"]]})
    assert task["state"] == "done", task
    result = task["result"]
    assert result["times"]["source"] == "times of mine.json"
    assert [one["ms"] for one in result["times"]["kernels"]] == [0.5, 0.25]
    assert result["times"]["lost"] == [{"name": "elsewhere", "ms": 0.25}]
    assert (result["times"]["total_ms"], result["times"]["attributed_ms"]) == (1.0, 0.75)
    assert sorted(result["values"].values()) == [0.25, 0.5]
    assert "75.0%" in result["lines"][0]
    _, again = await ended(client, {"kind": "profile", "path": MODEL["path"], "uploads": [upload["id"]]})
    assert again["code"] == "unknown-upload"


@pytest.mark.usefixtures("forked")
async def test_a_profile_beside_the_model(client, digits):
    (digits / "t.csv").write_text(f"name,ms\n{nodes_named(digits)[0]},0.5\n")
    body = {"kind": "profile", "path": MODEL["path"], "profiles": ["models/t.csv"]}
    _, task = await ended(client, body)
    assert task["result"]["times"]["total_ms"] == 0.5


@pytest.mark.usefixtures("forked")
async def test_tensorrt_with_layer_information_in_any_order(client, digits):
    node = onnx.load(digits / "digits_cnn.onnx").graph.node[0]
    times = [{"count": 1}, {"name": "__myl_Conv_0", "averageMs": 0.5}]
    said = {"Layers": [{"Name": "__myl_Conv_0", "LayerType": "x", "Metadata": f"[ONNX Layer: {node.name}]"}]}
    for order in ((said, times), (times, said)):
        uploads = [(await sent(client, "f.json", json.dumps(one).encode()))["id"] for one in order]
        _, task = await ended(client, {"kind": "profile", "path": MODEL["path"], "uploads": uploads})
        assert task["state"] == "done", task
        assert task["result"]["times"]["attributed_ms"] == 0.5


@pytest.mark.parametrize(
    ("contents", "code"),
    [
        ([b"\xff\xfe\x00"], "bad-profile"),
        ([b"no table"], "bad-profile"),
        ([b"[" * 100_000], "bad-profile"),
        ([b"x" * 200_000], "bad-profile"),
        ([b'{"of another model": 1}'], "profile-of-another-model"),
        ([b'{"Layers": []}'], "layer-info-alone"),
        ([b'{"a": 1}', b'{"a": 1}'], "several-profiles"),
        ([], "several-profiles"),
    ],
)
@pytest.mark.usefixtures("forked")
async def test_what_is_no_profile(client, digits, contents, code):
    uploads = [(await sent(client, f"../{'x' * 300}\n.json", one))["id"] for one in contents]
    _, task = await ended(client, {"kind": "profile", "path": MODEL["path"], "uploads": uploads})
    assert task["problem"]["code"] == code, task
    assert "\n" not in task["problem"]["detail"]
    assert "autodoc-uploads" not in json.dumps(task)


def test_uploads_are_bounded_and_deleted(monkeypatch):
    from py_autodoc.errors import LimitError, PathError
    from py_autodoc.tasks import uploads as module

    kept = module.Uploads()
    monkeypatch.setattr(module, "MAX_UPLOAD_BYTES", 4)
    with pytest.raises(LimitError):
        kept.add("large", b"12345")
    numbers = [kept.add("../../a", b"1")[0] for _ in range(module.MAX_UPLOADS + 1)]
    with pytest.raises(PathError):
        kept.take(numbers[:1])
    (path,) = kept.take(numbers[1:2])
    folder = Path(path).parents[1]
    assert Path(path).read_bytes() == b"1"
    assert len(list(folder.iterdir())) == module.MAX_UPLOADS
    kept.release([path])
    assert not Path(path).exists()
    monkeypatch.setattr(module, "SECONDS", -1.0)
    with pytest.raises(PathError):
        kept.take(numbers[2:3])
    kept.close()
    assert not folder.exists()


@pytest.mark.usefixtures("forked")
async def test_a_quantized_model_is_verified(client, digits):
    body = {"kind": "quantize", "out": "q.onnx", "samples": 16, **MODEL}
    await ended(client, body)
    body = {
        "kind": "verify", "path": "models/q.onnx", "data": MODEL["data"], "against": MODEL["path"],
        "tolerance": 0.001, "samples": 4,
    }  # fmt: skip
    _, task = await ended(client, body)
    assert task["state"] == "done", task
    found = task["result"]["verification"]
    assert found["verdict"] == "diverges"
    assert found["reference"] == "digits_cnn.onnx"
    first = found["layers"][found["first"]]
    assert first["diverges"]
    assert first["error"] > 0.001 >= first["error_before"]
    nodes = onnx.load(digits / "q.onnx").graph.node
    assert nodes[first["node"]].op_type == first["op"]
    assert str(first["node"]) in task["result"]["values"]
    assert task["result"]["label"] == "Relative error"


@pytest.mark.usefixtures("forked")
async def test_expected_values_are_a_reference(client, digits):
    import numpy as np

    with np.load(DATA / "digits.npz") as held:
        name = onnx.load(digits / "digits_cnn.onnx").graph.output[0].name
        np.savez(digits / "expected.npz", **{**held, name: np.zeros((len(held[held.files[0]]), 10), "f")})
    body = {"kind": "verify", "path": MODEL["path"], "against": "models/expected.npz"}
    _, task = await ended(client, body)
    assert task["state"] == "done", task
    assert task["result"]["verification"]["verdict"] == "diverges"
    assert (await ended(client, {"kind": "verify", "path": MODEL["path"]}))[1]["code"] == "no-reference"
    body["against"] = "../../etc/passwd"
    assert (await ended(client, body))[0] == 404
