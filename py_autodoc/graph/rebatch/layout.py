"""Position of the batch in a tensor, the edits it requires, and the reason it cannot be followed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

END_OF_AXIS = (1 << 63) - 1
"""End of an axis of any size."""


@dataclass(frozen=True, slots=True)
class Layout:
    """An axis of ``outer`` · batch · ``inner`` entries, in this order.

    ``(1, 1)`` is a separate batch axis, ``(1, 64)`` has windows folded after the batch and ``(197, 1)``
    tokens before it. ``ragged``: the rows of all items are concatenated, as many as the data determine; an
    operator has written the item number into them.
    """

    axis: int
    outer: int = 1
    inner: int = 1
    choices: frozenset[str] = frozenset()
    """The choices that led to this layout."""
    ragged: bool = False

    @property
    def key(self) -> tuple[int, int, int]:
        """Key in which two layouts must agree."""
        return self.axis, self.outer, self.inner

    @property
    def entries_per_item(self) -> int:
        """Entries of one item along the axis."""
        return self.outer * self.inner

    @property
    def is_batch_only(self) -> bool:
        """True if the axis holds only the batch."""
        return self.outer == self.inner == 1

    def on(self, axis: int) -> Layout:
        """Return the same layout on another axis."""
        return replace(self, axis=axis)

    def size(self, batch: int) -> int:
        """Return the size of the axis for a batch size."""
        return self.outer * batch * self.inner


@dataclass(frozen=True, slots=True)
class BatchEdit:
    """An edit of a node, by its index in ``PreparedStructure.nodes``.

    ``rewrite`` implements the kinds.
    """

    kind: str
    node: int
    data: tuple[Any, ...]


class BatchBlocked(Exception):
    """Items would mix, or no rule says how they do not. The text is a clause about the node."""

    def __init__(self, why: str, tensor: str = "", hint: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.tensor = tensor
        self.hint = hint
        self.node = -1
        self.choices: frozenset[str] = frozenset()
