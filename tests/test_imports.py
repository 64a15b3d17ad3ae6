"""What importing costs: nothing that is not needed yet."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = [
    "torch", "onnxruntime", "tornado", "jupyter_server", "matplotlib", "click", "rich", "jinja2", "onnx",
    "onnx_ir", "numpy", "msgspec", "anywidget", "ipywidgets", "transformers",
]  # fmt: skip


def loaded_by(code: str) -> set[str]:
    """Top-level packages a fresh interpreter has loaded after ``code``."""
    script = (
        f"{code}\nimport json, sys\nprint(json.dumps(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_package_alone():
    assert not loaded_by("import py_autodoc") & set(HEAVY)


@pytest.mark.slow
def test_a_report_needs_no_user_interface():
    code = "import py_autodoc; py_autodoc.analyze('tests/data/models/mnist_cntk.onnx').to_json()"
    allowed = {"onnx", "numpy", "msgspec"}
    assert loaded_by(code) & set(HEAVY) <= allowed


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["analyze", "--help"]])
def test_help_needs_no_engine(args):
    code = f"""
import sys
sys.argv = ["onnx-autodoc", *{args!r}]
from py_autodoc.cli import main
try:
    main()
except SystemExit:
    pass
"""
    assert loaded_by(code) & set(HEAVY) <= {"click"}


@pytest.mark.slow
def test_writing_a_file_needs_no_rich(tmp_path):
    args = ["analyze", "tests/data/models/mnist_cntk.onnx", "--out-json", str(tmp_path / "r.json")]
    code = f"""
import sys
sys.argv = ["onnx-autodoc", *{args!r}]
from py_autodoc.cli import main
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
"""
    assert loaded_by(code) & set(HEAVY) <= {"click", "onnx", "numpy", "msgspec"}
