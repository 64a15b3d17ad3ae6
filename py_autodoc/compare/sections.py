"""A comparison as sections for Markdown and PDF: verdict, changes, metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from py_autodoc.compare.align import Alignment, Pair
from py_autodoc.compare.changes import NAMES
from py_autodoc.compare.impact import Evaluations, impact, layer_precisions, precisions
from py_autodoc.compare.measures import percent, relative
from py_autodoc.compare.parts import ComparedPart, parts
from py_autodoc.compare.summary import front_line, lone, relation, rows, table, verdict_line
from py_autodoc.compare.tradeoff import captions, labelled
from py_autodoc.compare.variants import variant_rows
from py_autodoc.report.encode.labels import node_label, shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.sections.section_model import (
    Block,
    Figure,
    Items,
    Line,
    Name,
    Paragraph,
    Section,
    Table,
    Value,
)

MOST = 50
"""Maximum number of rows of a table."""
_LONGEST = 300
"""Maximum number of characters of a cell."""
_KINDS = 12
"""Maximum number of rows per kind of change."""
_OWN = ("operator", "attributes", "shapes", "weights")
"""Changes listed per node; the others are the same for many nodes."""


def model_names(analyses: Sequence[Analysis]) -> list[str]:
    """Return the file names of the models."""
    return [one.model.file.name or "model" for one in analyses]


def title(analyses: Sequence[Analysis]) -> str:
    """Return the title of the document."""
    names = model_names(analyses)
    return f"Comparison of {' and '.join(names) if len(names) < 3 else names[0] + ' with others'}"


def sections(
    analyses: Sequence[Analysis],
    found: Sequence[Alignment],
    failed: Sequence[str] = (),
    evaluations: Evaluations = (),
) -> list[Section]:
    """Return the comparison of the first model with the others as ordered sections.

    Ids are ``failed``, ``numbers``, ``variants``, ``precision``, and ``pair`` plus the number of the other
    model.
    """
    names = model_names(analyses)
    made = []
    if failed:
        made.append(Section("failed", "Does not pass", (Items(tuple(_line(one) for one in failed)),)))
    for at, one in enumerate(found, 1):
        heading = names[at] if len(found) > 1 else "What changed"
        made.append(Section(f"pair{at}", heading, tuple(_pair(one))))
    numbers = [[_line(label), *map(_line, values)] for label, values in table(analyses, evaluations)]
    gained = impact(analyses, evaluations)
    best = front_line(gained, names)
    told = (Paragraph(_line(best)),) if best else ()
    plotted = captions(gained, labelled(names, precisions(analyses)))
    figures = [Figure(name, shorten_middle(caption, _LONGEST)) for name, caption in plotted.items()]
    made.append(Section("numbers", "Numbers", (_table(("", *names), numbers), *told, *figures)))
    short = variant_rows(found, gained)
    if short:
        cells = [[_line(text) for text in row] for row in short]
        made.append(Section("variants", "Variants", (_table(("", *names), cells),)))
    layers = tuple(_precision(one, names[at] if len(found) > 1 else "") for at, one in enumerate(found, 1))
    if any(table.rows for table in layers):
        made.append(Section("precision", "Precision by layer", tuple(one for one in layers if one.rows)))
    return made


def _precision(found: Alignment, heading: str) -> Table:
    """Return layers whose precision differs, with the change in their weights."""
    rows_of = []
    for one in layer_precisions(found):
        before, after = one.bytes_before, one.bytes_after
        name = node_label(found.sides[0].model.nodes[one.left[0]]) if one.left else None
        weights = (Value(before, "size"),) if before else ("–",)
        change = percent(relative(before, after)) if before and after is not None else "–"
        words = map(_line, (one.core, one.before, one.after))
        rows_of.append([_named(name), *words, weights, _line(change)])
    head = ("Layer", "Operator", "Before", "After", "Weights before", "Change")
    return replace(_table(head, rows_of), title=heading)


def _pair(found: Alignment) -> Iterator[Block]:
    yield Paragraph((" ".join(one for one in (verdict_line(found), relation(found)) if one),))
    changes = [[_line(row.kind), _count(row.count), _line(row.what)] for row in rows(found, _KINDS)]
    if changes:
        yield _table(("Changed", "Core operators", "What"), changes)
    blocks = parts(found)
    for side, word in ((0, "Removed"), (1, "Added")):
        told = lone(found, side, blocks)
        if told:
            yield Paragraph(_line(told), word)
    changed = [_block(one) for one in blocks if not one.same]
    if changed:
        yield _table(("Block", "Counterpart", "Changes", "Removed", "Added"), changed)
    own = [_node(found, pair) for pair in found.pairs if any(NAMES[one.kind] in _OWN for one in pair.details)]
    if own:
        yield _table(("Node", "Counterpart", "Changes"), own)


def _block(one: ComparedPart) -> list[Line]:
    changes = ", ".join(f"{count:,} {kind}" for kind, count in sorted(one.changed.items()))
    return [
        _named(one.left),
        _named(one.right),
        _line(changes or "–"),
        _count(one.only_left),
        _count(one.only_right),
    ]


def _node(found: Alignment, pair: Pair) -> list[Line]:
    told = [f"{one.what}: {one.left} → {one.right}" for one in pair.details if NAMES[one.kind] in _OWN]
    left, right = (
        _named(node_label(side.model.nodes[nodes[0]]) if nodes else None)
        for side, nodes in zip(found.sides, (pair.left, pair.right), strict=True)
    )
    return [left, right, _line("; ".join(told))]


def _table(head: tuple[str, ...], body: Sequence[Sequence[Line]]) -> Table:
    return Table(head, tuple(tuple(row) for row in body[:MOST]), max(0, len(body) - MOST))


def _line(text: str) -> Line:
    return (shorten_middle(text, _LONGEST),)


def _named(text: str | None) -> Line:
    return (Name(shorten_middle(text, _LONGEST)) if text else "–",)


def _count(number: int) -> Line:
    return (Value(number),)
