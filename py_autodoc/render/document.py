"""The context from which documents are built."""

from __future__ import annotations

from msgspec.structs import replace

from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.sections.section_model import SectionContext


def context(
    analysis: Analysis, report: Report | None = None, max_layers: int | None = None
) -> SectionContext:
    """Return the section context of an analysis, with a report that lists all layers.

    ``max_layers`` limits the rows of tables of layers.
    """
    full_report = report if report is not None and not report.layers_omitted else build_report(analysis)
    if report is not None:
        full_report = replace(full_report, llm_summary=report.llm_summary)
    return SectionContext(full_report, max_layers)
