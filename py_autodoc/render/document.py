"""What the documents are made from: an analysis as the context of its sections."""

from __future__ import annotations

from msgspec.structs import replace

from py_autodoc.report.analysis import Analysis
from py_autodoc.report.build import build_report
from py_autodoc.report.report import Report
from py_autodoc.report.sections.model import Context


def context(analysis: Analysis, report: Report | None = None) -> Context:
    """The report of an analysis, with all layers, which the sections need."""
    whole = report if report is not None and not report.layers_omitted else build_report(analysis)
    if report is not None:
        whole = replace(whole, llm_summary=report.llm_summary)
    return Context(whole)
