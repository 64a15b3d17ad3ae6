"""The totals of one inference."""

from __future__ import annotations

from py_autodoc.metrics import shown, total_label, total_of
from py_autodoc.report.sections.section_model import Block, Paragraph, Section, SectionContext, Table, Value


def section(context: SectionContext) -> Section:
    """Return each total, rounded and exact."""
    report = context.report
    numbers, cover = report.metrics, report.coverage
    rows, reasons = [], {}
    for metric in shown("totals"):
        total, label = total_of(metric.id), total_label(metric.id)
        value, pointer = getattr(numbers, total.field), f"/metrics/{total.field}"
        if total.optional and (report.runnable.verdict == "no" or value == 0):
            continue
        coverage = getattr(cover, total.covered) if total.covered else None
        is_lower_bound = coverage is not None and coverage < 1
        rows.append(
            (
                (label,),
                (Value(value, metric.written, pointer, is_lower_bound),),
                (Value(value, "exact", pointer, is_lower_bound),),
            )
        )
        if total.reason:
            reasons[label] = getattr(numbers, total.reason)
    blocks: list[Block] = [Table(("Total", "Value", "Exactly"), tuple(rows))]
    if report.runnable.verdict == "no":
        reasons["Cannot run"] = report.runnable.reason
    blocks += [Paragraph((reason,), label) for label, reason in reasons.items() if reason]
    blocks.append(Paragraph(("1 MAC is 2 FLOPs. — is unknown, never 0. 1 kB is 1,000 bytes.",)))
    return Section("totals", "Totals of one inference", tuple(blocks))
