"""Parts of the widget's model, written by the kernel."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import onnx
import pytest
from test_widget_weights import Line

import py_autodoc
from py_autodoc.report.document.report_origin import analysis_of
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.widget import extract_messages
from py_autodoc.widget.extract_messages import TYPE, answer_extract

pytestmark = pytest.mark.slow

RESNET = Path(__file__).parents[1] / "data" / "models" / "resnet_tiny.onnx"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (tmp_path / "models").mkdir()
    return Path(shutil.copy(RESNET, tmp_path / "models" / "m.onnx"))


def ask(source: Any, **content: Any) -> dict[str, Any]:
    line = Line()
    analysis = (
        analysis_of(source) if isinstance(source, py_autodoc.Report) else run_analysis(source, Options())
    )
    answer_extract(line, lambda: (source, analysis))
    line.hear(line, {"type": TYPE, "id": "a", **content}, [])
    (answer,) = line.sent
    assert (answer["type"], answer["id"]) == (TYPE, "a")
    return answer


def test_beside_the_file_under_a_free_name(model):
    for form in (str(model), model, py_autodoc.analyze(model)):
        found = ask(form, nodes=[0, 1], part="stem/a b")["value"]
        written = model.parent / found["path"]
        onnx.checker.check_model(str(written), full_check=True)
        assert found["bytes"] == written.stat().st_size
        assert (found["input_count"], found["nodes"] >= 2) == (1, True)
    names = sorted(path.name for path in model.parent.iterdir())
    assert names == ["m.onnx", "m.stem-a-b-2.onnx", "m.stem-a-b-3.onnx", "m.stem-a-b.onnx"]


def test_a_model_in_memory_goes_into_the_current_folder(model):
    for form in (model.read_bytes(), onnx.load(model)):
        found = ask(form, nodes=[0], part="first")["value"]
        onnx.checker.check_model(found["path"], full_check=True)
    assert len(list(Path().iterdir())) == 2
    assert [path.name for path in model.parent.iterdir()] == ["m.onnx"]


@pytest.mark.parametrize("nodes", [None, [], "0", [True], [1.5], [-1], [10**9]])
def test_faults_are_told_and_leave_nothing(model, nodes):
    problem = ask(str(model), nodes=nodes, part="x")["problem"]
    assert problem["detail"]
    assert [path.name for path in model.parent.iterdir()] == ["m.onnx"]


def test_a_report_without_a_file_and_a_model_that_changed(model, monkeypatch):
    report = py_autodoc.analyze(model.read_bytes())
    assert ask(report, nodes=[0])["problem"]["code"] == "model-not-at-hand"
    analysis = run_analysis(str(model), Options())
    other = onnx.load(model)
    other.graph.node[0].name = "another"
    onnx.save(other, model)
    line = Line()
    answer_extract(line, lambda: (str(model), analysis))
    line.hear(line, {"type": TYPE, "id": "a", "nodes": [0], "part": ""}, [])
    assert line.sent[0]["problem"]["code"] == "file-changed"
    monkeypatch.setattr(extract_messages, "extract_nodes", _interrupted)
    line.hear(line, {"type": TYPE, "id": "b", "nodes": [0], "part": ""}, [])
    assert line.sent[1]["problem"]["code"] == "interrupted"
    assert sorted(path.name for path in Path().iterdir()) == []
    assert [path.name for path in model.parent.iterdir()] == ["m.onnx"]


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def test_the_widgets_method(model):
    widget = py_autodoc.Autodoc(model)
    first = widget.report.layers[0]
    found = widget.extract("part.onnx", first.name or first.id)
    assert found.paths[0].samefile("part.onnx")
    widget.selection = [0, 1]
    assert len(widget.extract("two.onnx").subgraph.operations) == 2
    onnx.checker.check_model("two.onnx", full_check=True)
