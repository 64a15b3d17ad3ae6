"""One node with the settings that its file gives it, and what is known about its tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from py_autodoc.graph.ir.model import Node, Shape

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NodeCase:
    """A node with its settings by name; ``given`` names the inputs that it has, constant or not."""

    node: Node
    values: Settings
    given: frozenset[str]
    inputs: Sequence[Shape | None]
    """Shapes; a size that the file does not fix is no integer."""
    outputs: Sequence[Shape | None]
    lowest: float
    """Range of the element type of the first input."""
    highest: float

    def absent(self, name: str) -> bool:
        """Return whether neither an attribute nor an input has this name."""
        return name not in self.values and name not in self.given

    def rank(self) -> int | None:
        """Return the rank of the first input."""
        shape = self.shape()
        return None if shape is None else len(shape)

    def shape(self, position: int = 0) -> Shape | None:
        """Return the shape of an input."""
        return self.inputs[position] if position < len(self.inputs) else None

    def axes(self, name: str = "axes", extra: int = 0) -> tuple[int, ...] | None:
        """Return axes counted from the front, in their order; ``extra``: those that only the result has."""
        rank, axes = self.rank(), self.integers(name)
        if axes is None or (rank is None and min(axes, default=0) < 0):
            return axes
        return tuple(axis + (rank or 0) + extra if axis < 0 else axis for axis in axes)

    def drop(self, *names: str) -> None:
        """Remove settings."""
        for name in names:
            self.values.pop(name, None)

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Return a list of integers, also if it is stored as a single one."""
        value = self.values.get(name)
        if isinstance(value, int):
            return (value,)
        if isinstance(value, tuple) and all(isinstance(item, int) for item in value):
            return value
        return None
