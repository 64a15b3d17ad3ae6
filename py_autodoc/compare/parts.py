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

_MOST = 64
"""Maximum number of blocks per model; limits the module depth."""


@dataclass(slots=True)
class ComparedPart:
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


def parts(found: Alignment) -> list[ComparedPart]:
    """Return the blocks in the order of the left model, then those only in the right."""
    sides = found.sides
    paths = [_paths(side.analysis) for side in sides]
    if not any(any(one) for one in paths):
        return []
    votes: dict[str, Counter[str]] = {}
    for pair in found.pairs:
        if pair.left and pair.right:
            ours = votes.setdefault(paths[0][pair.left[0]], Counter())
            ours[paths[1][pair.right[0]]] += 1
    partner = {path: seen.most_common(1)[0][0] for path, seen in votes.items()}
    home: dict[str, str] = {}
    for path, other in partner.items():
        if other not in home or votes[path][other] > votes[home[other]][other]:
            home[other] = path
    made: dict[tuple[int, str], ComparedPart] = {}

    def part(side: int, path: str) -> ComparedPart:
        if side and path in home:
            side, path = 0, home[path]
        known = made.get((side, path))
        if known is None:
            other = partner.get(path) if not side else None
            other = other if other is not None and home.get(other) == path else None
            names = (path, other) if not side else (None, path)
            known = made[side, path] = ComparedPart(*names)
        return known

    for path in dict.fromkeys(paths[0]):
        part(0, path)
    for pair in found.pairs:
        one = part(0, paths[0][pair.left[0]]) if pair.left else None
        if one is not None:
            one.pairs += 1
            one.changed.update(NAMES[kind] for kind in NAMES if kind in pair.changes)
    for node in found.only_left:
        part(0, paths[0][node]).only_left += 1
    for node in found.only_right:
        part(1, paths[1][node]).only_right += 1
    _firsts(found, lambda side, node: part(side, paths[side][node]))
    for at, side in enumerate(sides):
        for node, owners in enumerate(side.graph.owner):
            if owners:
                macs = per_inference(side.analysis.costs[node]).macs
                part(at, paths[at][node]).macs[at] += macs or 0
    return [one for one in made.values() if one.pairs or not one.same]


def _firsts(found: Alignment, part: Callable[[int, int], ComparedPart]) -> None:
    """Set the node at which each block is best inspected."""
    differ = [[n for pair in found.pairs if pair.details for n in (pair.left, pair.right)[side]]
              for side in (0, 1)]  # fmt: skip
    equal = [[n for pair in found.pairs if not pair.details for n in (pair.left, pair.right)[side]]
             for side in (0, 1)]  # fmt: skip
    for side, only in enumerate((found.only_left, found.only_right)):
        for nodes in (sorted([*only, *differ[side]]), sorted(equal[side])):
            for node in nodes:
                first = part(side, node).first
                if first[side] < 0:
                    first[side] = node


def _paths(analysis: Analysis) -> list[str]:
    """Return each node's module, as deep as the number of blocks allows."""
    tree = scope_tree(analysis.model)
    whole = [tuple(tree.path(scope)) if scope >= 0 else () for scope in tree.node]
    depth = 0
    for level in range(1, 7):
        if len({path[:level] for path in whole}) > _MOST:
            break
        depth = level
    return ["/".join(path[:depth]) for path in whole]
