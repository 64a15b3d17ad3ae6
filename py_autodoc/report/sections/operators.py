"""Totals by operator."""

from __future__ import annotations

from py_autodoc.metrics import label
from py_autodoc.report.sections.section_model import Figure, Name, Section, SectionContext, Table, Value

MOST = 40


def section(context: SectionContext) -> Section | None:
    """Return one row per operator, heaviest first."""
    rows = context.report.metrics.by_op
    if not rows:
        return None
    shown = tuple(
        (
            (Name(row.type),),
            (Value(row.count, "exact", f"/metrics/by_op/{at}/count"),),
            (Value(row.params, "count", f"/metrics/by_op/{at}/params"),),
            (Value(row.macs, "count", f"/metrics/by_op/{at}/macs"),),
            (Value(row.flops, "count", f"/metrics/by_op/{at}/flops"),),
        )
        for at, row in enumerate(rows[:MOST])
    )
    head = ("Operator", "Nodes", *(label(one) for one in ("params", "macs", "flops")))
    table = Table(head, shown, max(0, len(rows) - MOST))
    return Section("operators", "Operators", (table, Figure("operators", "Nodes by operator")))
