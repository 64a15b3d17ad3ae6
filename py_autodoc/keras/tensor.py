"""A tensor of Keras on its way through the graph: its shape as Keras has it, its axes as they lie.

Convolutions of ONNX want channels first, layers of Keras mostly have them last. A tensor may therefore lie
in another order than its shape says. It is turned only where somebody needs it otherwise, so a chain of
convolutions has one Transpose at each end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import onnx_ir as ir

if TYPE_CHECKING:
    from py_autodoc.tags import Frame

Shape = tuple[int | None, ...]
Order = tuple[int, ...]


@dataclass(slots=True)
class Mask:
    """Which steps of a sequence count; worked out only when somebody asks."""

    make: Callable[[], KerasTensor]
    made: KerasTensor | None = None

    def tensor(self) -> KerasTensor:
        """A tensor of booleans: batch, steps."""
        if self.made is None:
            self.made = self.make()
        return self.made


@dataclass(frozen=True, slots=True)
class KerasTensor:
    """What a layer gave back."""

    value: ir.Value
    shape: Shape
    """As Keras has it, batch first."""
    order: Order
    """For each axis as it lies, which axis of ``shape`` it is."""
    kind: ir.DataType
    mask: Mask | None = None
    maker: tuple[Frame, ...] = ()
    """The layer that made it."""

    @property
    def rank(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def straight(self) -> bool:
        """Whether it lies as its shape says."""
        return self.order == tuple(range(self.rank))

    @property
    def lying(self) -> Shape:
        """Sizes of the axes as they lie."""
        return tuple(self.shape[axis] for axis in self.order)

    def at(self, axis: int) -> int:
        """Where an axis of ``shape`` lies."""
        return self.order.index(axis % self.rank)

    def masked(self, mask: Mask | None) -> KerasTensor:
        """The same with another mask."""
        return replace(self, mask=mask)

    def same_memory(self, order: Order) -> bool:
        """Whether its numbers already lie in that order, because the axes between have size 1."""
        sized = [axis for axis in self.order if self.shape[axis] != 1]
        return sized == [axis for axis in order if self.shape[axis] != 1]


def channels_first(rank: int) -> Order:
    """The order of a tensor whose last axis lies second: ``(0, 3, 1, 2)``."""
    return (0, rank - 1, *range(1, rank - 1)) if rank > 1 else (0,)


def straight(rank: int) -> Order:
    """The order of a tensor that lies as its shape says."""
    return tuple(range(rank))


def permuted(shape: Sequence[int | None], order: Order) -> Shape:
    """Sizes of a shape in an order."""
    return tuple(shape[axis] for axis in order)
