"""Blocks of two aligned models: matched, changed, added and removed nodes in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from py_autodoc.compare.align import Alignment
from py_autodoc.compare.changes import NAMES
from py_autodoc.report.builders.node_numbers import per_inference
from py_autodoc.report.module_tree.scope_tree import scope_tree
from py_autodoc.report.pipeline.analysis import Analysis

_MAX_BLOCKS = 64
"""Maximum number of blocks per model; limits the module depth."""


@dataclass(slots=True)
class BlockDifference:
    """One block. ``left`` and ``right`` are its paths, None without a counterpart."""

    left: str | None
    right: str | None
    pairs: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    """Kind of change → pairs."""
    only_left: int = 0
    """Nodes without a counterpart."""
    only_right: int = 0
    macs: list[int] = field(default_factory=lambda: [0, 0])
    """Known MACs of the block in each model."""
    first: list[int] = field(default_factory=lambda: [-1, -1])
    """First node in each model that differs, else the first node; -1 without any."""

    @property
    def same(self) -> bool:
        """True if nothing in it differs."""
        return not (self.changed or self.only_left or self.only_right)


def block_differences(alignment: Alignment) -> list[BlockDifference]:
    """Return the blocks in the order of the left model, then those only in the right."""
    sides = alignment.sides
    paths = [_paths(side.analysis) for side in sides]
    if not any(any(side_paths) for side_paths in paths):
        return []
    votes: dict[str, Counter[str]] = {}
    for pair in alignment.pairs:
        if pair.left and pair.right:
            right_paths = votes.setdefault(paths[0][pair.left[0]], Counter())
            right_paths[paths[1][pair.right[0]]] += 1
    counterparts = {path: right_paths.most_common(1)[0][0] for path, right_paths in votes.items()}
    left_paths: dict[str, str] = {}
    for path, right_path in counterparts.items():
        if (
            right_path not in left_paths
            or votes[path][right_path] > votes[left_paths[right_path]][right_path]
        ):
            left_paths[right_path] = path
    blocks: dict[tuple[int, str], BlockDifference] = {}

    def block(side: int, path: str) -> BlockDifference:
        if side and path in left_paths:
            side, path = 0, left_paths[path]
        difference = blocks.get((side, path))
        if difference is None:
            right_path = counterparts.get(path) if not side else None
            right_path = right_path if right_path is not None and left_paths.get(right_path) == path else None
            names = (path, right_path) if not side else (None, path)
            difference = blocks[side, path] = BlockDifference(*names)
        return difference

    for path in dict.fromkeys(paths[0]):
        block(0, path)
    for pair in alignment.pairs:
        difference = block(0, paths[0][pair.left[0]]) if pair.left else None
        if difference is not None:
            difference.pairs += 1
            difference.changed.update(NAMES[kind] for kind in NAMES if kind in pair.changes)
    for node in alignment.only_left:
        block(0, paths[0][node]).only_left += 1
    for node in alignment.only_right:
        block(1, paths[1][node]).only_right += 1
    _set_first_nodes(alignment, lambda side, node: block(side, paths[side][node]))
    for index, side in enumerate(sides):
        for node, owners in enumerate(side.graph.owner):
            if owners:
                macs = per_inference(side.analysis.costs[node]).macs
                block(index, paths[index][node]).macs[index] += macs or 0
    return [block for block in blocks.values() if block.pairs or not block.same]


def _set_first_nodes(alignment: Alignment, block: Callable[[int, int], BlockDifference]) -> None:
    """Set the node at which each block is best inspected."""
    differ = [
        [n for pair in alignment.pairs if pair.details for n in (pair.left, pair.right)[side]]
        for side in (0, 1)
    ]
    equal = [
        [n for pair in alignment.pairs if not pair.details for n in (pair.left, pair.right)[side]]
        for side in (0, 1)
    ]
    for side, only in enumerate((alignment.only_left, alignment.only_right)):
        for nodes in (sorted([*only, *differ[side]]), sorted(equal[side])):
            for node in nodes:
                first = block(side, node).first
                if first[side] < 0:
                    first[side] = node


def _paths(analysis: Analysis) -> list[str]:
    """Return each node's module, as deep as the number of blocks allows."""
    tree = scope_tree(analysis.model)
    full_paths = [tuple(tree.path(scope)) if scope >= 0 else () for scope in tree.node]
    depth = 0
    for level in range(1, 7):
        if len({path[:level] for path in full_paths}) > _MAX_BLOCKS:
            break
        depth = level
    return ["/".join(path[:depth]) for path in full_paths]
