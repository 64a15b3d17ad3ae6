"""What kind of network it is, as a picture of its stages."""

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
    """Family with evidence, stages, the graph."""
    made = context.report.architecture
    blocks: list[Block] = [
        Paragraph(
            (
                architecture_line(context.report), " (confidence ",
                Value(made.confidence, "confidence", "/architecture/confidence"), ").",
            )
        )
    ]  # fmt: skip
    if made.evidence:
        blocks.append(Items(tuple((line,) for line in made.evidence), "Evidence"))
    picture = diagram(context.report)
    if picture is not None:
        blocks.append(picture)
    blocks.append(Figure("graph", "The graph, opened as the viewer opens it"))
    return Section("architecture", "Architecture", tuple(blocks))
