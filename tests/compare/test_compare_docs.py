"""What docs/compare.md shows is what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from py_autodoc.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
SHOWN = re.findall(
    r"```console\n\$ onnx-autodoc (.*)\n((?s:.*?))```", (ROOT / "docs" / "compare.md").read_text("utf-8")
)


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_shown_output_is_real(command, output, monkeypatch):
    monkeypatch.chdir(ROOT / "tests" / "data" / "models")
    done = CliRunner().invoke(app, shlex.split(command))
    assert done.stdout + done.stderr == output


def test_something_is_shown():
    assert len(SHOWN) >= 4
