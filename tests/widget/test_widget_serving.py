"""Text generation with the widget's model, planned by the kernel."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from test_widget_weights import Line

from py_autodoc.llm.serving import ServingGrid, packaged
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.widget.serving import TYPE, answer_serving

pytestmark = pytest.mark.slow

GPT2 = "tests/data/stripped/gpt2.stripped.onnx"


def ask(analysis: Any, **content: Any) -> dict[str, Any]:
    line = Line()
    answer_serving(line, lambda: (GPT2, analysis))
    line.hear(line, {"type": TYPE, "id": "a", **content}, [])
    (answer,) = line.sent
    assert (answer["type"], answer["id"]) == (TYPE, "a")
    return answer


def test_the_plan_of_a_device() -> None:
    analysis = run_analysis(GPT2, Options(assume=True))
    expected = ServingGrid(analysis).on(packaged("l4", "fp16"))
    found = ask(analysis, device="l4", precision="fp16")
    assert found["value"] == msgspec.to_builtins(expected)


def test_what_cannot_be_planned() -> None:
    analysis = run_analysis(GPT2, Options(assume=True))
    for device in ("no-such", None, "/etc/passwd"):
        assert ask(analysis, device=device)["problem"]["code"] == "unknown-device"
