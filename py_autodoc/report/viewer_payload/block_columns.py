"""Structural blocks for the viewer: similar blocks share their common fields; nodes are delta-encoded."""

from __future__ import annotations

from itertools import pairwise

from py_autodoc.report.builders.block_section import block_facts, in_order
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import BlockColumns, BlockKind

MAX_NODES = 2_000_000
"""Maximum number of node ids in all blocks; larger payloads have no blocks."""


def block_columns(analysis: Analysis) -> BlockColumns | None:
    """Return the recognised structures; None if there are too many."""
    pool: dict[tuple[object, ...], int] = {}
    kinds: list[BlockKind] = []
    what: list[int] = []
    offsets, steps = [0], list[int]()
    for entry, nodes in in_order(analysis):
        if len(steps) + len(nodes) > MAX_NODES:
            return None
        facts = block_facts(entry)
        # The type is part of the key because True == 1.
        key = (
            entry.kind,
            entry.variant,
            entry.how,
            entry.confidence,
            *((name, type(value), value) for name, value in facts.items()),
        )
        if key not in pool:
            pool[key] = len(kinds)
            kinds.append(
                BlockKind(
                    kind=entry.kind,
                    variant=shorten_middle(entry.variant),
                    how=entry.how,
                    confidence=entry.confidence,
                    facts=facts,
                )
            )
        what.append(pool[key])
        steps.append(nodes[0])
        steps += [b - a for a, b in pairwise(nodes)]
        offsets.append(len(steps))
    return BlockColumns(what=what, kinds=kinds, offsets=offsets, nodes=steps)
