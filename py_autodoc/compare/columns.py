"""An alignment in the column format of the viewer."""

from __future__ import annotations

from collections.abc import Iterable

from py_autodoc.compare.align import Alignment, Pair
from py_autodoc.compare.block_differences import block_differences
from py_autodoc.compare.changes import NAMES, Detail
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.schema.aligned import AlignedBlock, AlignedChange, ComparisonColumns

NOT_MATCHED = -2
"""Used instead of a pair for constants and nodes computed only from them, which are not matched."""


def comparison_columns(alignment: Alignment) -> ComparisonColumns:
    """Return the pairs of nodes, by the ids of both payloads."""
    left, right, bits = alignment.columns()
    for column, unmatched_nodes in ((left, alignment.only_left), (right, alignment.only_right)):
        unmatched = set(unmatched_nodes)
        for node, pair in enumerate(column):
            if pair < 0 and node not in unmatched:
                column[node] = NOT_MATCHED
    return ComparisonColumns(
        verdict=alignment.verdict.value,
        score_macs=alignment.score_macs,
        score_nodes=alignment.score_nodes,
        core_operators=list(alignment.units),
        core_matched=alignment.matched,
        left=left,
        right=right,
        kinds=list(NAMES.values()),
        changes=bits,
        main_left=[_main(alignment, pair, 0) for pair in alignment.pairs],
        main_right=[_main(alignment, pair, 1) for pair in alignment.pairs],
        details={
            str(number): _changes(pair.details) for number, pair in enumerate(alignment.pairs) if pair.details
        },
        interface=_changes((*alignment.interface, *alignment.file)),
        blocks=[
            AlignedBlock(
                left=None if block.left is None else shorten_middle(block.left),
                right=None if block.right is None else shorten_middle(block.right),
                pairs=block.pairs,
                changed=dict(block.changed),
                only_left=block.only_left,
                only_right=block.only_right,
                macs_left=block.macs[0],
                macs_right=block.macs[1],
                first_left=block.first[0],
                first_right=block.first[1],
            )
            for block in block_differences(alignment)
        ],
    )


def _main(alignment: Alignment, pair: Pair, side: int) -> int:
    """Return the computing node of a pair on one side."""
    nodes = (pair.left, pair.right)[side]
    for units in pair.units:
        node = alignment.sides[side].graph.units[units[side]].node
        if node in nodes:
            return node
    return nodes[0] if nodes else -1


def _changes(details: Iterable[Detail]) -> list[AlignedChange]:
    return [
        AlignedChange(
            kind=NAMES[detail.kind],
            what=shorten_middle(detail.what),
            left=shorten_middle(detail.left),
            right=shorten_middle(detail.right),
        )
        for detail in details
    ]
