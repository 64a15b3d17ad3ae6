"""Diagnostics of loading and analysis."""

from __future__ import annotations

from py_autodoc.report.sections.section_model import Name, Section, SectionContext, Table

MAX_ROWS = 50


def section(context: SectionContext) -> Section | None:
    """Return one row per diagnostic, most severe first."""
    items = context.report.diagnostics
    if not items:
        return None
    rows = tuple(
        ((item.severity,), (item.code,), (item.message,), (Name(item.where),)) for item in items[:MAX_ROWS]
    )
    table = Table(("Severity", "Code", "Message", "Where"), rows, max(0, len(items) - MAX_ROWS))
    return Section("diagnostics", "Diagnostics", (table,))
