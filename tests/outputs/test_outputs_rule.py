"""No command writes over an input, the files of its weights, or a file that it did not write."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.errors import OutputError
from py_autodoc.outputs import OutputRequest, check_outputs
from py_autodoc.outputs.marks import WRITTEN
from py_autodoc.render import html, svg

DATA = Path(__file__).parents[1] / "data"
KERAS = DATA / "keras"


@pytest.fixture(autouse=True)
def built(monkeypatch):
    monkeypatch.setattr(html, "static", lambda name: f"/* {name} */")
    drawn = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="9" '
        'height="9" viewBox="0 0 9 9" role="img" xml:space="preserve" '
        'font-family="Helvetica, Arial, sans-serif"></svg>'
    )
    monkeypatch.setattr(svg, "svg_picture", lambda *_, **__: drawn)
    monkeypatch.setattr("py_autodoc.cli.graph._need", lambda chosen: None)


@pytest.fixture
def model(tmp_path) -> Path:
    """x → Gemm with its weight in w.bin → Relu → y."""
    weight = numpy_helper.from_array(np.ones((8, 8), np.float32), "weight")
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Gemm", ["x", "weight"], ["h"], "a"),
        helper.make_node("Relu", ["h"], ["y"], "b"),
    ]
    graph = helper.make_graph(nodes, "g", [info("x", 1, [2, 8])], [info("y", 1, [2, 8])], [weight])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path = tmp_path / "m.onnx"
    onnx.save(made, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return path


def run(*args: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(map(str, args)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stderr


WRITERS: dict[str, Callable[[Path, Path], list[object]]] = {
    "json": lambda model, out: ["analyze", model, "--out-json", out],
    "csv": lambda model, out: ["analyze", model, "--out-csv", out],
    "html": lambda model, out: ["analyze", model, "--out-html", out],
    "svg": lambda model, out: ["graph", model, "--format", "svg", "--out", out],
    "dot": lambda model, out: ["graph", model, "--format", "dot", "--out", out],
    "netron": lambda model, out: ["graph", model, "--format", "netron", "--out", out],
    "explorer": lambda model, out: ["graph", model, "--format", "model-explorer", "--out", out],
    "beside": lambda model, out: ["compare", model, model, "--beside", out],
    "extract": lambda model, out: ["extract", model, out, "--node", "1"],
    "rebatch": lambda model, out: ["rebatch", model, out, "--batch", "4", "--from", "2"],
    "resize": lambda model, out: ["resize", model, out, "--input-shape", "x=4x8"],
}
"""What needs no torch; each writes one file."""


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("target", ["m.onnx", "w.bin", "link.onnx", "hard.onnx", "hard.bin"])
def test_an_input_is_never_written_over(model, writer, target):
    folder = model.parent
    (folder / "link.onnx").symlink_to("m.onnx")
    os.link(model, folder / "hard.onnx")
    os.link(folder / "w.bin", folder / "hard.bin")
    before = listing(folder)
    for force in ([], ["--force"]):
        code, said = run(*WRITERS[writer](model, folder / target), *force)
        assert code == 3, said
        assert said.startswith("error: ")
        assert said.count("\n") == 1
        assert "stay as they are" in said
        assert listing(folder) == before


@pytest.mark.parametrize("writer", WRITERS)
def test_the_model_given_by_a_link_is_the_model(model, writer):
    link = model.parent / "sub"
    link.mkdir()
    (link / "n.onnx").symlink_to(model)
    assert run(*WRITERS[writer](link / "n.onnx", model), "--force")[0] == 3


@pytest.mark.parametrize("writer", WRITERS)
def test_another_file_is_replaced_only_by_force_and_an_own_one_without(model, writer):
    out = model.parent / "result.file"
    out.write_text("mine")
    code, said = run(*WRITERS[writer](model, out))
    assert (code, out.read_text()) == (3, "mine")
    assert "result.file exists" in said
    assert "--force" in said
    assert run(*WRITERS[writer](model, out), "--force")[0] == 0
    assert out.read_bytes() != b"mine"
    assert run(*WRITERS[writer](model, out)) == (0, run(*WRITERS[writer](model, out))[1])
    assert sorted(path.name for path in model.parent.iterdir()) == ["m.onnx", "result.file", "w.bin"]


def test_an_empty_file_is_anybodys(model, tmp_path):
    out = tmp_path / "empty.json"
    out.touch()
    assert run("analyze", model, "--out-json", out)[0] == 0


def test_one_kind_does_not_replace_another(model, tmp_path):
    out = tmp_path / "r"
    assert run("analyze", model, "--out-json", out)[0] == 0
    assert run("analyze", model, "--out-csv", out)[0] == 3
    assert out.read_text().startswith("{")


def test_all_that_is_refused_is_told_in_one_line_and_nothing_is_written(model, tmp_path):
    (tmp_path / "a.json").write_text("a")
    before = listing(tmp_path)
    code, said = run(
        "analyze", model, "--out-json", tmp_path / "a.json", "--out-csv", tmp_path / "w.bin",
        "--out-html", tmp_path / "no" / "x.html",
    )  # fmt: skip
    assert (code, said.count("\n")) == (3, 1)
    for part in ("a.json exists", "w.bin is the data of m.onnx", "x.html: its folder does not exist"):
        assert part in said
    assert listing(tmp_path) == before


def test_two_results_in_one_file_are_refused(model, tmp_path):
    for other in ("r.x", "R.X"):
        args = ["analyze", model, "--out-json", tmp_path / "r.x", "--out-csv", tmp_path / other]
        code, said = run(*args)
        assert code == 3
        assert "would be one file" in said
    assert not (tmp_path / "r.x").exists()


def test_a_hugging_face_folder_keeps_its_weights(tmp_path):
    source = DATA / "models" / "mnist_cntk.onnx"
    shutil.copy(source, tmp_path / "model.onnx")
    (tmp_path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    before = listing(tmp_path)
    code, said = run("to-torch", tmp_path / "model.onnx", tmp_path / "model.py", "--weights", "safetensors")
    assert (code, listing(tmp_path)) == (3, before)
    assert "model.safetensors exists" in said


@pytest.mark.parametrize("kind", ["safetensors", "npz"])
def test_source_code_is_replaced_unless_somebody_changed_it(tmp_path, kind):
    source, out = DATA / "models" / "mnist_cntk.onnx", tmp_path / "net.py"
    args = ["to-torch", source, out, "--weights", kind]
    assert run(*args)[0] == 0
    assert run(*args)[0] == 0
    written = out.read_text()
    out.write_text(written.replace("def forward", "# mine\n    def forward", 1))
    code, said = run(*args)
    assert (code, "net.py exists" in said) == (3, True)
    assert "# mine" in out.read_text()
    assert run(*args, "--force")[0] == 0
    assert out.read_text() == written


def test_a_model_is_ours_until_somebody_changes_its_weights(model, tmp_path):
    out = tmp_path / "part.onnx"
    args = ["extract", model, out, "--node", "0"]
    assert run(*args)[0] == 0
    assert run(*args)[0] == 0
    ours = onnx.load(out)
    assert ours.metadata_props[-1].key == WRITTEN
    onnx.checker.check_model(ours, full_check=True)
    # Another program keeps our metadata, and the size.
    ours.graph.initializer[0].raw_data = np.zeros((8, 8), np.float32).tobytes()
    onnx.save(ours, out)
    changed = out.read_bytes()
    assert run(*args)[0] == 3
    assert out.read_bytes() == changed


def test_data_beside_a_model_are_ours_with_it(model, tmp_path, monkeypatch):
    monkeypatch.setattr("py_autodoc.extract.write_sub_model.LARGE", 16)
    out, data = tmp_path / "part.onnx", tmp_path / "part.onnx.data"
    args = ["extract", model, out, "--node", "0"]
    data.write_bytes(b"mine")
    code, said = run(*args)
    assert (code, data.read_bytes()) == (3, b"mine")
    assert "part.onnx.data exists" in said
    assert not out.exists()
    data.unlink()
    assert run(*args)[0] == 0
    assert data.stat().st_size == 256
    assert run(*args)[0] == 0
    data.write_bytes(b"0" * 300)
    assert run(*args)[0] == 3
    assert data.stat().st_size == 300


def test_a_model_of_keras_is_an_input(tmp_path):
    source = next(path for path in sorted(KERAS.rglob("*.h5")))
    path = tmp_path / "a.h5"
    shutil.copy(source, path)
    before = listing(tmp_path)
    code, said = run("export", path, path)
    assert (code, listing(tmp_path)) == (3, before)
    assert "the model itself" in said
    (tmp_path / "b.onnx").write_text("mine")
    (tmp_path / "b.onnx.json").write_text("mine too")
    code, said = run("export", path, tmp_path / "b.onnx")
    assert code == 3
    assert "b.onnx exists" in said
    assert "b.onnx.json exists" in said
    assert run("export", path, tmp_path / "b.onnx", "--force")[0] == 0
    assert run("export", path, tmp_path / "b.onnx")[0] == 0


def test_tags_are_written_elsewhere(tmp_path):
    path = tmp_path / "t.onnx"
    shutil.copy(Path("examples/bert_tiny.onnx"), path)
    before = listing(tmp_path)
    for option in ("--assign", "--restore"):
        assert run("tags", path, option, path, "--force")[0] == 3
    assert listing(tmp_path) == before
    assert run("tags", path, "--assign", tmp_path / "u.onnx")[0] == 0
    assert run("tags", path, "--assign", tmp_path / "u.onnx")[0] == 0


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    (there,) = check_outputs([OutputRequest(tmp_path / "x.json", "report")])
    (tmp_path / "x.json").write_text("mine")
    with pytest.raises(OutputError, match="in the meantime"):
        there.write(b"{}")
    assert (tmp_path / "x.json").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_devices_are_written_to(model):
    assert run("analyze", model, "--out-json", "/dev/null")[0] == 0
    assert os.path.exists("/dev/null")
    assert not os.path.isfile("/dev/null")


@pytest.mark.parametrize("name", ["a\0b", "n" * 300, "no/where/x", ""])
def test_a_path_that_cannot_be_is_told(tmp_path, name):
    with pytest.raises(OutputError) as caught:
        check_outputs([OutputRequest(f"{tmp_path}/{name}", "report")])
    assert "\n" not in str(caught.value)
