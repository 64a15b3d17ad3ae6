"""Totals by operator."""

from __future__ import annotations

from py_autodoc.metrics import label
from py_autodoc.report.sections.section_model import Figure, Name, Section, SectionContext, Table, Value

MAX_ROWS = 40


def section(context: SectionContext) -> Section | None:
    """Return one row per operator, heaviest first."""
    rows = context.report.metrics.by_op
    if not rows:
        return None
    op_rows = tuple(
        (
            (Name(row.type),),
            (Value(row.count, "exact", f"/metrics/by_op/{index}/count"),),
            (Value(row.params, "count", f"/metrics/by_op/{index}/params"),),
            (Value(row.macs, "count", f"/metrics/by_op/{index}/macs"),),
            (Value(row.flops, "count", f"/metrics/by_op/{index}/flops"),),
        )
        for index, row in enumerate(rows[:MAX_ROWS])
    )
    head = ("Operator", "Nodes", *(label(metric) for metric in ("params", "macs", "flops")))
    table = Table(head, op_rows, max(0, len(rows) - MAX_ROWS))
    return Section("operators", "Operators", (table, Figure("operators", "Nodes by operator")))
