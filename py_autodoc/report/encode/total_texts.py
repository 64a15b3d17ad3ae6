"""Short texts for totals, and placeholders for missing ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from py_autodoc.metrics import METRICS, shown, total_label, total_of
from py_autodoc.units import at_least, exact, share, size

if TYPE_CHECKING:
    from py_autodoc.report.schema import ReportFields

CANNOT_RUN = "cannot run"
"""Placeholder for totals."""
NEEDS_VALUES = "needs values"
"""Placeholder for the coverage while dimensions have no values: a share would be meaningless."""


class TotalText(NamedTuple):
    """One total: label, short text with its unit, and all digits or the reason why it is missing."""

    label: str
    text: str
    detail: str


def strip(report: ReportFields, optional: bool = True) -> list[TotalText]:
    """Return the totals at the top of terminal and notebook output, coverage last.

    Without ``optional``, those that only some models have are left out: rows of a table have equal columns.
    """
    impossible = report.runnable.verdict == "no" and not report.runnable.file
    texts = []
    for metric in shown("strip"):
        total = total_of(metric.id)
        value = getattr(report.metrics, total.field)
        if total.optional and (impossible or value == 0 or not optional):
            continue
        if impossible and total.runs:
            text, detail = CANNOT_RUN, report.runnable.reason
        else:
            coverage = getattr(report.coverage, total.covered) if total.covered else 1
            text, detail = at_least(value, coverage), exact(value)
            if metric.unit == "bytes":
                text, detail = at_least(value, coverage, size), f"{exact(value)} bytes"
        texts.append(TotalText(total_label(metric.id), text, detail))
    return [*texts, TotalText("Coverage", coverage_text(report), "nodes whose cost is known")]


def expressions() -> list[tuple[str, str, str]]:
    """Return (metric, label, field of ``metrics``) of the totals with expressions."""
    from py_autodoc.report.schema import Metrics

    fields = {metric.id: f"{metric.total.field}_expr" for metric in METRICS if metric.total}
    struct_fields = set(Metrics.__struct_fields__)
    listed = [metric for metric in METRICS if metric.stored or "strip" in metric.shown]
    return [
        (metric.id, metric.label, fields[metric.id])
        for metric in listed
        if fields.get(metric.id) in struct_fields
    ]


def coverage_text(report: ReportFields) -> str:
    """Return the share of nodes with known costs, or ``needs values`` while most depend on missing values."""
    cover = report.coverage
    if not cover.nodes_total:
        return "100 %"
    if cover.nodes_known < cover.nodes_total and any(dim.value is None for dim in report.dims):
        return NEEDS_VALUES
    return share(cover.nodes_known, cover.nodes_total)
