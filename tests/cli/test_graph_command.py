"""`onnx-autodoc graph`: formats, exit codes, streams, files."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.cli.graph import OVERLAYS
from py_autodoc.render import html, svg

MODEL = "tests/data/models/mnist_cntk.onnx"
DYNAMIC = "tests/data/stripped/bert_base_dyn.stripped.onnx"
SVG = "{http://www.w3.org/2000/svg}"
BUILT = resources.files("py_autodoc").joinpath("static/svg.js").is_file()
drawing = pytest.mark.skipif(not BUILT or not shutil.which("node"), reason="needs Node and the built viewer")


def run(*args, env=None):
    """(exit code, stdout, stderr) of the command in this process."""
    done = CliRunner().invoke(app, ["graph", *map(str, args)], env={"COLUMNS": "100"} | (env or {}))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_overlays_are_those_of_the_renderer():
    assert OVERLAYS == svg.OVERLAYS


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ([MODEL], 1, ["--out"]),
        (["missing.onnx", "--out", "{}/a.dot"], 1, ["missing.onnx"]),
        ([MODEL, "--out", "{}/a.txt"], 1, [".svg", "--format"]),
        ([MODEL, "--out", "{}/a.json"], 1, [".netron.json"]),
        ([MODEL, "--out", "{}/a.png"], 1, ["browser", ".svg"]),
        ([MODEL, "--out", "-"], 1, ["--format"]),
        ([MODEL, "--out", "{}/none/a.dot"], 3, ["does not exist"]),
        ([MODEL, "--out", MODEL, "--format", "dot"], 3, ["the model itself"]),
        ([MODEL, "--out", "{}/a.dot", "--bind", "batch"], 1, ["batch"]),
        ([MODEL, "--out", "{}/a.model-explorer.json", "--overlay", "intensity"], 1, ["intensity", "macs"]),
    ],
)
def test_refused(tmp_path, args, code, words):
    found = run(*(str(a).format(tmp_path) for a in args))
    assert found[0] == code
    assert found[1] == ""
    assert found[2].count("\n") == 1
    for word in words:
        assert word in found[2]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.dot", "A.GV", "a.netron.json", "a.model-explorer.json"])
def test_written_by_ending(tmp_path, name):
    path = tmp_path / name
    assert run(MODEL, "--out", path) == (0, "", "")
    text = path.read_text("utf-8")
    assert text.startswith("digraph" if name.lower().endswith(("dot", "gv")) else "{")
    assert list(tmp_path.iterdir()) == [path]


def test_stdout_and_a_format_that_wins_over_the_ending(tmp_path):
    code, out, err = run(MODEL, "--out", "-", "--format", "netron")
    assert (code, err) == (0, "")
    assert json.loads(out)["signature"] == "netron:attachment"
    path = tmp_path / "a.svg"
    assert run(MODEL, "--out", path, "--format", "dot")[0] == 0
    assert path.read_text("utf-8").startswith("digraph")


def test_bindings_reach_the_numbers(tmp_path):
    def total(*args):
        rows = json.loads(run(DYNAMIC, "--out", "-", "--format", "netron", *args)[1])["metrics"]
        return next((r["value"] for r in rows if r["kind"] == "model" and r["name"].startswith("MACs")), None)

    assert total("--bind", "*=2") < total("--bind", "*=4") < total("--assume")


def test_old_file_stays_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "a.dot"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    code, _, err = run(MODEL, "--out", path)
    assert (code, path.read_text()) == (3, "old")
    assert "No space" in err
    assert list(tmp_path.iterdir()) == [path]


def test_html_is_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "static", lambda name: f"/* {name} */")
    path = tmp_path / "a.html"
    assert run(MODEL, "--out", path)[0] == 0
    assert "Content-Security-Policy" in path.read_text("utf-8")


def test_svg_without_node_says_what_it_needs(tmp_path):
    code, _, err = run(MODEL, "--out", tmp_path / "a.svg", env={"PATH": str(tmp_path)})
    assert code == 1
    assert err.count("\n") == 1
    for word in ("Node", "18", ".html"):
        assert word in err


def test_svg_with_an_old_node(tmp_path):
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v12.22.0\n")
    node.chmod(0o755)
    code, _, err = run(MODEL, "--out", tmp_path / "a.svg", env={"PATH": f"{tmp_path}:/bin:/usr/bin"})
    assert code == 1
    assert "v12.22.0" in err
    assert not (tmp_path / "a.svg").exists()


@drawing
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_svg(tmp_path, theme):
    path = tmp_path / "a.svg"
    assert run(MODEL, "--out", path, "--theme", theme) == (0, "", "")
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    tags = {element.tag for element in root.iter()}
    assert not tags & {f"{SVG}script", f"{SVG}foreignObject", f"{SVG}style", f"{SVG}image"}
    texts = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert texts.count("Conv") == 2
    assert Path(MODEL).name in texts
    assert any("787 K" in text for text in texts)
    ground = next(root.iter(f"{SVG}rect")).get("fill")
    assert (ground == "#ffffff") is (theme == "light")


@drawing
def test_svg_depth_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(svg, "MAX_BOXES", 5)
    code, _, err = run(MODEL, "--out", tmp_path / "a.svg", "--depth", "9")
    assert code == 1
    assert "--depth" in err
    assert " 5 " in err
