"""Files that the widget's viewer saves, made by the kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_widget_weights import Line

from py_autodoc.render import html
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.widget.file_messages import TYPE, answer_files

pytestmark = pytest.mark.slow

RESNET = Path(__file__).parents[1] / "data" / "models" / "resnet_tiny.onnx"


def ask(analysis: Any, **content: Any) -> dict[str, Any]:
    line = Line()
    answer_files(line, lambda: (str(RESNET), analysis))
    line.hear(line, {"type": "other"}, [])
    line.hear(line, {"type": TYPE, "id": "a", **content}, [])
    (answer,) = line.sent
    assert (answer["type"], answer["id"]) == (TYPE, "a")
    return answer


@pytest.fixture(scope="module")
def analysis() -> Any:
    return run_analysis(str(RESNET), Options())


def test_files(analysis: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "static", lambda name: f"/* {name} */")
    assert "resnet_tiny.onnx" in ask(analysis, format="html")["value"]["text"]
    netron = ask(analysis, format="netron", metric="")["value"]
    assert json.loads(netron["text"])["metrics"]
    assert (
        ask(analysis, format="model-explorer", metric="flops")["value"]["extension"] == ".model-explorer.json"
    )


@pytest.mark.parametrize(
    "content", [{}, {"format": 3}, {"format": "exe"}, {"format": "model-explorer", "metric": "x"}]
)
def test_faults(analysis: Any, content: dict[str, Any]) -> None:
    assert ask(analysis, **content)["problem"]["detail"]
