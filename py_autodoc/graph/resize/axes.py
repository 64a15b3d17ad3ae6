"""Composition of an axis: fixed factors and factors that follow the inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce


@dataclass(frozen=True, slots=True)
class AxisFactor:
    """A factor of an axis: its size in the file and its requested size.

    ``front``: entry i is position i of a sequence from its start, so a shorter sequence can use the first
    entries of a stored table.
    """

    old: int
    new: int
    front: bool = False

    @property
    def steady(self) -> bool:
        """True if the size does not change."""
        return self.old == self.new


Axis = tuple[AxisFactor, ...]
"""Factors, outermost first: ``(heads, length)`` is heads folded before positions."""


def steady(size: int) -> Axis:
    """Return an axis that does not change."""
    return (AxisFactor(size, size),)


def old_size(axis: Axis) -> int:
    """Return the number of entries in the file."""
    return math.prod(part.old for part in axis)


def new_size(axis: Axis) -> int:
    """Return the requested number of entries."""
    return math.prod(part.new for part in axis)


def moves(axis: Axis) -> bool:
    """True if the size changes."""
    return any(not part.steady for part in axis)


def joined(parts: Iterable[AxisFactor]) -> Axis:
    """Join factors, dropping ones and merging adjacent fixed factors."""

    def add(done: Axis, part: AxisFactor) -> Axis:
        if part.old == part.new == 1:
            return done
        if done and part.steady and done[-1].steady:
            size = done[-1].old * part.old
            return (*done[:-1], AxisFactor(size, size))
        return (*done, part)

    start: Axis = ()
    return reduce(add, parts, start) or steady(1)


def prefix(axis: Axis) -> bool:
    """True if the first entries of a stored table belong to the first positions."""
    first, *remaining = axis
    return first.front and all(part.steady for part in remaining)


def blurred(axis: Axis) -> Axis:
    """Return the axis without the property that entries are positions from the start."""
    return tuple(replace(part, front=False) for part in axis)


def of_sizes(old: Sequence[int], new: Sequence[int], front: bool = False) -> tuple[Axis, ...]:
    """Return axes of which only the sizes are known."""
    return tuple((AxisFactor(a, b, front and a != b),) for a, b in zip(old, new, strict=True))
