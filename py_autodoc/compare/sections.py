"""A comparison as sections for Markdown and PDF: verdict, changes, metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from py_autodoc.compare.align import Alignment, Pair
from py_autodoc.compare.block_differences import BlockDifference, block_differences
from py_autodoc.compare.changes import NAMES
from py_autodoc.compare.estimate_rows import estimate_rows
from py_autodoc.compare.impact import Evaluations, impact, layer_precisions, precisions
from py_autodoc.compare.measures import percent, relative
from py_autodoc.compare.summary import front_line, headline, rows, table, unmatched_nodes
from py_autodoc.compare.tradeoff import captions, variant_labels
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

MAX_ROWS = 50
"""Maximum number of rows of a table."""
_MAX_CELL = 300
"""Maximum number of characters of a cell."""
_MAX_ROWS_PER_KIND = 12
"""Maximum number of rows per kind of change."""
_PER_NODE = ("operator", "attributes", "shapes", "weights")
"""Changes listed per node; the others are the same for many nodes."""


def model_names(analyses: Sequence[Analysis]) -> list[str]:
    """Return the file names of the models."""
    return [analysis.model.file.name or "model" for analysis in analyses]


def title(analyses: Sequence[Analysis]) -> str:
    """Return the title of the document."""
    names = model_names(analyses)
    return f"Comparison of {' and '.join(names) if len(names) < 3 else names[0] + ' with others'}"


def sections(
    analyses: Sequence[Analysis],
    alignments: Sequence[Alignment],
    failed: Sequence[str] = (),
    evaluations: Evaluations = (),
) -> list[Section]:
    """Return the comparison of the first model with the others as ordered sections.

    Ids are ``failed``, ``numbers``, ``variants``, ``precision``, and ``pair`` plus the number of the other
    model.
    """
    names = model_names(analyses)
    sections = []
    if failed:
        sections.append(
            Section("failed", "Does not pass", (Items(tuple(_line(reason) for reason in failed)),))
        )
    for index, alignment in enumerate(alignments, 1):
        heading = names[index] if len(alignments) > 1 else "What changed"
        sections.append(Section(f"pair{index}", heading, tuple(_pair(alignment))))
    numbers = [[_line(label), *map(_line, values)] for label, values in table(analyses, evaluations)]
    numbers += [[_line(label), *map(_line, values)] for label, values in estimate_rows(analyses)]
    gains = impact(analyses, evaluations)
    best = front_line(gains, names)
    front = (Paragraph(_line(best)),) if best else ()
    plotted = captions(gains, variant_labels(names, precisions(analyses)))
    figures = [Figure(name, shorten_middle(caption, _MAX_CELL)) for name, caption in plotted.items()]
    sections.append(Section("numbers", "Numbers", (_table(("", *names), numbers), *front, *figures)))
    variants = variant_rows(alignments, gains)
    if variants:
        cells = [[_line(text) for text in row] for row in variants]
        sections.append(Section("variants", "Variants", (_table(("", *names), cells),)))
    layers = tuple(
        _precision(alignment, names[index] if len(alignments) > 1 else "")
        for index, alignment in enumerate(alignments, 1)
    )
    if any(table.rows for table in layers):
        sections.append(
            Section("precision", "Precision by layer", tuple(table for table in layers if table.rows))
        )
    return sections


def _precision(alignment: Alignment, heading: str) -> Table:
    """Return layers whose precision differs, with the change in their weights."""
    rows = []
    for layer in layer_precisions(alignment):
        before, after = layer.bytes_before, layer.bytes_after
        name = node_label(alignment.sides[0].model.nodes[layer.left[0]]) if layer.left else None
        weights = (Value(before, "size"),) if before else ("–",)
        change = percent(relative(before, after)) if before and after is not None else "–"
        words = map(_line, (layer.core, layer.before, layer.after))
        rows.append([_named(name), *words, weights, _line(change)])
    head = ("Layer", "Operator", "Before", "After", "Weights before", "Change")
    return replace(_table(head, rows), title=heading)


def _pair(alignment: Alignment) -> Iterator[Block]:
    yield Paragraph((headline(alignment),))
    changes = [
        [_line(row.kind), _count(row.count), _line(row.what)] for row in rows(alignment, _MAX_ROWS_PER_KIND)
    ]
    if changes:
        yield _table(("Changed", "Core operators", "What"), changes)
    blocks = block_differences(alignment)
    for side, word in ((0, "Removed"), (1, "Added")):
        nodes = unmatched_nodes(alignment, side, blocks)
        if nodes:
            yield Paragraph(_line(nodes), word)
    block_rows = [_block(block) for block in blocks if not block.same]
    if block_rows:
        yield _table(("Block", "Counterpart", "Changes", "Removed", "Added"), block_rows)
    node_rows = [
        _node(alignment, pair)
        for pair in alignment.pairs
        if any(NAMES[detail.kind] in _PER_NODE for detail in pair.details)
    ]
    if node_rows:
        yield _table(("Node", "Counterpart", "Changes"), node_rows)


def _block(block: BlockDifference) -> list[Line]:
    changes = ", ".join(f"{count:,} {kind}" for kind, count in sorted(block.changed.items()))
    return [
        _named(block.left),
        _named(block.right),
        _line(changes or "–"),
        _count(block.only_left),
        _count(block.only_right),
    ]


def _node(alignment: Alignment, pair: Pair) -> list[Line]:
    changes = [
        f"{detail.what}: {detail.left} → {detail.right}"
        for detail in pair.details
        if NAMES[detail.kind] in _PER_NODE
    ]
    left, right = (
        _named(node_label(side.model.nodes[nodes[0]]) if nodes else None)
        for side, nodes in zip(alignment.sides, (pair.left, pair.right), strict=True)
    )
    return [left, right, _line("; ".join(changes))]


def _table(head: tuple[str, ...], body: Sequence[Sequence[Line]]) -> Table:
    return Table(head, tuple(tuple(row) for row in body[:MAX_ROWS]), max(0, len(body) - MAX_ROWS))


def _line(text: str) -> Line:
    return (shorten_middle(text, _MAX_CELL),)


def _named(text: str | None) -> Line:
    return (Name(shorten_middle(text, _MAX_CELL)) if text else "–",)


def _count(number: int) -> Line:
    return (Value(number),)
