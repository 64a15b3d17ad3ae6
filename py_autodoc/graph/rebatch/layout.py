"""Where the batch is in a tensor, what must be edited for it, and why it cannot be followed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

BIG = (1 << 63) - 1
"""The end of an axis, whatever its size."""


@dataclass(frozen=True, slots=True)
class Layout:
    """An axis of ``outer`` · batch · ``inner`` entries, in this order.

    ``(1, 1)`` is a batch axis of its own, ``(1, 64)`` windows folded behind the batch, ``(197, 1)`` tokens
    in front of it. ``ragged``: rows of all items one after the other, as many as the data decide; an
    operator has written the item's number into them.
    """

    axis: int
    outer: int = 1
    inner: int = 1
    via: frozenset[str] = frozenset()
    """The choices that led here."""
    ragged: bool = False

    @property
    def place(self) -> tuple[int, int, int]:
        """What two layouts must have in common."""
        return self.axis, self.outer, self.inner

    @property
    def many(self) -> int:
        """Entries of one item along the axis."""
        return self.outer * self.inner

    @property
    def whole(self) -> bool:
        """True when the axis is the batch alone."""
        return self.outer == self.inner == 1

    def on(self, axis: int) -> Layout:
        """The same on another axis."""
        return replace(self, axis=axis)

    def size(self, batch: int) -> int:
        """Entries of the axis at a batch."""
        return self.outer * batch * self.inner


@dataclass(frozen=True, slots=True)
class BatchEdit:
    """One change of a node, by the node's number in ``PreparedStructure.nodes``.

    ``rewrite`` knows the kinds.
    """

    kind: str
    node: int
    data: tuple[Any, ...]


class BatchBlocked(Exception):
    """Items would mix, or nothing is known of how they would not. The text is a clause about the node."""

    def __init__(self, why: str, tensor: str = "", hint: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.tensor = tensor
        self.hint = hint
        self.node = -1
        self.via: frozenset[str] = frozenset()
