"""How much of the model the totals cover."""

from __future__ import annotations

from py_autodoc.report.sections.section_model import Block, Section, SectionContext, Table, Value


def section(context: SectionContext) -> Section:
    """Return the known shares, and why the rest is unknown."""
    cover = context.report.coverage
    rows = (
        (("Nodes with known costs",), (Value(cover.nodes_known, "exact", "/coverage/nodes_known"),)),
        (("Nodes",), (Value(cover.nodes_total, "exact", "/coverage/nodes_total"),)),
        (("Share of nodes",), (Value(cover.nodes, "share", "/coverage/nodes"),)),
        (("Share of shapes",), (Value(cover.shapes, "share", "/coverage/shapes"),)),
        (("Share of nodes with MACs",), (Value(cover.macs, "share", "/coverage/macs"),)),
    )
    blocks: list[Block] = [Table(("Coverage", "Value"), rows)]
    for title, counts in (
        ("Operators without a cost rule", cover.unknown_ops),
        ("Why costs are unknown", cover.reasons),
    ):
        if counts:
            listed = tuple(((text,), (Value(count),)) for text, count in counts.items())
            blocks.append(Table((title, "Nodes"), listed))
    return Section("coverage", "Coverage", tuple(blocks))
