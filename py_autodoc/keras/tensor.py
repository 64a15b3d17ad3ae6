"""A Keras tensor during the conversion: Keras's shape, and the axis order of the stored value.

ONNX convolutions need channels first, most Keras layers have them last. A tensor may therefore be stored in
another axis order than that of its shape. It is transposed only where another order is needed, so a chain of
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
    """Steps of a sequence that are not masked; computed on first use."""

    compute: Callable[[], KerasTensor]
    computed: KerasTensor | None = None

    def tensor(self) -> KerasTensor:
        """Return a boolean tensor of shape (batch, steps)."""
        if self.computed is None:
            self.computed = self.compute()
        return self.computed


@dataclass(frozen=True, slots=True)
class KerasTensor:
    """Result of a layer."""

    value: ir.Value
    shape: Shape
    """Keras's shape, batch first."""
    order: Order
    """For each axis of the stored value, the corresponding axis of ``shape``."""
    kind: ir.DataType
    mask: Mask | None = None
    maker: tuple[Frame, ...] = ()
    """The layer that created it."""

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def is_in_shape_order(self) -> bool:
        """True if it is stored in the order of its shape."""
        return self.order == tuple(range(self.rank))

    @property
    def stored_shape(self) -> Shape:
        """Shape of the stored value."""
        return tuple(self.shape[axis] for axis in self.order)

    def position_of(self, axis: int) -> int:
        """Return the position of an axis of ``shape`` in the stored value."""
        return self.order.index(axis % self.rank)

    def masked(self, mask: Mask | None) -> KerasTensor:
        """Return the tensor with another mask."""
        return replace(self, mask=mask)

    def same_memory(self, order: Order) -> bool:
        """True if its data already is in that order, because only axes of size 1 move."""
        wide_axes = [axis for axis in self.order if self.shape[axis] != 1]
        return wide_axes == [axis for axis in order if self.shape[axis] != 1]


def channels_first(rank: int) -> Order:
    """Return the order with the last axis moved to second place, such as ``(0, 3, 1, 2)``."""
    return (0, rank - 1, *range(1, rank - 1)) if rank > 1 else (0,)


def identity_order(rank: int) -> Order:
    """Return the order in which axes are stored as in the shape."""
    return tuple(range(rank))


def permuted(shape: Sequence[int | None], order: Order) -> Shape:
    """Return a shape with its dimensions in another order."""
    return tuple(shape[axis] for axis in order)
