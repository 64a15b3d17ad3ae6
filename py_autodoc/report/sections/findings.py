"""What may hurt, with advice."""

from __future__ import annotations

from py_autodoc.report.rule_settings import told
from py_autodoc.report.schema import RiskSignal
from py_autodoc.report.sections.model import Block, Cell, Context, Line, Paragraph, Section, Table

NODES = 4


def section(context: Context) -> Section:
    """A row a finding, worst first."""
    report = context.report
    blocks: list[Block] = []
    changed = told(report.rule_settings)
    if changed:
        blocks.append(Paragraph((changed,)))
    rows = tuple(_row(context, signal) for signal in report.risk_signals)
    head = ("Severity", "What", "What to do", "Layers", "Rule")
    blocks.append(Table(head, rows) if rows else Paragraph(("The rules found nothing.",)))
    return Section("findings", "Findings", tuple(blocks))


def _row(context: Context, signal: RiskSignal) -> tuple[Line, ...]:
    names: list[Cell] = []
    for node in signal.nodes[:NODES]:
        names += [", " if names else "", context.layer_name(node)]
    found = signal.evidence.get("nodes_total")
    more = max(found if isinstance(found, int) else 0, len(signal.nodes)) - min(NODES, len(signal.nodes))
    if more > 0 and names:
        names.append(f" and {more:,} more")
    line = tuple(names) or ("",)
    return (signal.severity,), (signal.description,), (signal.recommendation,), line, (signal.id,)
