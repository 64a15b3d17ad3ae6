"""A comparison as terminal output."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.compare.align import Alignment, AlignmentVerdict
from py_autodoc.compare.block_differences import block_differences
from py_autodoc.compare.impact import Evaluations, impact
from py_autodoc.compare.summary import front_line, headline, rows, table, unmatched_nodes
from py_autodoc.metrics import total_label
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis

_MAX_CELL = 40
_MAX_LINE = 96
"""Maximum width of a kind of change on one line."""
_OMITTED = total_label("flops")
"""Omitted because it is nearly twice the MACs."""
_MAX_NAME = 60
"""Maximum number of characters of a name."""


def text(
    analyses: Sequence[Analysis], alignments: Sequence[Alignment], evaluations: Evaluations = ()
) -> list[str]:
    """Return the comparison of the first model with the others. Names are unsanitised."""
    lines: list[str] = []
    for index, alignment in enumerate(alignments):
        if len(alignments) > 1:
            lines += ["", f"{_name(analyses[0])} and {_name(analyses[index + 1])}"]
        lines += _pair(alignment)
    lines += _numbers(analyses, evaluations)
    front = ""
    if evaluations:
        front = front_line(impact(analyses, evaluations), [_name(analysis) for analysis in analyses])
    return [*lines, *([front] if front else [])][0 if lines[0] else 1 :]


def _pair(alignment: Alignment) -> list[str]:
    lines = [headline(alignment, with_run=False)]
    if alignment.run is not None:
        lines.append(f"  {'run':<11}{shorten_middle(alignment.run.text, 200)}")
    if alignment.verdict is AlignmentVerdict.DIFFERENT:
        return lines
    blocks = block_differences(alignment)
    changes_by_kind: dict[str, list[str]] = {}
    for row in rows(alignment):
        change = row.what if row.kind in ("interface", "file") else f"{row.count:,} × {row.what}"
        changes_by_kind.setdefault(row.kind, []).append(change)
    entries: list[tuple[str, str]] = []
    for kind, changes in changes_by_kind.items():
        line = ", ".join(changes)
        entries += [(kind, line)] if len(line) <= _MAX_LINE else [(kind, change) for change in changes]
    for side, word in ((0, "removed"), (1, "added")):
        nodes = unmatched_nodes(alignment, side, blocks)
        if nodes:
            entries.append((word, nodes))
    previous = ""
    for kind, what in entries:
        lines.append(f"  {kind if kind != previous else '':<11}{shorten_middle(what, 200)}")
        previous = kind
    return lines


def _numbers(analyses: Sequence[Analysis], evaluations: Evaluations) -> list[str]:
    rows = [row for row in table(analyses, evaluations) if row[0] != _OMITTED]
    names = ["", *(shorten_middle(_name(analysis), _MAX_CELL) for analysis in analyses)]
    grid = [names, *([shorten_middle(label, _MAX_CELL), *values] for label, values in rows)]
    widths = [max(len(row[column]) for row in grid) for column in range(len(names))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid
    ]


def _name(analysis: Analysis) -> str:
    return shorten_middle(analysis.model.file.name or "model", _MAX_NAME)
