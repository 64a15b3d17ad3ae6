"""What an axis is made of: sizes that stay and sizes that follow those of the inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce


@dataclass(frozen=True, slots=True)
class AxisFactor:
    """A factor of an axis: its size in the file and the size that is wanted.

    ``front``: entry i is position i of a sequence, counted from its beginning, so that the first entries
    of a stored table serve a shorter one.
    """

    old: int
    new: int
    front: bool = False

    @property
    def steady(self) -> bool:
        """True when the size stays."""
        return self.old == self.new


Axis = tuple[AxisFactor, ...]
"""Factors, the outermost first: ``(heads, length)`` is heads folded in front of positions."""


def steady(size: int) -> Axis:
    """An axis that stays as it is."""
    return (AxisFactor(size, size),)


def old_size(axis: Axis) -> int:
    """Entries in the file."""
    return math.prod(part.old for part in axis)


def new_size(axis: Axis) -> int:
    """Entries at the wanted sizes."""
    return math.prod(part.new for part in axis)


def moves(axis: Axis) -> bool:
    """True when the size does not stay."""
    return any(not part.steady for part in axis)


def joined(parts: Iterable[AxisFactor]) -> Axis:
    """Factors one behind the other, without ones, steady neighbours as one."""

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
    """True when the first entries of a stored table belong to the first positions."""
    first, *rest = axis
    return first.front and all(part.steady for part in rest)


def blurred(axis: Axis) -> Axis:
    """The same where entries are not positions counted from the front any more."""
    return tuple(replace(part, front=False) for part in axis)


def of_sizes(old: Sequence[int], new: Sequence[int], front: bool = False) -> tuple[Axis, ...]:
    """Axes of which only the sizes are known."""
    return tuple((AxisFactor(a, b, front and a != b),) for a, b in zip(old, new, strict=True))
