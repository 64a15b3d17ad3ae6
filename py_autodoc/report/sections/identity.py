"""What the model is, and how that is known."""

from __future__ import annotations

from py_autodoc.report.sections.section_model import Items, Section, SectionContext, Table

_KNOWN = {
    "file": "the file says so",
    "structure": "the structure admits nothing else",
    "likely": "the structure suggests it",
    "unknown": "nothing tells",
}


def section(context: SectionContext) -> Section | None:
    """Task, family and precision, with the reasons."""
    words = context.report.identity
    if words is None:
        return None
    facts = [
        ("Task", words.task, words.known.task),
        ("Family", words.family, words.known.family),
        ("Precision", words.precision, words.known.precision),
    ]
    rows = tuple(((label,), (text,), (_KNOWN.get(known, known),)) for label, text, known in facts)
    reasons = tuple((f"{one.about.capitalize()}: ", one.text) for one in words.evidence)
    blocks = (Table(("Fact", "What it is", "How it is known"), rows), Items(reasons, "Reasons"))
    return Section("identity", "What it is", blocks if reasons else blocks[:1])
