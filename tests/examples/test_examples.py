"""The examples work as shipped."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODELS = sorted(EXAMPLES.glob("*.onnx"))


@pytest.mark.slow
@pytest.mark.parametrize("notebook", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda p: p.name)
def test_a_notebook_runs_top_to_bottom(notebook, tmp_path):
    for path in EXAMPLES.iterdir():
        if path.is_file():
            shutil.copyfile(path, tmp_path / path.name)
    cells = nbformat.read(notebook, as_version=4)
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")}
    client = NotebookClient(cells, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=environment)
    printed = "".join(
        output.get("text", "")
        for cell in cells.cells
        for output in cell.get("outputs", [])
        if output.name == "stdout"
    )
    assert "524,079,648 MACs" in printed
    assert "205,764,360" in printed


@pytest.mark.parametrize("model", MODELS, ids=lambda p: p.name)
def test_a_shipped_model_is_fully_covered(model):
    import py_autodoc

    if model.name == "ppocr_cls_v2.onnx":
        options = {"input_shapes": {"x": [1, 3, 48, 192]}}
    elif model.name == "swift_f0.onnx":
        options = {"bindings": {"*": 16000}}
    else:
        options = {"bindings": {"*": 1}}
    report = py_autodoc.analyze(model, **options)
    assert report.coverage.nodes == 1.0, report.coverage.reasons
    assert report.metrics.total_macs


def test_every_shipped_model_has_its_licence_written_down():
    listed = (EXAMPLES / "README.md").read_text()
    assert len(MODELS) >= 3
    assert not [m.name for m in MODELS if f"`{m.name}`" not in listed]
