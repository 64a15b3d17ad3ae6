"""The report of the widget's model, written by the kernel."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from test_widget_weights import Line

from py_autodoc import analyze
from py_autodoc.render.document import context
from py_autodoc.report.document.report_origin import analysis_of
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.sections.section_document import document
from py_autodoc.widget.sections import TYPE, answer_sections

pytestmark = pytest.mark.slow

RESNET = "tests/data/models/resnet_tiny.onnx"


def ask(source: Any, analysis: Any) -> dict[str, Any]:
    line = Line()
    answer_sections(line, lambda: (source, analysis))
    line.hear(line, {"type": TYPE, "id": "a"}, [])
    (answer,) = line.sent
    assert (answer["type"], answer["id"]) == (TYPE, "a")
    return answer


def test_of_a_model_and_of_its_report() -> None:
    analysis = run_analysis(RESNET, Options())
    expected = msgspec.to_builtins(document(context(analysis)))
    assert ask(RESNET, analysis)["value"] == expected
    report = analyze(RESNET)
    assert ask(report, analysis_of(report))["value"] == expected


def test_a_report_with_few_layers_has_the_document_of_its_model() -> None:
    report = analyze(RESNET, max_layers=3)
    assert ask(report, analysis_of(report)) == ask(RESNET, run_analysis(RESNET, Options()))
