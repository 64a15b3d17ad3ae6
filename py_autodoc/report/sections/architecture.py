"""The architecture, as a diagram of its stages."""

from __future__ import annotations

from py_autodoc.report.document.architecture_text import architecture_line
from py_autodoc.report.sections.section_model import (
    Block,
    Figure,
    Items,
    Paragraph,
    Section,
    SectionContext,
    Value,
)
from py_autodoc.report.sections.stages import diagram


def section(context: SectionContext) -> Section:
    """Return family with evidence, stages, and the graph."""
    info = context.report.architecture
    blocks: list[Block] = [
        Paragraph(
            (
                architecture_line(context.report),
                " (confidence ",
                Value(info.confidence, "confidence", "/architecture/confidence"),
                ").",
            )
        )
    ]
    if info.evidence:
        blocks.append(Items(tuple((line,) for line in info.evidence), "Evidence"))
    picture = diagram(context.report)
    if picture is not None:
        blocks.append(picture)
    blocks.append(Figure("graph", "The graph, as initially shown in the viewer"))
    return Section("architecture", "Architecture", tuple(blocks))
