"""What a section of a report is made of: data that every format renders in its own way.

Texts are plain: no format may read markup in them. What comes from the model is a ``Name``, so that a format
can set it apart; what is a number is a ``Value``, which knows the field of the report that it is.
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
}


@dataclass(frozen=True, slots=True)
class Value:
    """A number. ``field`` is the JSON pointer of the report's field it is, empty where several make it."""

    value: float | None
    unit: str = "exact"
    """``count``, ``exact``, ``size`` (bytes), ``seconds``, ``share`` (of 1) or ``confidence``."""
    field: str = ""
    least: bool = False
    """A lower bound: part of it is unknown."""
    suffix: str = ""
    """A unit that is written behind it."""

    @property
    def text(self) -> str:
        """As people read it; ``—`` where it is unknown."""
        written = _WRITE[self.unit](self.value)
        mark = "≥ " if self.least and self.value is not None else ""
        return f"{mark}{written}{self.suffix if self.value is not None else ''}"


@dataclass(frozen=True, slots=True)
class Name:
    """Text from the model: a name, a shape with named sizes, a value of its metadata."""

    text: str


Cell: TypeAlias = str | Value | Name
Line: TypeAlias = tuple[Cell, ...]
"""Cells that follow each other without anything between them."""


def line_text(line: Line) -> str:
    """A line as plain text."""
    return "".join(cell if isinstance(cell, str) else cell.text for cell in line)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    line: Line
    title: str = ""
    """Words before it, set off."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    lines: tuple[Line, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head; columns of numbers are set right. ``more`` rows are left out."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    more: int = 0
    title: str = ""

    @property
    def more_text(self) -> str:
        """What stands under it where rows are left out."""
        return f"… {self.more:,} more" if self.more else ""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """By column: whether numbers alone are in it."""
        return tuple(
            bool(self.rows) and all(len(row[at]) == 1 and isinstance(row[at][0], Value) for row in self.rows)
            for at in range(len(self.head))
        )


@dataclass(frozen=True, slots=True)
class Stage:
    """A box of the picture of the stages."""

    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """Stages and the data that pass between them, as pairs of places in ``stages``."""

    stages: tuple[Stage, ...]
    edges: tuple[tuple[int, int], ...]
    caption: str

    @property
    def around(self) -> tuple[Stage, ...]:
        """The stages in one row: inputs, which are last but one, before the others, outputs behind them."""
        *stages, first, last = self.stages
        return (first, *stages, last)


@dataclass(frozen=True, slots=True)
class Figure:
    """Where a picture goes that a format may have or leave out: ``graph``, or a plot by its name."""

    name: str
    caption: str


Block: TypeAlias = Paragraph | Items | Table | Diagram | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under a title; ``id`` is stable."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class SectionContext:
    """What sections are made from."""

    report: Report

    @cached_property
    def layers(self) -> dict[int, Layer]:
        """By id."""
        return {layer.id: layer for layer in self.report.layers}

    def layer_name(self, node: int | None) -> Name:
        """The name of a layer."""
        layer = self.layers.get(-1 if node is None else node)
        return Name(layer.name if layer else "" if node is None else f"layer {node}")
