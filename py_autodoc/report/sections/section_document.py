"""The sections in wire format, for the viewer, which formats no numbers itself."""

from __future__ import annotations

from py_autodoc.metrics import shown, total_label
from py_autodoc.report.schema import ReportDocument, SectionBlock, SectionCell, SectionInfo, SectionStage
from py_autodoc.report.sections import sections
from py_autodoc.report.sections.section_model import (
    Block,
    Diagram,
    Figure,
    Items,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
    line_text,
)

MAX_TEXT = 2_000
"""Maximum number of characters of one text."""


def document(context: SectionContext) -> ReportDocument:
    """Return the report as texts, without figures: the viewer shows the graph itself."""
    report = context.report
    all_sections = sections(context)
    return ReportDocument(
        title=_cut(report.model.name) or "Model",
        subtitle=_cut(report.identity.text) if report.identity else "",
        tiles=[[label, text] for label, text in tiles(all_sections)],
        sizes={dim.name: dim.value for dim in report.dims if dim.value is not None},
        sections=[
            SectionInfo(
                id=section.id,
                title=section.title,
                blocks=[_block(block) for block in section.blocks if not isinstance(block, Figure)],
            )
            for section in all_sections
        ],
    )


def tiles(all_sections: list[Section]) -> list[tuple[str, str]]:
    """Return label and text of the main totals, as in the section of totals."""
    totals = next(section for section in all_sections if section.id == "totals").blocks[0]
    assert isinstance(totals, Table)
    texts = {line_text(row[0]): line_text(row[1]) for row in totals.rows}
    labels = [total_label(metric.id) for metric in shown("totals") if "strip" in metric.shown]
    return [(label, texts[label]) for label in labels if label in texts]


def _block(block: Block) -> SectionBlock:
    if isinstance(block, Paragraph):
        return SectionBlock(kind="paragraph", title=_cut(block.title), lines=[_cells(block.line)])
    if isinstance(block, Items):
        return SectionBlock(
            kind="items", title=_cut(block.title), lines=[_cells(line) for line in block.lines]
        )
    if isinstance(block, Table):
        return SectionBlock(
            kind="table",
            title=_cut(block.title),
            head=[_cut(text) for text in block.head],
            rows=[[_cells(line) for line in row] for row in block.rows],
            numeric=list(block.numeric),
            more=block.more_text,
        )
    assert isinstance(block, Diagram)
    return SectionBlock(
        kind="diagram",
        stages=[SectionStage(title=_cut(stage.title), detail=_cut(stage.detail)) for stage in block.around],
        caption=block.caption,
    )


def _cells(line: Line) -> list[SectionCell]:
    cells = []
    for cell in line:
        if isinstance(cell, Value):
            cells.append(SectionCell(kind="value", text=cell.text))
        elif isinstance(cell, Name):
            cells.append(SectionCell(kind="name", text=_cut(cell.text) or "—"))
        else:
            cells.append(SectionCell(kind="text", text=_cut(cell)))
    return cells


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
