"""What the owner says about the model: intended use, limits, evaluation."""

from __future__ import annotations

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

_LABELS = {
    "owner": "Owner",
    "contact": "Contact",
    "license": "Licence",
    "intended_use": "Intended use",
    "out_of_scope": "Not intended for",
}


def section(context: SectionContext) -> Section | None:
    """Return the statements; None without any."""
    card = context.report.card
    if card is None:
        return None
    rows: list[tuple[Line, ...]] = [
        ((label,), (Name(getattr(card, field)),)) for field, label in _LABELS.items() if getattr(card, field)
    ]
    blocks: list[Block] = [Table(("Statement", "Value"), tuple(rows))] if rows else []
    if card.limits:
        blocks.append(Items(tuple((Name(limit),) for limit in card.limits), "Known limits"))
    if card.evaluation:
        results = tuple(
            (
                (Name(result.dataset or "—"),),
                (Name(result.metric),),
                (Value(result.value, "number") if isinstance(result.value, float) else Name(result.value),),
                (Name(result.note),) if result.note else ("",),
            )
            for result in card.evaluation
        )
        blocks.append(Table(("Data", "Metric", "Value", "Note"), results, title="Evaluation"))
    if not blocks:
        return None
    source = (" (", Name(card.source), ")") if card.source else ()
    blocks.append(Paragraph(("Stated by the owner", *source, "; none of it was checked.")))
    return Section("owner", "Use and evaluation", tuple(blocks))
