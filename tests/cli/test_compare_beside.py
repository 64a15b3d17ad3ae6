"""``compare --beside``: a page with two models."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app
from py_autodoc.render import html
from py_autodoc.report.schema import ComparisonColumns

DATA = Path(__file__).parents[1] / "data"
TINY = DATA / "models" / "resnet_tiny.onnx"
FREE = DATA / "stripped" / "bert_base_dyn.stripped.onnx"


@pytest.fixture(autouse=True)
def built(monkeypatch):
    monkeypatch.setattr(html, "static", lambda name: f"/* {name} */")


def compare(*args):
    done = CliRunner().invoke(app, ["compare", *map(str, args)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout or done.stderr


def test_alone_it_writes_the_page_and_compares_nothing(tmp_path):
    page = tmp_path / "both.html"
    assert compare(TINY, FREE, "--beside", page) == (0, "")
    text = page.read_text("utf-8")
    assert "<title>resnet_tiny.onnx | bert_base_dyn.stripped.onnx</title>" in text
    assert re.findall(r'<script type="application/octet-stream" id="([\w-]+)">', text) == [
        "autodoc-model",
        "autodoc-other",
        "autodoc-comparison",
    ]
    packed = re.search(r'id="autodoc-comparison">([^<]+)<', text).group(1)
    columns = msgspec.json.decode(gzip.decompress(base64.b64decode(packed)), type=ComparisonColumns)
    assert columns.verdict == "different architectures"
    assert 'data-direction="auto"' in text


def test_a_direction_is_that_of_the_page(tmp_path):
    page = tmp_path / "both.html"
    assert compare(TINY, TINY, "--beside", page, "--direction", "down") == (0, "")
    assert 'data-direction="down"' in page.read_text("utf-8")
    code, said = compare(TINY, TINY, "--direction", "down")
    assert code == 2
    assert "--beside" in said


def test_with_a_comparison_it_does_both(tmp_path):
    page = tmp_path / "both.html"
    code, out = compare(TINY, TINY, "--beside", page, "--topology")
    assert (code, page.is_file()) == (0, True)
    assert "The graphs are the same" in out
    assert compare(TINY, FREE, "--beside", page, "--topology")[0] == 1


def test_neither_model_is_written_over(tmp_path):
    first, second = tmp_path / "a.onnx", tmp_path / "b.onnx"
    for file in (first, second):
        file.write_bytes(TINY.read_bytes())
    for target in (first, second):
        code, said = compare(first, second, "--beside", target)
        assert code != 0
        assert "the model itself" in said
        assert target.read_bytes() == TINY.read_bytes()


def test_what_is_wrong_is_told_and_nothing_is_written(tmp_path):
    page = tmp_path / "both.html"
    code, said = compare(TINY, tmp_path / "missing.onnx", "--beside", page)
    assert code != 0
    assert "missing.onnx" in said
    code, said = compare(TINY, TINY, "--beside", "-")
    assert code != 0
    assert "cannot write to stdout" in said
    assert not list(tmp_path.iterdir())
