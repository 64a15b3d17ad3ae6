"""The report of the widget's model as a document, written in the kernel when a viewer asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.errors import InputError
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.build import build_report
from py_autodoc.report.report import Report
from py_autodoc.report.schema import ReportDocument
from py_autodoc.report.sections.document import document
from py_autodoc.report.sections.model import Context
from py_autodoc.widget.answers import State, answer

TYPE = "autodoc:sections"


def answer_sections(widget: Any, state: State) -> None:
    """Answer the viewers of ``widget`` from now on."""
    answer(widget, TYPE, state, _sections, doing="wrote the report")


def _sections(_content: Mapping[str, Any], source: Any, analysis: Analysis | None) -> ReportDocument:
    if analysis is not None:
        return document(Context(build_report(analysis)))
    if isinstance(source, Report) and not source.layers_omitted:
        return document(Context(source))
    hint = "Make the widget of the model's file, or of a report with all its layers."
    raise InputError("model-not-at-hand", "The model is not at hand.", hint)
