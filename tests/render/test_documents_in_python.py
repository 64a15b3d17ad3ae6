"""Documents from Python: of a report and of a model, the same numbers as the command's."""

from __future__ import annotations

import json

import pytest

import py_autodoc
from py_autodoc.errors import InputError

MODEL = "tests/data/models/mnist_cntk.onnx"


def test_markdown_of_a_report_and_of_a_model():
    report = py_autodoc.analyze(MODEL)
    card = py_autodoc.to_markdown(report)
    assert card.startswith("---\nlibrary_name: onnx\n")
    assert card == py_autodoc.to_markdown(MODEL)
    assert "NVIDIA L4" in py_autodoc.to_markdown(py_autodoc.analyze(MODEL, hardware="l4"))


@pytest.mark.parametrize(("rows", "listed"), [(None, 3), (1, 1), (2, 2), (50, 3), (0, 0)])
def test_max_layers_holds_for_the_table(rows, listed):
    section = (
        py_autodoc.to_markdown(MODEL, max_layers=rows)
        .partition("## Heaviest layers")[2]
        .partition("\n## ")[0]
    )
    table = [line for line in section.splitlines() if line.startswith("| `")]
    assert len(table) == listed


def test_the_table_has_inputs_memory_and_latency():
    def head(report):
        section = py_autodoc.to_markdown(report).partition("## Heaviest layers")[2]
        return next(line for line in section.splitlines() if line.startswith("| Layer"))

    assert "| Input | Output |" in head(py_autodoc.analyze(MODEL))
    assert "Activation" in head(py_autodoc.analyze(MODEL))
    assert "Latency" not in head(py_autodoc.analyze(MODEL))
    assert head(py_autodoc.analyze(MODEL, hardware="l4")).endswith("| Latency |")


def test_pdf():
    pytest.importorskip("typst")
    report = py_autodoc.analyze(MODEL, hardware="l4")
    assert py_autodoc.to_pdf(report).startswith(b"%PDF-1.7")


def test_plots():
    pytest.importorskip("matplotlib")
    files = py_autodoc.plots(MODEL)
    assert {"operators.svg", "operators-dark.svg", "operators.png"} <= files.keys()
    assert py_autodoc.plots(py_autodoc.analyze(MODEL)).keys() <= files.keys()


def test_devices_and_validation(tmp_path):
    ids = {device["id"] for device in py_autodoc.devices("datacenter")}
    assert "l4" in ids
    assert "rtx-4090" not in ids
    path = tmp_path / "r.json"
    path.write_text(py_autodoc.analyze(MODEL).to_json(), encoding="utf-8")
    assert {check.status for check in py_autodoc.validate_report(path)} <= {"passed", "ok"}
    changed = json.loads(path.read_text(encoding="utf-8"))
    changed["metrics"]["total_macs"] += 1
    path.write_text(json.dumps(changed), encoding="utf-8")
    assert any(check.status not in ("passed", "ok") for check in py_autodoc.validate_report(path))


def test_what_is_no_model():
    with pytest.raises(InputError):
        py_autodoc.to_markdown(b"nothing")
