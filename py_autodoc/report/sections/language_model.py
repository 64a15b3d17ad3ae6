"""The summary by a language model, if requested."""

from __future__ import annotations

from py_autodoc.report.sections.section_model import Block, Paragraph, Section, SectionContext
from py_autodoc.units import plural


def section(context: SectionContext) -> Section | None:
    """Return its paragraphs and their source."""
    summary = context.report.llm_summary
    if summary is None:
        return None
    texts = [summary.short, *(paragraph for paragraph in summary.detailed.split("\n\n") if paragraph)]
    blocks: list[Block] = [Paragraph((" ".join(text.split()),)) for text in texts]
    missing = len(summary.unsupported_numbers)
    verb = "is" if missing == 1 else "are"
    checked = (
        f"{plural(missing, 'number')} in it {verb} not in this report, and marked."
        if missing
        else "Its numbers come from this report."
    )
    blocks.append(Paragraph((f"Written by {summary.model} at {summary.service}, not measured. {checked}",)))
    return Section("llm", "Summary by a language model", tuple(blocks))
