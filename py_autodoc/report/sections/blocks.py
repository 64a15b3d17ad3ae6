"""Recognised structures and repeated parts."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.report.document.block_counts import ORDER
from py_autodoc.report.schema import Block
from py_autodoc.report.sections.section_model import Name, Section, SectionContext, Table, Value

MAX_REPEATS = 12


def section(context: SectionContext) -> Section | None:
    """Return one row per kind of block, and one per repeat."""
    report, tables = context.report, []
    kinds: dict[str, list[Block]] = {}
    for block in report.blocks:
        if block.kind != "module":
            kinds.setdefault(block.kind, []).append(block)
    ordered = [kind for kind in ORDER if kind in kinds]
    rows = tuple(
        (
            (kind,),
            (Value(len(kinds[kind])),),
            (Value(_sum(block.params for block in kinds[kind]), "count"),),
            (Value(_sum(block.macs for block in kinds[kind]), "count"),),
        )
        for kind in (*ordered, *sorted(kinds.keys() - set(ordered)))
    )
    if rows:
        tables.append(Table(("Block", "Number", "Parameters", "MACs"), rows, title="Recognised structures"))
    repeats = tuple(
        (
            (Name(repeat.name),),
            (Value(repeat.count, "exact", f"/repeats/{index}/count"),),
            (Value(repeat.size, "exact", f"/repeats/{index}/size"),),
        )
        for index, repeat in enumerate(report.repeats[:MAX_REPEATS])
    )
    if repeats:
        omitted = max(0, len(report.repeats) - MAX_REPEATS)
        tables.append(Table(("Part", "Times", "Nodes each"), repeats, omitted, "Repeated parts"))
    return Section("blocks", "Blocks", tuple(tables)) if tables else None


def _sum(numbers: Iterable[int | None]) -> int | None:
    """Return the sum; None if a value is unknown."""
    values = list(numbers)
    return None if None in values else sum(value or 0 for value in values)
