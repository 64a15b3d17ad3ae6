"""A comparison as terminal output."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.compare.align import Alignment, AlignmentVerdict
from py_autodoc.compare.impact import Evaluations, impact
from py_autodoc.compare.parts import parts
from py_autodoc.compare.summary import front_line, lone, relation, rows, table, verdict_line
from py_autodoc.metrics import total_label
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis

_WIDE = 40
_LINE = 96
"""Maximum width of a kind of change on one line."""
_LEFT_OUT = total_label("flops")
"""Omitted because it is nearly twice the MACs."""
_MOST = 60
"""Maximum number of characters of a name."""


def text(
    analyses: Sequence[Analysis], found: Sequence[Alignment], evaluations: Evaluations = ()
) -> list[str]:
    """Return the comparison of the first model with the others. Names are unsanitised."""
    lines: list[str] = []
    for at, one in enumerate(found):
        if len(found) > 1:
            lines += ["", f"{_name(analyses[0])} and {_name(analyses[at + 1])}"]
        lines += _pair(one)
    lines += _numbers(analyses, evaluations)
    best = front_line(impact(analyses, evaluations), [_name(one) for one in analyses]) if evaluations else ""
    return [*lines, *([best] if best else [])][0 if lines[0] else 1 :]


def _pair(found: Alignment) -> list[str]:
    lines = [" ".join(part for part in (verdict_line(found), relation(found)) if part)]
    if found.verdict is AlignmentVerdict.DIFFERENT:
        return lines
    blocks = parts(found)
    told_of: dict[str, list[str]] = {}
    for row in rows(found):
        said = row.what if row.kind == "interface" else f"{row.count:,} × {row.what}"
        told_of.setdefault(row.kind, []).append(said)
    made: list[tuple[str, str]] = []
    for kind, parts_of in told_of.items():
        whole = ", ".join(parts_of)
        made += [(kind, whole)] if len(whole) <= _LINE else [(kind, one) for one in parts_of]
    for side, word in ((0, "removed"), (1, "added")):
        told = lone(found, side, blocks)
        if told:
            made.append((word, told))
    last = ""
    for kind, what in made:
        lines.append(f"  {kind if kind != last else '':<11}{shorten_middle(what, 200)}")
        last = kind
    return lines


def _numbers(analyses: Sequence[Analysis], evaluations: Evaluations) -> list[str]:
    made = [row for row in table(analyses, evaluations) if row[0] != _LEFT_OUT]
    names = ["", *(shorten_middle(_name(one), _WIDE) for one in analyses)]
    grid = [names, *([shorten_middle(label, _WIDE), *values] for label, values in made)]
    widths = [max(len(row[at]) for row in grid) for at in range(len(names))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid
    ]


def _name(analysis: Analysis) -> str:
    return shorten_middle(analysis.model.file.name or "model", _MOST)
