"""The sections of a report as texts, for a viewer that shows what the card and the PDF say.

Every number is written already, so that it reads the same everywhere. Nothing in the texts is markup.
"""

from __future__ import annotations

import msgspec

from py_autodoc.report.schema.wire import Wire


class SectionCell(Wire, frozen=True, kw_only=True):
    """A piece of a line; pieces follow each other without anything between them."""

    kind: str
    """``text`` (ours), ``name`` (from the model) or ``value`` (a number with its unit)."""
    text: str


class SectionStage(Wire, frozen=True, kw_only=True):
    """A box of the picture of the stages."""

    title: str
    detail: str


class SectionBlock(Wire, frozen=True, kw_only=True):
    """A part of a section; ``kind`` says which of the fields it has."""

    kind: str
    """``paragraph``, ``items``, ``table`` or ``diagram``."""
    title: str = ""
    """Words over it, or before a paragraph."""
    lines: list[list[SectionCell]] = msgspec.field(default_factory=list)
    """The line of a paragraph, the lines of a list."""
    head: list[str] = msgspec.field(default_factory=list)
    """Titles of a table's columns."""
    rows: list[list[list[SectionCell]]] = msgspec.field(default_factory=list)
    """Rows of a table, a line a column."""
    numeric: list[bool] = msgspec.field(default_factory=list)
    """By column: numbers alone are in it."""
    more: str = ""
    """What is said of rows that are left out."""
    stages: list[SectionStage] = msgspec.field(default_factory=list)
    """Boxes of a diagram, inputs first and outputs last."""
    caption: str = ""
    """What a diagram shows."""


class SectionInfo(Wire, frozen=True, kw_only=True):
    """A section under its title; ``id`` is stable."""

    id: str
    title: str
    blocks: list[SectionBlock]


class ReportDocument(Wire, frozen=True, kw_only=True):
    """The report as a document."""

    title: str
    """Name of the model."""
    subtitle: str
    """The model in words; empty where there are none."""
    tiles: list[list[str]]
    """Label and text of the totals that a reader looks for first."""
    sizes: dict[str, int]
    """Free size → the value that the numbers are for."""
    sections: list[SectionInfo]
