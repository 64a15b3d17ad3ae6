"""The model in words, with the source of each fact."""

from __future__ import annotations

from py_autodoc.report.sections.section_model import Items, Section, SectionContext, Table

_SOURCES = {
    "file": "stated in the file",
    "structure": "inferred from the structure",
    "likely": "likely, not certain",
    "unknown": "no evidence",
}


def section(context: SectionContext) -> Section | None:
    """Return task, family and precision, with evidence."""
    identity = context.report.identity
    if identity is None:
        return None
    facts = [
        ("Task", identity.task, identity.known.task),
        ("Family", identity.family, identity.known.family),
        ("Precision", identity.precision, identity.known.precision),
    ]
    rows = tuple(((label,), (text,), (_SOURCES.get(source, source),)) for label, text, source in facts)
    reasons = tuple((f"{evidence.about.capitalize()}: ", evidence.text) for evidence in identity.evidence)
    blocks = (Table(("Fact", "Value", "Source"), rows), Items(reasons, "Reasons"))
    return Section("identity", "What it is", blocks if reasons else blocks[:1])
