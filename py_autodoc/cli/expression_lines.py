"""Lines of the terminal summary with costs as expressions in the input dimensions."""

from __future__ import annotations

from py_autodoc.metrics import BY_ID, ids
from py_autodoc.render.expression import format_expression
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.total_texts import expressions

_IN_STRIP = frozenset(ids("strip"))
MAX_CONDITIONS = 3
WIDTH = 180
"""Maximum number of characters of one expression."""


def expression_lines(report: Report) -> list[tuple[str, str]]:
    """Return (label, text) of the totals and their conditions; empty without symbolic dimensions."""
    metrics = report.metrics
    shown_here = [expression for expression in expressions() if expression[0] in _IN_STRIP]
    available = [name for _, _, name in shown_here if getattr(metrics, name) is not None]
    if not available and not metrics.expr_reasons:
        return []
    names = {dim.symbol: printable(dim.name) for dim in report.dims if dim.symbol}
    bound = "≥ " if (metrics.expr_coverage or 0) < 1 else ""
    lines: list[tuple[str, str]] = []
    for metric, label, name in shown_here:
        unit = "bytes" if BY_ID[metric].unit == "bytes" else "count"
        text = getattr(metrics, name)
        if text is None:
            value = f"—  ({printable(metrics.expr_reasons.get(name, ''))})"
        else:
            value = (bound if unit == "count" else "") + format_expression(text, unit, names, WIDTH)
        lines.append((label, shorten(value, WIDTH)))
    conditions = metrics.expr_conditions
    if conditions and available:
        more = f", … {len(conditions) - MAX_CONDITIONS:,} more" if len(conditions) > MAX_CONDITIONS else ""
        lines.append(("where", ", ".join(conditions[:MAX_CONDITIONS]) + more))
    return lines
