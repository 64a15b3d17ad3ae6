"""`analyze --out-md`, `--out-pdf`, `--update`, `--assets-dir`: files, messages, exit codes."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.render import engine
from py_autodoc.render.markdown import BEGIN, END

MODEL = "tests/data/stripped/resnet50.stripped.onnx"
MISSING = (
    "warning: resnet50.stripped.onnx: weights are missing (weights.not_here.bin); "
    "shapes and costs do not need them.\n"
)
MARKED = f"# Mine\n\n{BEGIN}\n{END}\n"


def run(*args):
    """(exit code, stdout, stderr) of the command in this process."""
    done = CliRunner().invoke(app, ["analyze", *map(str, args)], env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.slow
def test_all_of_them_at_once(tmp_path):
    (tmp_path / "README.md").write_text(MARKED)
    args = (
        "--out-md",
        tmp_path / "card.md",
        "--update",
        tmp_path / "README.md",
        "--assets-dir",
        tmp_path / "pictures",
    )
    assert run(MODEL, *args, "--out-json", tmp_path / "a.json") == (0, "", MISSING)
    card, readme = ((tmp_path / name).read_text("utf-8") for name in ("card.md", "README.md"))
    assert card.startswith("---\nlibrary_name: onnx\n")
    assert 'src="pictures/graph.svg"' in card
    assert readme.startswith("# Mine\n")
    assert "library_name" not in readme
    assert "| MACs | 4.09 G | 4,089,184,256 |" in readme
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == ["graph-dark.svg", "graph.svg"]
    again = (tmp_path / "README.md").read_bytes()
    assert run(MODEL, *args) == (0, "", MISSING)
    assert (tmp_path / "README.md").read_bytes() == again


def test_stdout(tmp_path):
    code, out, err = run(MODEL, "--out-md", "-")
    assert (code, err) == (0, MISSING)
    assert out.startswith("---\nlibrary_name: onnx\n")


def test_pdf(tmp_path):
    pytest.importorskip("typst")
    path = tmp_path / "a.pdf"
    for _ in range(2):  # the second replaces the first
        assert run(MODEL, "--out-pdf", path) == (0, "", MISSING)
    assert path.read_bytes().startswith(b"%PDF-1.7")


def test_pdf_without_typst(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    code, out, err = run(MODEL, "--out-pdf", tmp_path / "a.pdf")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "pip install 'onnx-autodoc[pdf]'" in err
    assert list(tmp_path.iterdir()) == []


def test_a_card_that_somebody_changed_stays(tmp_path):
    path = tmp_path / "card.md"
    assert run(MODEL, "--out-md", path)[0] == 0
    path.write_text(path.read_text("utf-8") + "mine\n", "utf-8")
    code, _, err = run(MODEL, "--out-md", path)
    assert code == 3
    assert "--force" in err
    assert path.read_text("utf-8").endswith("mine\n")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (None, 1, ["README.md"]),
        (b"# no markers\n", 1, ["marker", BEGIN]),
        (b"\xff\xfe", 1, ["UTF-8"]),
    ],
)
def test_update_refused(tmp_path, text, code, words):
    path = tmp_path / "README.md"
    if text is not None:
        path.write_bytes(text)
    found = run(MODEL, "--update", path, "--out-md", tmp_path / "card.md")
    assert found[0] == code
    assert found[1] == ""
    assert found[2].count("\n") == 1
    for word in words:
        assert word in found[2]
    assert not (tmp_path / "card.md").exists()
    assert text is None or path.read_bytes() == text


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--assets-dir", "{}/none/there"], 3, ["does not exist"]),
        (["--assets-dir", "{}/file"], 3, ["not a folder"]),
        ([MODEL, "--out-md", "{}/a.md"], 1, ["--out-md", "one model"]),
        (["--out-md", MODEL], 3, ["the model itself"]),
        (["--update", MODEL], 3, ["the model itself"]),
    ],
)
def test_refused(tmp_path, args, code, words):
    (tmp_path / "file").write_text("x")
    found = run(MODEL, *(arg.format(tmp_path) for arg in args))
    assert found[0] == code
    assert found[1] == ""
    for word in words:
        assert word in found[2]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_picture_that_cannot_be_drawn_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "MEMORY", 1 << 20)
    code, _, err = run(MODEL, "--out-md", tmp_path / "card.md", "--assets-dir", tmp_path / "pictures")
    assert code == 0
    assert "No image of the graph" in err
    assert "graph.svg" not in (tmp_path / "card.md").read_text("utf-8")
    assert not (tmp_path / "pictures").exists()


def test_what_is_not_ours_in_the_folder_stays(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "graph.svg").write_text("<svg>mine</svg>")
    code, _, err = run(MODEL, "--assets-dir", folder)
    assert code == 3
    assert "graph.svg" in err
    assert (folder / "graph.svg").read_text() == "<svg>mine</svg>"
