"""An alignment in the column format of the viewer."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.compare.align import Alignment, Pair
from py_autodoc.compare.changes import NAMES, Detail
from py_autodoc.compare.parts import parts
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema.aligned import AlignedBlock, AlignedChange, ComparisonColumns

NO_PART = -2
"""Used instead of a pair for constants and nodes computed only from them, which are not matched."""


def comparison_columns(found: Alignment) -> ComparisonColumns:
    """Return the pairs of nodes, by the ids of both payloads."""
    left, right, bits = found.columns()
    for column, only in ((left, found.only_left), (right, found.only_right)):
        alone = set(only)
        for node, pair in enumerate(column):
            if pair < 0 and node not in alone:
                column[node] = NO_PART
    return ComparisonColumns(
        verdict=found.verdict.value,
        score_macs=found.score_macs,
        score_nodes=found.score_nodes,
        core_operators=list(found.units),
        core_matched=found.matched,
        left=left,
        right=right,
        kinds=list(NAMES.values()),
        changes=bits,
        main_left=[_main(found, pair, 0) for pair in found.pairs],
        main_right=[_main(found, pair, 1) for pair in found.pairs],
        details={
            str(number): _changes(pair.details) for number, pair in enumerate(found.pairs) if pair.details
        },
        interface=_changes(found.interface),
        blocks=[
            AlignedBlock(
                left=None if one.left is None else shorten_middle(one.left),
                right=None if one.right is None else shorten_middle(one.right),
                pairs=one.pairs,
                changed=dict(one.changed),
                only_left=one.only_left,
                only_right=one.only_right,
                macs_left=one.macs[0],
                macs_right=one.macs[1],
                first_left=one.first[0],
                first_right=one.first[1],
            )
            for one in parts(found)
        ],
    )


def _main(found: Alignment, pair: Pair, side: int) -> int:
    """Return the computing node of a pair on one side."""
    nodes = (pair.left, pair.right)[side]
    for units in pair.units:
        node = found.sides[side].graph.units[units[side]].node
        if node in nodes:
            return node
    return nodes[0] if nodes else -1


def _changes(details: Iterable[Detail]) -> list[AlignedChange]:
    return [
        AlignedChange(
            kind=NAMES[one.kind],
            what=shorten_middle(one.what),
            left=shorten_middle(one.left),
            right=shorten_middle(one.right),
        )
        for one in details
    ]
