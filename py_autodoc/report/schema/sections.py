"""The sections of a report as texts, for a viewer that shows the content of the model card and the PDF.

Numbers are already formatted, so that they read the same everywhere. The texts contain no markup.
"""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.wire import Wire


class SectionCell(Wire, frozen=True, kw_only=True):
    """A piece of a line; pieces follow each other without separators."""

    kind: str
    """``text`` (fixed wording), ``name`` (from the model) or ``value`` (a number with its unit)."""
    text: str


class SectionStage(Wire, frozen=True, kw_only=True):
    """A box of the diagram of stages."""

    title: str
    detail: str


class SectionBlock(Wire, frozen=True, kw_only=True):
    """A part of a section; ``kind`` determines which fields are used."""

    kind: str
    """``paragraph``, ``items``, ``table`` or ``diagram``."""
    title: str = ""
    """Title, or lead-in of a paragraph."""
    lines: list[list[SectionCell]] = msgspec.field(default_factory=list)
    """The line of a paragraph, or the lines of a list."""
    head: list[str] = msgspec.field(default_factory=list)
    """Column titles of a table."""
    rows: list[list[list[SectionCell]]] = msgspec.field(default_factory=list)
    """Rows of a table, one line per column."""
    numeric: list[bool] = msgspec.field(default_factory=list)
    """By column: whether it contains only numbers."""
    more: str = ""
    """Text about omitted rows."""
    stages: list[SectionStage] = msgspec.field(default_factory=list)
    """Boxes of a diagram, from inputs to outputs."""
    caption: str = ""
    """Caption of a diagram."""


class SectionInfo(Wire, frozen=True, kw_only=True):
    """A titled section; ``id`` is stable."""

    id: str
    title: str
    blocks: list[SectionBlock]


class ReportDocument(Wire, frozen=True, kw_only=True):
    """The report as a document."""

    title: str
    """Name of the model."""
    subtitle: str
    """The model in words; empty if not available."""
    tiles: list[list[str]]
    """Label and text of the most important totals."""
    sizes: dict[str, int]
    """Symbolic dimension → the value that the numbers are for."""
    sections: list[SectionInfo]
