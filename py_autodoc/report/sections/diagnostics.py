"""What reading the model found."""

from __future__ import annotations

from py_autodoc.report.sections.section_model import Name, Section, SectionContext, Table

MOST = 50


def section(context: SectionContext) -> Section | None:
    """A row a diagnostic, worst first."""
    found = context.report.diagnostics
    if not found:
        return None
    rows = tuple(
        ((item.severity,), (item.code,), (item.message,), (Name(item.where),)) for item in found[:MOST]
    )
    table = Table(("Severity", "Code", "Message", "Where"), rows, max(0, len(found) - MOST))
    return Section("diagnostics", "Diagnostics", (table,))
