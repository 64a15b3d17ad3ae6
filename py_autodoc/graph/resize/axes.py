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
    def is_fixed(self) -> bool:
        """True if the size does not change."""
        return self.old == self.new


Axis = tuple[AxisFactor, ...]
"""Factors, outermost first: ``(heads, length)`` is heads folded before positions."""


def fixed_axis(size: int) -> Axis:
    """Return an axis that does not change."""
    return (AxisFactor(size, size),)


def old_size(axis: Axis) -> int:
    """Return the number of entries in the file."""
    return math.prod(factor.old for factor in axis)


def new_size(axis: Axis) -> int:
    """Return the requested number of entries."""
    return math.prod(factor.new for factor in axis)


def changes_size(axis: Axis) -> bool:
    """True if the size changes."""
    return any(not factor.is_fixed for factor in axis)


def join_factors(factors: Iterable[AxisFactor]) -> Axis:
    """Join factors, dropping ones and merging adjacent fixed factors."""

    def add(factors: Axis, factor: AxisFactor) -> Axis:
        if factor.old == factor.new == 1:
            return factors
        if factors and factor.is_fixed and factors[-1].is_fixed:
            size = factors[-1].old * factor.old
            return (*factors[:-1], AxisFactor(size, size))
        return (*factors, factor)

    start: Axis = ()
    return reduce(add, factors, start) or fixed_axis(1)


def is_prefix(axis: Axis) -> bool:
    """True if the first entries of a stored table belong to the first positions."""
    first, *remaining = axis
    return first.front and all(factor.is_fixed for factor in remaining)


def without_front(axis: Axis) -> Axis:
    """Return the axis without the property that entries are positions from the start."""
    return tuple(replace(factor, front=False) for factor in axis)


def axes_of_sizes(old: Sequence[int], new: Sequence[int], front: bool = False) -> tuple[Axis, ...]:
    """Return axes of which only the sizes are known."""
    return tuple((AxisFactor(a, b, front and a != b),) for a, b in zip(old, new, strict=True))
