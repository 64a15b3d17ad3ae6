"""Reshapes at other sizes: elements keep their order, so input factors form the output axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from py_autodoc.graph.resize.axes import Axis, AxisFactor, joined, moves, new_size, steady

MAX_WAYS = 16
"""Maximum number of ways considered for one reshape."""


def ways(axes: Sequence[Axis], out: Sequence[int]) -> list[tuple[Axis, ...]]:
    """Return the possible output axes of a reshape, most likely first; empty if there are none.

    ``out`` is its shape in the file. Both sides are split into the smallest groups of equal product. A group
    with one output axis is unique, as is one whose factors separate where they were joined. A factor that is
    split has two readings: either the number of pieces grows or their size.
    """
    parts = [part for axis in axes for part in joined(axis) if (part.old, part.new) != (1, 1)]
    regroupings: list[list[Axis]] = [[]]
    for group, sizes in _groups(parts, out):
        options = _group(group, sizes)
        regroupings = [[*head, *tail] for head in regroupings for tail in options][:MAX_WAYS]
    return [tuple(regrouping) for regrouping in regroupings]


def _groups(parts: Sequence[AxisFactor], out: Sequence[int]) -> list[tuple[list[AxisFactor], list[int]]]:
    groups: list[tuple[list[AxisFactor], list[int]]] = []
    p = k = 0
    while k < len(out) or p < len(parts):
        group: list[AxisFactor] = []
        sizes: list[int] = []
        left = right = 1
        while True:
            if left == right and sizes and (group or left == 1):
                break
            if right <= left and k < len(out):
                sizes.append(out[k])
                right *= out[k]
                k += 1
            elif p < len(parts):
                group.append(parts[p])
                left *= parts[p].old
                p += 1
            else:
                break
        groups.append((group, sizes))
        if left != right:
            break
    return groups


def _group(group: list[AxisFactor], sizes: list[int]) -> list[list[Axis]]:
    """Return the possible output axes of a group."""
    if all(part.steady for part in group):
        return [[steady(size) for size in sizes]]
    several = [k for k, size in enumerate(sizes) if size != 1]
    if len(several) <= 1:
        k = several[0] if several else 0
        return [[joined(group) if i == k else steady(1) for i in range(len(sizes))]]
    regroupings = _walk(tuple(group), tuple(sizes))
    if regroupings and all(
        part in group for axis in regroupings[0] for part in axis if part.steady and part.old > 1
    ):
        return regroupings[:MAX_WAYS]
    for axes in _one_grows(group, sizes):
        if not any(sizes_of(axes) == sizes_of(other) for other in regroupings):
            regroupings.append(axes)
    return regroupings[:MAX_WAYS]


def _walk(parts: tuple[AxisFactor, ...], sizes: tuple[int, ...]) -> list[list[Axis]]:
    """Assign factors from the front; a factor that is too large for an axis is split."""
    if not sizes:
        return [[]] if not parts else []
    factors: list[AxisFactor] = []
    need = sizes[0]
    remaining = list(parts)
    while need > 1:
        if not remaining:
            return []
        part = remaining.pop(0)
        if need % part.old == 0:
            factors.append(part)
            need //= part.old
            continue
        if part.old % need:
            return []
        regroupings: list[list[Axis]] = []
        for factor, others in _cut(part, need):
            tails = _walk((others, *remaining), sizes[1:])
            regroupings += [[joined([*factors, factor]), *tail] for tail in tails]
        return regroupings
    return [[joined(factors), *tail] for tail in _walk(tuple(remaining), sizes[1:])]


def _cut(part: AxisFactor, count: int) -> list[tuple[AxisFactor, AxisFactor]]:
    """Split a factor into ``count`` pieces."""
    size = part.old // count
    if part.steady:
        return [(AxisFactor(count, count), AxisFactor(size, size))]
    cuts = []
    if part.new % size == 0:
        cuts.append((AxisFactor(count, part.new // size, part.front), AxisFactor(size, size)))
    if part.new % count == 0 and count > 1:
        cuts.append((AxisFactor(count, count), AxisFactor(size, part.new // count)))
    return cuts


def _one_grows(group: Sequence[AxisFactor], sizes: Sequence[int]) -> list[list[Axis]]:
    """Return ways in which a single axis takes the whole change, since the factors do not separate."""
    before, after = math.prod(sizes), math.prod(part.new for part in group)
    regroupings: list[list[Axis]] = []
    for k, size in enumerate(sizes):
        quotient = before // size
        if size > 1 and after % quotient == 0 and after // quotient >= 1:
            grown = (AxisFactor(size, after // quotient),)
            regroupings.append([grown if i == k else steady(d) for i, d in enumerate(sizes)])
    return regroupings


def sizes_of(axes: Sequence[Axis]) -> list[int]:
    """Return the requested shape."""
    return [new_size(axis) for axis in axes]


def moving(axes: Sequence[Axis]) -> list[int]:
    """Return axes whose size changes."""
    return [k for k, axis in enumerate(axes) if moves(axis)]
