"""The data model of report sections, rendered by each format in its own way.

Texts are plain: no format may interpret markup in them. Text from the model is a ``Name``, so that a format
can mark it as such; a number is a ``Value`` with the field of the report that it shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from py_autodoc import units
from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import Layer

_WRITE = {
    "count": units.count,
    "exact": lambda value: units.exact(None if value is None else int(value)),
    "size": units.size,
    "seconds": units.seconds,
    "share": lambda value: units.share(value, 1.0),
    "confidence": units.confidence,
    "usd": units.dollars,
    "number": units.number,
}


@dataclass(frozen=True, slots=True)
class Value:
    """A number. ``field`` is the JSON pointer of its report field, empty if computed from several."""

    value: float | None
    unit: str = "exact"
    """``count``, ``exact``, ``size`` (bytes), ``seconds``, ``share`` (of 1), ``confidence``, ``usd`` or
    ``number``."""
    field: str = ""
    is_lower_bound: bool = False
    """A lower bound: some parts are unknown."""
    suffix: str = ""
    """A unit written after it."""

    @property
    def text(self) -> str:
        """Return the formatted number; ``—`` if unknown."""
        written = _WRITE[self.unit](self.value)
        mark = "≥ " if self.is_lower_bound and self.value is not None else ""
        return f"{mark}{written}{self.suffix if self.value is not None else ''}"


@dataclass(frozen=True, slots=True)
class Name:
    """Text from the model: a name, a symbolic shape, a metadata value."""

    text: str


Cell: TypeAlias = str | Value | Name
Line: TypeAlias = tuple[Cell, ...]
"""Cells that follow each other without separators."""


def line_text(line: Line) -> str:
    """Return a line as plain text."""
    return "".join(cell if isinstance(cell, str) else cell.text for cell in line)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    line: Line
    title: str = ""
    """Lead-in, emphasised."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    lines: tuple[Line, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a header; columns of numbers are right-aligned. ``more`` rows are omitted."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    more: int = 0
    title: str = ""

    @property
    def more_text(self) -> str:
        """Return the text below the table if rows are omitted."""
        return f"… {self.more:,} more" if self.more else ""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Return, by column, whether it contains only numbers."""
        return tuple(
            bool(self.rows)
            and all(len(row[column]) == 1 and isinstance(row[column][0], Value) for row in self.rows)
            for column in range(len(self.head))
        )


@dataclass(frozen=True, slots=True)
class Stage:
    """A box of the diagram of stages."""

    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """Stages and the data flow between them, as pairs of indices into ``stages``."""

    stages: tuple[Stage, ...]
    edges: tuple[tuple[int, int], ...]
    caption: str

    @property
    def around(self) -> tuple[Stage, ...]:
        """Return the stages in one row: inputs (stored second to last) first, outputs last."""
        *stages, first, last = self.stages
        return (first, *stages, last)


@dataclass(frozen=True, slots=True)
class Figure:
    """Position of a figure that a format may include or omit: ``graph``, or a plot by its name."""

    name: str
    caption: str


Block: TypeAlias = Paragraph | Items | Table | Diagram | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report; ``id`` is stable."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class SectionContext:
    """The data that sections are built from."""

    report: Report
    max_layers: int | None = None
    """Layers that the tables list at most; None for their own number."""

    @cached_property
    def layers(self) -> dict[int, Layer]:
        """Layers by id."""
        return {layer.id: layer for layer in self.report.layers}

    def layer_name(self, node: int | None) -> Name:
        """Return the name of a layer."""
        layer = self.layers.get(-1 if node is None else node)
        return Name(layer.name if layer else "" if node is None else f"layer {node}")
