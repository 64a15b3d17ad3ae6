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


BROKEN = "numpy.core.multiarray failed to import"


class _Broken:
    """A finder that lets the import of a package fail as an incompatible one does."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == self.package:
            raise ImportError(BROKEN)
        return


def broken(monkeypatch, package):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [_Broken(package), *sys.meta_path])


def test_a_broken_matplotlib_loses_only_the_plots(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    broken(monkeypatch, "matplotlib")
    code, _, err = run(
        MODEL, "--with-plots", "--assets-dir", tmp_path / "p", "--out-md", tmp_path / "card.md",
        "--out-json", tmp_path / "a.json",
    )  # fmt: skip
    assert code == 0
    assert f"warning: No plots: Plots need matplotlib, which cannot be imported here: {BROKEN}." in err
    assert "pip install --force-reinstall matplotlib" in err
    assert (tmp_path / "a.json").is_file()
    assert "graph.svg" in (tmp_path / "card.md").read_text("utf-8")


def test_a_plot_that_fails_loses_only_the_plots(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from py_autodoc.render.plots import draw

    monkeypatch.setattr(draw, "as_svg", lambda figure: 1 / 0)
    code, _, err = run(MODEL, "--with-plots", "--assets-dir", tmp_path / "p", "--out-csv", tmp_path / "a.csv")
    assert code == 0
    assert "warning: No plots: matplotlib failed (ZeroDivisionError).\n" in err
    assert (tmp_path / "a.csv").is_file()


@pytest.mark.parametrize("how", ["missing", "broken", "fails"])
def test_without_a_pdf_all_else_is_written(tmp_path, monkeypatch, how):
    if how == "missing":
        monkeypatch.setitem(sys.modules, "typst", None)
    elif how == "broken":
        broken(monkeypatch, "typst")
    else:
        pytest.importorskip("typst")
        from py_autodoc.errors import AnalysisError
        from py_autodoc.render import pdf

        def fails(*_):
            raise AnalysisError("pdf-failed", "typst failed.")

        monkeypatch.setattr(pdf, "pdf", fails)
    code, _, err = run(
        MODEL,
        "--out-pdf",
        tmp_path / "a.pdf",
        "--out-md",
        tmp_path / "a.md",
        "--out-json",
        tmp_path / "a.json",
    )
    assert code == 3
    assert err.splitlines()[-1].startswith("error: ")
    assert "typst" in err.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.md"]


@pytest.mark.parametrize("how", ["url", "model", "httpx missing", "httpx broken"])
def test_a_language_model_that_is_not_configured_loses_only_the_summary(tmp_path, monkeypatch, how):
    for name in ("ONNX_AUTODOC_LLM_URL", "ONNX_AUTODOC_LLM_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    args = ["--llm-model", "m"] if how == "url" else ["--llm-url", "https://a.example"]
    if how == "httpx missing":
        monkeypatch.setitem(sys.modules, "httpx", None)
    elif how == "httpx broken":
        broken(monkeypatch, "httpx")
    code, _, err = run(
        MODEL, "--llm-summary", *args, "--out-md", tmp_path / "a.md", "--out-json", tmp_path / "a.json"
    )
    assert code == 4
    assert sum(line.startswith("error: ") for line in err.splitlines()) == 1
    assert ("httpx" if "httpx" in how else f"--llm-{how}") in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.md"]


def test_a_wrong_address_is_still_refused_at_once(tmp_path):
    code, _, err = run(MODEL, "--llm-summary", "--llm-url", "ftp://x", "--out-json", tmp_path / "a.json")
    assert code == 1
    assert "is not a URL" in err
    assert not list(tmp_path.iterdir())
