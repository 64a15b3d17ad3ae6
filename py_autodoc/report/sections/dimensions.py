"""Symbolic dimensions of the model, and costs as expressions in them."""

from __future__ import annotations

from py_autodoc.report.encode.total_texts import expressions
from py_autodoc.report.sections.section_model import (
    Block,
    Items,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)

MAX_ROWS = 24


def section(context: SectionContext) -> Section | None:
    """Return the symbolic dimensions with the values used, and the totals as expressions."""
    report = context.report
    if not report.dims:
        return None
    rows = []
    for index, dim in enumerate(report.dims[:MAX_ROWS]):
        used_value: Line = ("symbolic",)
        if dim.value is not None:
            used_value = (
                Value(dim.value, "exact", f"/dims/{index}/value"),
                " (assumed)" if dim.assumed else "",
            )
        typical = Value(dim.suggested, "exact", f"/dims/{index}/suggested")
        rows.append(((Name(dim.name),), used_value, (typical,), (Name(", ".join(dim.where[:4])),)))
    omitted = max(0, len(report.dims) - MAX_ROWS)
    blocks: list[Block] = [Table(("Dimension", "Value used", "Typical value", "Where"), tuple(rows), omitted)]
    numbers = report.metrics
    formulas = [
        (f"{label} in bytes" if metric == "peak" else label, getattr(numbers, name))
        for metric, label, name in expressions()
        if getattr(numbers, name)
    ]
    if formulas:
        lines = tuple((f"{label} = ", Name(text)) for label, text in formulas)
        blocks.append(Items(lines, "As formulas"))
    if formulas and numbers.expr_conditions:
        conditions = tuple((Name(condition),) for condition in numbers.expr_conditions[:MAX_ROWS])
        blocks.append(Items(conditions, "Valid if"))
    if numbers.expr_coverage is not None and numbers.expr_coverage < 1:
        share = Value(numbers.expr_coverage, "share", "/metrics/expr_coverage")
        blocks.append(Paragraph(("The expressions cover ", share, " of the nodes.")))
    return Section("dimensions", "Sizes and expressions", tuple(blocks))
