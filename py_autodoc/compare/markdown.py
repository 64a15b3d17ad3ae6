"""A comparison as Markdown. Names from the models are text: nothing in them is markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from py_autodoc.compare.align import Alignment, Pair
from py_autodoc.compare.changes import NAMES
from py_autodoc.compare.parts import parts
from py_autodoc.compare.summary import lone, relation, rows, table, verdict_line
from py_autodoc.render.text import printable
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.labels import cut, node_label

_MOST = 50
"""Rows of a table."""
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#!|~&@$]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


def markdown(analyses: Sequence[Analysis], found: Sequence[Alignment], failed: Sequence[str] = ()) -> str:
    """The comparison of the first model with the others."""
    names = [_plain(one.model.file.name or "model") for one in analyses]
    lines = [f"# Comparison of {' and '.join(names) if len(names) < 3 else names[0] + ' with others'}", ""]
    if failed:
        lines += ["**Does not pass:**", "", *(f"- {_plain(one)}" for one in failed), ""]
    for at, one in enumerate(found):
        if len(found) > 1:
            lines += [f"## {names[at + 1]}", ""]
        lines += _pair(one)
    lines += ["## Numbers", ""]
    lines += _table(
        ["", *names], [[_plain(label), *map(_plain, values)] for label, values in table(analyses)]
    )
    return "\n".join(lines).rstrip() + "\n"


def _pair(found: Alignment) -> list[str]:
    lines = [" ".join(_plain(part) for part in (verdict_line(found), relation(found)) if part), ""]
    made = [[row.kind, f"{row.count:,}", _plain(row.what)] for row in rows(found, 12)]
    blocks = parts(found)
    if made:
        lines += _table(["Changed", "Core operators", "What"], made)
    for side, word in ((0, "Removed"), (1, "Added")):
        told = lone(found, side, blocks)
        if told:
            lines += [f"**{word}:** {_plain(told)}", ""]
    changed = [one for one in blocks if not one.same]
    if changed:
        cells = [
            [
                _plain(one.left or "–"),
                _plain(one.right or "–"),
                ", ".join(f"{count:,} {kind}" for kind, count in sorted(one.changed.items())) or "–",
                f"{one.only_left:,}",
                f"{one.only_right:,}",
            ]
            for one in changed
        ]
        lines += _table(["Block", "Counterpart", "Changes", "Removed", "Added"], cells)
    own = [pair for pair in found.pairs if any(NAMES[one.kind] in _OWN for one in pair.details)]
    if own:
        lines += _table(["Node", "Counterpart", "Changes"], [_row(found, pair) for pair in own])
    return lines


_OWN = ("operator", "attributes", "shapes", "weights")
"""Changes that are told node by node; the others are the same for many."""


def _row(found: Alignment, pair: Pair) -> list[str]:
    told = [f"{one.what}: {one.left} → {one.right}" for one in pair.details if NAMES[one.kind] in _OWN]
    left, right = (
        node_label(side.model.nodes[nodes[0]]) if nodes else "–"
        for side, nodes in zip(found.sides, (pair.left, pair.right), strict=True)
    )
    return [_plain(left), _plain(right), _plain("; ".join(told))]


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in body[:_MOST]]
    if len(body) > _MOST:
        lines += ["", f"{len(body) - _MOST:,} more rows are in the JSON file."]
    return [*lines, ""]


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", printable(cut(text, 300)))
