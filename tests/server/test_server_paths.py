"""Which files may be named, and how."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest_help import assert_problem

pytestmark = pytest.mark.slow

needs_links = pytest.mark.skipif(os.name == "nt", reason="links and pipes of Unix")

OUTSIDE = [
    "../secret.onnx",
    "a/../../secret.onnx",
    "/../secret.onnx",
    "..%2fsecret.onnx",
    "%2e%2e/secret.onnx",
    "..\\secret.onnx",
    "~/secret.onnx",
    "file:///secret.onnx",
    "",
    "/",
    "\0.onnx",
    "a\0.onnx",
    "x" * 5000 + ".onnx",
    "x" * 300 + ".onnx",
    "missing.onnx",
    "missing/m.onnx",
    "m.onnx/more.onnx",
]


@pytest.mark.parametrize("path", OUTSIDE)
async def test_what_is_not_under_the_root_is_not_there(path: str, client: Any) -> None:
    client.file("m.onnx")
    (client.root.parent / "secret.onnx").write_text("ok")
    assert_problem(await client.start(path), 404, "file-not-found")
    assert_problem(await client.ask("GET", "files", params={"path": path}), 404, "file-not-found")


async def test_an_absolute_path_is_one_below_the_root(client: Any) -> None:
    secret = client.root.parent / "secret.onnx"
    secret.write_text("ok")
    assert_problem(await client.start(str(secret)), 404, "file-not-found")
    assert (await client.start("/" + client.file("m.onnx"))).status == 202


@pytest.mark.parametrize("path", [".hidden.onnx", ".folder/m.onnx", "a/.b/m.onnx"])
async def test_hidden_files_are_not_there(path: str, client: Any) -> None:
    client.file(path)
    assert_problem(await client.start(path), 404, "file-not-found")
    assert_problem(await client.ask("GET", "files", params={"path": path}), 404, "file-not-found")


async def test_folders_are_told(client: Any) -> None:
    (client.root / "d.onnx").mkdir()
    for path in ("d.onnx", ".", "d.onnx/"):
        assert_problem(await client.start(path), 404, "not-a-file")


@needs_links
async def test_a_pipe_is_answered_at_once(client: Any) -> None:
    os.mkfifo(client.root / "p.onnx")
    assert_problem(await client.start("p.onnx"), 404, "not-regular")
    assert_problem(await client.ask("GET", "files", params={"path": "p.onnx"}), 404, "not-regular")


@needs_links
async def test_a_link_to_a_device_is_refused(client: Any) -> None:
    os.symlink("/dev/zero", client.root / "z.onnx")
    assert_problem(await client.start("z.onnx"), 404, "not-regular")


@needs_links
async def test_a_dangling_link_is_not_there(client: Any) -> None:
    os.symlink("nowhere", client.root / "l.onnx")
    assert_problem(await client.start("l.onnx"), 404, "file-not-found")


async def test_a_file_that_may_not_be_read(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client.file("m.onnx")
    open_file = os.open

    def refuse(path: Any, *args: Any, **kwargs: Any) -> int:
        # Tests may run as root, who may read everything.
        if str(path).endswith("m.onnx"):
            raise PermissionError(13, "no")
        return open_file(path, *args, **kwargs)

    monkeypatch.setattr("py_autodoc.server.paths.os.open", refuse)
    assert_problem(await client.start("m.onnx"), 404, "no-permission")


@needs_links
@pytest.mark.parametrize("extension_config", [{}, {"allow_outside_links": False}], ids=["follow", "refuse"])
async def test_links_out_of_the_root_are_the_operators_choice(
    extension_config: dict[str, Any], client: Any, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "m.onnx").write_text("ok")
    os.symlink(outside / "m.onnx", client.root / "file.onnx")
    os.symlink(outside, client.root / "folder")
    os.symlink(client.root / client.file("inside.onnx"), client.root / "stays.onnx")
    assert (await client.run("stays.onnx"))["state"] == "done"
    for path in ("file.onnx", "folder/m.onnx"):
        if extension_config:
            assert_problem(await client.start(path), 404, "file-not-found")
        else:
            assert (await client.run(path))["state"] == "done"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("m.pt", "not-an-onnx-name"),
        ("m", "not-an-onnx-name"),
    ],
)
async def test_other_suffixes_are_refused_with_a_way_out(name: str, code: str, client: Any) -> None:
    answer = await client.start(client.file(name))
    assert_problem(answer, 422, code)
    assert answer.json["hint"]


@pytest.mark.parametrize(
    "name", ["M.ONNX", "with space.onnx", "ünï ✓.onnx", "a/b c/m.onnx", "#?%41.onnx", "it's.onnx"]
)
async def test_names_are_taken_as_they_are(name: str, client: Any) -> None:
    assert (await client.run(client.file(name)))["state"] == "done"
    stamp = await client.ask("GET", "files", params={"path": name})
    assert stamp.json["path"] == name


async def test_the_stamp_of_a_file(client: Any) -> None:
    path = client.root / client.file("m.onnx", "12345")
    os.utime(path, ns=(1, 1_700_000_000_123_456_789))
    answer = await client.ask("GET", "files", params={"path": "m.onnx"})
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json == {
        "path": "m.onnx",
        "bytes": 5,
        "mtime_ns": str(path.stat().st_mtime_ns),
        "kind": "onnx",
    }
    other = await client.ask("GET", "files", params={"path": client.file("n.txt")})
    assert other.json["kind"] == "other"


async def test_the_stamp_needs_a_path(client: Any) -> None:
    assert_problem(await client.ask("GET", "files"), 400, "http-400")


async def test_contents_that_are_not_files(client: Any, autodoc: Any) -> None:
    class Elsewhere:
        allow_hidden = False

    autodoc.serverapp.web_app.settings["contents_manager"] = Elsewhere()
    assert_problem(await client.start("m.onnx"), 501, "contents-not-files")


async def test_no_answer_tells_where_the_server_keeps_its_files(client: Any) -> None:
    texts = []
    for text in ("ok", "bad", "bug", "kill"):
        job = await client.run(client.file(f"{text}.onnx", text))
        texts.append(json.dumps(job))
    texts.append((await client.start("missing.onnx")).raw.decode())
    texts.append((await client.start("../x.onnx")).raw.decode())
    assert str(client.root.parent) not in "".join(texts)
