"""Other batches for the widget's model, followed by the kernel."""

from __future__ import annotations

from typing import Any

import pytest
from test_widget_weights import Line

from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.widget.batches import TYPE, answer_batch

pytestmark = pytest.mark.slow

RESNET = "tests/data/models/resnet_tiny.onnx"


def ask(analysis: Any) -> dict[str, Any]:
    line = Line()
    answer_batch(line, lambda: (RESNET, analysis))
    line.hear(line, {"type": TYPE, "id": "a"}, [])
    (answer,) = line.sent
    assert (answer["type"], answer["id"]) == (TYPE, "a")
    return answer


def test_an_offer() -> None:
    value = ask(run_analysis(RESNET, Options()))["value"]
    assert value["offer"]["dim"]["value"] == 1
    assert value["reason"] == ""


def test_why_there_is_none() -> None:
    value = ask(run_analysis(RESNET, Options(batch_size=2)))["value"]
    assert value["offer"] is None
    assert "another batch already" in value["reason"]
