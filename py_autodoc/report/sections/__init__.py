"""The sections of a report, as data: Markdown and PDF render the same list.

To add a section, add a file here with ``section(context) -> Section | None``, and its name to ``ORDER``.
"""

from __future__ import annotations

from importlib import import_module

from py_autodoc.report.sections.section_model import Section, SectionContext

ORDER = (
    "summary", "language_model", "owner", "identity", "totals", "interface", "architecture", "blocks",
    "layers", "operators", "memory", "attention", "precision", "quantization", "findings", "dimensions",
    "device", "serving", "requirements", "labels", "diagnostics", "coverage", "origin",
)  # fmt: skip
"""Modules of this folder, in the order of the report."""


def sections(context: SectionContext) -> list[Section]:
    """Return the sections of a report, without empty ones."""
    all_sections = (import_module(f"{__name__}.{name}").section(context) for name in ORDER)
    return [section for section in all_sections if section is not None]
