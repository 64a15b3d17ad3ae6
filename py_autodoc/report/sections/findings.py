"""Findings with recommendations."""

from __future__ import annotations

from py_autodoc.report.pipeline.rule_settings import describe_rule_settings
from py_autodoc.report.schema import RiskSignal
from py_autodoc.report.sections.section_model import (
    Block,
    Cell,
    Line,
    Paragraph,
    Section,
    SectionContext,
    Table,
)

NODES = 4


def section(context: SectionContext) -> Section:
    """Return one row per finding, most severe first."""
    report = context.report
    blocks: list[Block] = []
    changed = describe_rule_settings(report.rule_settings)
    if changed:
        blocks.append(Paragraph((changed,)))
    rows = tuple(_row(context, signal) for signal in report.risk_signals)
    head = ("Severity", "Finding", "Recommendation", "Layers", "Rule")
    blocks.append(Table(head, rows) if rows else Paragraph(("No findings.",)))
    return Section("findings", "Findings", tuple(blocks))


def _row(context: SectionContext, signal: RiskSignal) -> tuple[Line, ...]:
    names: list[Cell] = []
    for node in signal.nodes[:NODES]:
        names += [", " if names else "", context.layer_name(node)]
    nodes_total = signal.evidence.get("nodes_total")
    omitted = max(nodes_total if isinstance(nodes_total, int) else 0, len(signal.nodes)) - min(
        NODES, len(signal.nodes)
    )
    if omitted > 0 and names:
        names.append(f" and {omitted:,} more")
    line = tuple(names) or ("",)
    return (signal.severity,), (signal.description,), (signal.recommendation,), line, (signal.id,)
