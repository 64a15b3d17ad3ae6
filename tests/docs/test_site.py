"""The site is built without a warning, and its pages load nothing from other hosts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def offline(folder):
    return subprocess.run(
        [sys.executable, "scripts/docs_site/offline.py", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_pages_load_nothing_from_other_hosts(built):
    done = offline(built)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(built.rglob("*.html"))) > 80


def test_what_a_page_loads_is_found(tmp_path):
    loading = (
        '<script src="https://x.org/a.js"></script>',
        '<link rel="stylesheet" href="//x.org/a.css">',
        '<style>@import "https://x.org/a.css";</style>',
        '<img src="http://x.org/a.png">',
    )
    for page in loading:
        (tmp_path / "index.html").write_text(page, "utf-8")
        assert offline(tmp_path).returncode == 1, page
    (tmp_path / "index.html").write_text('<a href="https://x.org">a link is not loaded</a>', "utf-8")
    assert offline(tmp_path).returncode == 0


def test_generated_pages_are_built(built):
    analyze = (built / "reference/commands/analyze.html").read_text("utf-8")
    assert "--input-shape NAME=1x3x224x224" in analyze
    assert "\\|" not in analyze
    python = (built / "reference/python/analysis.html").read_text("utf-8")
    assert "py_autodoc.analyze" in python
    assert "read_weights" in python
    operators = (built / "reference/operators.html").read_text("utf-8")
    assert "<code>DeformConv</code>" in operators
    home = (built / "index.html").read_text("utf-8")
    assert 'href="viewer.html"' in home
    hardware = (built / "hardware.html").read_text("utf-8")
    assert 'src="images/latency-dark.svg#only-dark"' in hardware
    assert 'src="images/latency.svg#only-light"' in hardware
