"""The sections of a report, as data: Markdown and PDF render one list.

To add one: a file here with ``section(context) -> Section | None``, and its name in ``ORDER``.
"""

from __future__ import annotations

from importlib import import_module

from py_autodoc.report.sections.section_model import Section, SectionContext

ORDER = (
    "summary", "language_model", "identity", "totals", "interface", "architecture", "blocks", "layers",
    "operators", "memory", "attention", "precision", "quantization", "findings", "dimensions", "device",
    "labels", "diagnostics", "coverage", "origin",
)  # fmt: skip
"""Files of this folder, in the order of the report."""


def sections(context: SectionContext) -> list[Section]:
    """The sections of a report; those without content are left out."""
    made = (import_module(f"{__name__}.{name}").section(context) for name in ORDER)
    return [section for section in made if section is not None]
