"""Build the report document of the widget's model in the kernel when a viewer asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import ReportDocument
from py_autodoc.report.sections.section_document import document
from py_autodoc.report.sections.section_model import SectionContext
from py_autodoc.widget.message_handlers import State, on_message

TYPE = "autodoc:sections"


def answer_sections(widget: Any, state: State) -> None:
    """Register the message handler for the viewers of ``widget``."""
    on_message(widget, TYPE, state, _sections, doing="wrote the report")


def _sections(_content: Mapping[str, Any], _source: Any, analysis: Analysis) -> ReportDocument:
    return document(SectionContext(build_report(analysis)))
