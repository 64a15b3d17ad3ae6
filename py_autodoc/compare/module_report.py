"""The comparison of topology and modules as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.compare.tags import TagChange, TagComparison
from py_autodoc.report.sections.section_model import (
    Block,
    Items,
    Line,
    Name,
    Paragraph,
    Section,
    Table,
    Value,
)
from py_autodoc.units import plural

MAX_ROWS = 500


def module_sections(
    names: tuple[str, str], topology: Sequence[str], modules: TagComparison | None
) -> list[Section]:
    """Return what differs between two models, in sections; ``topology`` are lines about their graphs."""
    sections = []
    if topology:
        items = Items(tuple((Name(line.strip()),) for line in topology[:MAX_ROWS]))
        sections.append(Section("topology", "Graph", (items,)))
    if modules is not None:
        sections.append(Section("modules", "Modules", tuple(_modules(names, modules))))
    return sections


def _modules(names: tuple[str, str], modules: TagComparison) -> list[Block]:
    changes = [*modules.changed, *modules.only_a, *modules.only_b]
    differ = f", {len(changes):,} differ" if changes else ""
    blocks: list[Block] = [Paragraph((f"{plural(modules.same, 'module')} without a difference{differ}.",))]
    if changes:
        rows = tuple(_row(change) for change in changes[:MAX_ROWS])
        more = max(0, len(changes) - MAX_ROWS)
        head = ("Module", f"Nodes in {names[0]}", f"Nodes in {names[1]}", "Operators")
        blocks.append(Table(head, rows, more))
    return blocks


def _row(change: TagChange) -> tuple[Line, ...]:
    operators = ", ".join(f"{count:+} {operator}" for operator, count in change.operators.items())
    return (
        (Name(change.tag),),
        (Value(change.a),),
        (Value(change.b),),
        (Name(operators) if operators else "",),
    )
