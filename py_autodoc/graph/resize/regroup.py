"""Reshapes at other sizes: elements keep their order, so input factors form the output axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from py_autodoc.graph.resize.axes import Axis, AxisFactor, changes_size, fixed_axis, join_factors, new_size

MAX_WAYS = 16
"""Maximum number of ways considered for one reshape."""


def output_axes(axes: Sequence[Axis], out: Sequence[int]) -> list[tuple[Axis, ...]]:
    """Return the possible output axes of a reshape, most likely first; empty if there are none.

    ``out`` is its shape in the file. Both sides are split into the smallest groups of equal product. A group
    with one output axis is unique, as is one whose factors separate where they were joined. A factor that is
    split has two readings: either the number of pieces grows or their size.
    """
    factors = [factor for axis in axes for factor in join_factors(axis) if (factor.old, factor.new) != (1, 1)]
    results: list[list[Axis]] = [[]]
    for group, sizes in _groups(factors, out):
        options = _group(group, sizes)
        results = [[*head, *tail] for head in results for tail in options][:MAX_WAYS]
    return [tuple(regrouping) for regrouping in results]


def _groups(factors: Sequence[AxisFactor], out: Sequence[int]) -> list[tuple[list[AxisFactor], list[int]]]:
    groups: list[tuple[list[AxisFactor], list[int]]] = []
    p = k = 0
    while k < len(out) or p < len(factors):
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
            elif p < len(factors):
                group.append(factors[p])
                left *= factors[p].old
                p += 1
            else:
                break
        groups.append((group, sizes))
        if left != right:
            break
    return groups


def _group(group: list[AxisFactor], sizes: list[int]) -> list[list[Axis]]:
    """Return the possible output axes of a group."""
    if all(factor.is_fixed for factor in group):
        return [[fixed_axis(size) for size in sizes]]
    several = [k for k, size in enumerate(sizes) if size != 1]
    if len(several) <= 1:
        k = several[0] if several else 0
        return [[join_factors(group) if i == k else fixed_axis(1) for i in range(len(sizes))]]
    regroupings = _assign_factors(tuple(group), tuple(sizes))
    if regroupings and all(
        factor in group for axis in regroupings[0] for factor in axis if factor.is_fixed and factor.old > 1
    ):
        return regroupings[:MAX_WAYS]
    for axes in _single_axis_changes(group, sizes):
        if not any(sizes_of(axes) == sizes_of(listed_axes) for listed_axes in regroupings):
            regroupings.append(axes)
    return regroupings[:MAX_WAYS]


def _assign_factors(pending_factors: tuple[AxisFactor, ...], sizes: tuple[int, ...]) -> list[list[Axis]]:
    """Assign factors from the front; a factor that is too large for an axis is split."""
    if not sizes:
        return [[]] if not pending_factors else []
    factors: list[AxisFactor] = []
    need = sizes[0]
    remaining = list(pending_factors)
    while need > 1:
        if not remaining:
            return []
        factor = remaining.pop(0)
        if need % factor.old == 0:
            factors.append(factor)
            need //= factor.old
            continue
        if factor.old % need:
            return []
        regroupings: list[list[Axis]] = []
        for head_factor, remainder in _split_factor(factor, need):
            tails = _assign_factors((remainder, *remaining), sizes[1:])
            regroupings += [[join_factors([*factors, head_factor]), *tail] for tail in tails]
        return regroupings
    return [[join_factors(factors), *tail] for tail in _assign_factors(tuple(remaining), sizes[1:])]


def _split_factor(factor: AxisFactor, count: int) -> list[tuple[AxisFactor, AxisFactor]]:
    """Split a factor into ``count`` pieces."""
    size = factor.old // count
    if factor.is_fixed:
        return [(AxisFactor(count, count), AxisFactor(size, size))]
    cuts = []
    if factor.new % size == 0:
        cuts.append((AxisFactor(count, factor.new // size, factor.front), AxisFactor(size, size)))
    if factor.new % count == 0 and count > 1:
        cuts.append((AxisFactor(count, count), AxisFactor(size, factor.new // count)))
    return cuts


def _single_axis_changes(group: Sequence[AxisFactor], sizes: Sequence[int]) -> list[list[Axis]]:
    """Return ways in which a single axis takes the whole change, since the factors do not separate."""
    before, after = math.prod(sizes), math.prod(factor.new for factor in group)
    regroupings: list[list[Axis]] = []
    for k, size in enumerate(sizes):
        quotient = before // size
        if size > 1 and after % quotient == 0 and after // quotient >= 1:
            grown = (AxisFactor(size, after // quotient),)
            regroupings.append([grown if i == k else fixed_axis(d) for i, d in enumerate(sizes)])
    return regroupings


def sizes_of(axes: Sequence[Axis]) -> list[int]:
    """Return the requested shape."""
    return [new_size(axis) for axis in axes]


def moving(axes: Sequence[Axis]) -> list[int]:
    """Return axes whose size changes."""
    return [k for k, axis in enumerate(axes) if changes_size(axis)]
