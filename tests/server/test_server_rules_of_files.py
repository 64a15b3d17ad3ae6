"""The files that a model names, and those that are written, obey the rules of the paths in requests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest_help import Client, assert_problem
from onnx import TensorProto, helper

from py_autodoc.jobs import model_session

pytestmark = pytest.mark.slow
FLOAT = TensorProto.FLOAT
SECRET = b"KEY=" + b"s" * 60
SHAPE = [4, 4]


@pytest.fixture
def engine() -> str:
    return "real"


def chain(folder: Path, locations: list[str], name: str = "m.onnx") -> None:
    """x → a product with each weight, whose data are at the locations → y."""
    nodes, weights, last = [], [], "x"
    for index, location in enumerate(locations):
        weight = TensorProto(
            name=f"w{index}", data_type=FLOAT, dims=SHAPE, data_location=TensorProto.EXTERNAL
        )
        for key, value in (("location", location), ("offset", "0"), ("length", "64")):
            weight.external_data.add(key=key, value=value)
        weights.append(weight)
        nodes.append(helper.make_node("MatMul", [last, weight.name], [f"t{index}"], name=f"n{index}"))
        last = f"t{index}"
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info("x", FLOAT, SHAPE)], [info(last, FLOAT, SHAPE)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(model.SerializeToString())


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def extract(client: Client, job: str, path: str, **more: Any) -> Any:
    body = {"path": path, "nodes": [0], **more}
    return await client.ask("POST", "jobs", job, "extract", body=body)


async def task(client: Client, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the status of the request, and the task at its end or the problem."""
    answer = await client.ask("POST", "tasks", body=body)
    state = answer.json
    while answer.status == 202 and state["state"] in ("queued", "running"):
        state = (await client.ask("GET", "tasks", answer.json["id"])).json
    return answer.status, state


# ------------------------------------------------------------ hidden files


def hide(folder: Path, location: str, target: str = "") -> None:
    """Put the secret where the model finds it: at the location, or at the target of a link there."""
    path = folder / (target or location)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(SECRET)
    if target:
        (folder / location).parent.mkdir(parents=True, exist_ok=True)
        (folder / location).symlink_to(os.path.relpath(path, (folder / location).parent))


HIDDEN = [
    (".env", ""),
    (".git/config", ""),
    ("sub/.ssh/id", ""),
    ("sub/../.env", ""),
    ("./.env", ""),
    ("w.bin", ".env"),
    ("w.bin", "sub/.ssh/id"),
    (".link", "w.bin"),
]


@pytest.mark.parametrize(("location", "target"), HIDDEN)
async def test_hidden_files_are_no_weights(location: str, target: str, client: Client) -> None:
    folder = client.root / "models"
    (folder / "sub").mkdir(parents=True)
    hide(folder, location, target)
    chain(folder, [location])
    job = await client.run("models/m.onnx", read_weights=True)
    assert job["state"] == "done"
    before = content(folder)
    report = (await client.ask("GET", "jobs", job["id"], "report")).json
    assert "external-hidden" in {one["code"] for one in report["diagnostics"]}
    weights = ("jobs", job["id"], "weights")
    answers = [
        await client.ask("GET", *weights, params={"tensor": "0"}),
        await client.ask("GET", *weights, "npy", params={"tensor": "0"}),
        await extract(client, job["id"], "models/m.onnx"),
        await extract(client, job["id"], "models/m.onnx", name="copy.onnx"),
    ]
    for answer in answers:
        assert_problem(answer, 422, "external-hidden")
        assert b"sss" not in answer.raw
    assert content(folder) == before


@pytest.mark.parametrize(("location", "target"), [(".env", ""), ("w.bin", ".env")])
@pytest.mark.parametrize("kind", ["measure", "quantize"])
async def test_no_task_reads_hidden_files(kind: str, location: str, target: str, client: Client) -> None:
    pytest.importorskip("onnxruntime")
    folder = client.root / "models"
    folder.mkdir()
    hide(folder, location, target)
    chain(folder, [location])
    np.savez(folder / "x.npz", x=np.ones((1, *SHAPE), np.float32))
    before = content(folder)
    body = {"kind": kind, "path": "models/m.onnx", "data": "models/x.npz", "out": "q.onnx"}
    _, state = await task(client, body)
    assert state["state"] == "failed"
    assert state["problem"]["code"] == "external-hidden", state
    # It is next to the model: only another name, or the setting, helps.
    assert f"Rename {location} " in state["problem"]["hint"]
    assert "ContentsManager.allow_hidden" in state["problem"]["hint"]
    assert content(folder) == before


async def test_a_server_that_shows_hidden_files_reads_them(client: Client, jp_serverapp: Any) -> None:
    jp_serverapp.contents_manager.allow_hidden = True
    hide(client.root, ".env")
    chain(client.root, [".env"])
    job = await client.run("m.onnx")
    answer = await client.ask("GET", "jobs", job["id"], "weights", "npy", params={"tensor": "0"})
    assert answer.status == 200
    assert (await extract(client, job["id"], "m.onnx")).status == 201
    jp_serverapp.contents_manager.allow_hidden = False  # another setting is another job
    again = await client.run("m.onnx")
    assert again["id"] != job["id"]


async def test_a_model_in_a_folder_below_a_hidden_one_keeps_its_weights(
    client: Client, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As in the cache of Hugging Face: what is hidden above the folder of the model is no matter."""
    blobs = tmp_path_factory.mktemp("home") / ".cache" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "b").write_bytes(SECRET)
    chain(blobs, ["w.bin"], "a")
    (client.root / "m.onnx").symlink_to(blobs / "a")
    (client.root / "w.bin").symlink_to(blobs / "b")
    job = await client.run("m.onnx")
    answer = await client.ask("GET", "jobs", job["id"], "weights", "npy", params={"tensor": "0"})
    assert answer.status == 200, answer.raw


# ------------------------------------------------------------ files of the model


@pytest.mark.parametrize("most", [model_session.MAX_COMPANIONS, 3])
async def test_no_weight_file_is_replaced_however_many_there_are(
    most: int, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_session, "MAX_COMPANIONS", most)
    locations = [f"w{index:03}.onnx" for index in range(140)]
    locations.append("a" * 180 + "/" + "b" * 180 + "/" + "c" * 190 + ".onnx")
    for location in locations:
        (client.root / location).parent.mkdir(parents=True, exist_ok=True)
        np.ones(16, np.float32).tofile(client.root / location)
    (client.root / "link.onnx").symlink_to(locations[-1])
    os.link(client.root / "w139.onnx", client.root / "hard.onnx")
    chain(client.root, locations)
    job = await client.run("m.onnx")
    before = content(client.root)
    for name in ("w000.onnx", "w127.onnx", "w128.onnx", "w139.onnx", "link.onnx", "hard.onnx", "m.onnx"):
        answer = await extract(client, job["id"], "m.onnx", name=name, overwrite=True)
        assert_problem(answer, 409, "output-is-input")
    assert content(client.root) == before
    (client.root / "free.onnx").write_text("mine")
    answer = await extract(client, job["id"], "m.onnx", name="free.onnx", overwrite=True)
    assert answer.status == 201
    assert onnx.load(client.root / "free.onnx").graph.node


async def test_a_change_of_any_weight_file_is_noticed(client: Client) -> None:
    locations = [f"w{index:03}.bin" for index in range(140)]
    for location in locations:
        np.ones(16, np.float32).tofile(client.root / location)
    chain(client.root, locations)
    job = await client.run("m.onnx")
    np.zeros(17, np.float32).tofile(client.root / "w139.bin")
    answer = await client.ask("GET", "jobs", job["id"], "weights", params={"name": "w139"})
    assert_problem(answer, 409, "file-changed")
    assert (await client.run("m.onnx"))["id"] != job["id"]


# ------------------------------------------------------------ links of outputs


confined = pytest.mark.parametrize("extension_config", [{"allow_outside_links": False}], ids=["confined"])


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside of the root, with a file of somebody."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "theirs.onnx").write_bytes(b"theirs")
    return folder


def links(folder: Path, outside: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "dangling.onnx").symlink_to(outside / "new.onnx")
    (folder / "theirs.onnx").symlink_to(outside / "theirs.onnx")
    (folder / "twice.onnx").symlink_to("theirs.onnx")
    (folder / "through.onnx").symlink_to("away/new.onnx")
    (folder / "away").symlink_to(outside)


@confined
@pytest.mark.parametrize("name", ["dangling", "theirs", "twice", "through"])
async def test_no_output_leaves_the_root(name: str, client: Client, outside: Path) -> None:
    pytest.importorskip("onnxruntime")
    folder = client.root / "models"
    np.ones(16, np.float32).tofile(client.root / "w.bin")
    links(folder, outside)
    chain(folder, ["w.bin"])
    np.ones(16, np.float32).tofile(folder / "w.bin")
    before = content(outside)
    job = await client.run("models/m.onnx")
    for overwrite in (False, True):
        more = {"name": f"{name}.onnx", "overwrite": overwrite}
        assert_problem(await extract(client, job["id"], "models/m.onnx", **more), 409, "output-outside")
        body = {"kind": "quantize", "path": "models/m.onnx", "out": f"{name}.onnx", "overwrite": overwrite}
        status, problem = await task(client, body)
        assert (status, problem["code"]) == (409, "output-outside")
    assert content(outside) == before
    assert (await extract(client, job["id"], "models/m.onnx", name="in.onnx")).status == 201


@confined
async def test_a_link_to_a_folder_is_none_to_write_to(client: Client, outside: Path) -> None:
    np.ones(16, np.float32).tofile(client.root / "w.bin")
    (client.root / "inside").mkdir()
    (client.root / "folder.onnx").symlink_to("inside")
    chain(client.root, ["w.bin"])
    job = await client.run("m.onnx")
    answer = await extract(client, job["id"], "m.onnx", name="folder.onnx", overwrite=True)
    assert_problem(answer, 409, "output-is-a-folder")


@pytest.mark.parametrize("hidden", [".ssh/config", ".bashrc"])
async def test_no_output_replaces_a_hidden_file_through_a_link(hidden: str, client: Client) -> None:
    (client.root / hidden).parent.mkdir(exist_ok=True)
    (client.root / "free.onnx").symlink_to(hidden)
    np.ones(16, np.float32).tofile(client.root / "w.bin")
    chain(client.root, ["w.bin"])
    job = await client.run("m.onnx")
    for exists in (False, True):
        if exists:
            (client.root / hidden).write_text("mine")
        more = {"name": "free.onnx", "overwrite": True}
        assert_problem(await extract(client, job["id"], "m.onnx", **more), 409, "output-outside")
        status, problem = await task(client, {"kind": "quantize", "path": "m.onnx", "out": "free.onnx"})
        assert (status, problem["code"]) == (409, "output-outside")
    assert (client.root / hidden).read_text() == "mine"
