"""What --tags, --topology and --structure find, as files."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from py_autodoc.cli.app import app

DATA = Path(__file__).parents[1] / "data/models"
FIRST, SECOND = str(DATA / "resnet_tiny.onnx"), str(DATA / "bert_tiny.onnx")


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_differences_are_written_as_they_are_printed(tmp_path):
    text, data = tmp_path / "r.md", tmp_path / "r.json"
    done = invoke("compare", FIRST, SECOND, "--tags", "--structure", "--out-md", text, "--out-json", data)
    assert (done.exit_code, done.stdout) == (1, ""), done.stderr
    found = json.loads(data.read_text("utf-8"))
    assert found["topology"]
    assert found["tags"]["equal"] is False
    written = text.read_text("utf-8")
    assert "## Graph" in written
    assert "## Modules" in written
    assert "GatherElements" in written


def test_equal_models_say_so(tmp_path):
    text = tmp_path / "r.md"
    done = invoke("compare", FIRST, FIRST, "--tags", "--topology", "--out-md", text)
    assert done.exit_code == 0, done.stderr
    assert "The graphs are the same" in text.read_text("utf-8")
    assert "differ" not in text.read_text("utf-8").partition("## Modules")[2].replace("difference", "")
    refused = invoke("compare", FIRST, FIRST, "--tags", "--out-md", FIRST)
    assert refused.exit_code == 3
