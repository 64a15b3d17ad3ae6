"""One operation whose values determine its C code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from py_autodoc.quantize.reference.arithmetic import Array


class CNode(NamedTuple):
    """One operation with the values of one run, which determine the shapes."""

    op_type: str
    inputs: Sequence[Array | None]
    outputs: Sequence[Array]
    attributes: Mapping[str, Any]

    def required(self, i: int) -> Array:
        """Return a required input."""
        value = self.inputs[i] if i < len(self.inputs) else None
        if value is None:
            raise ValueError(f"input {i} is missing")
        return value

    def optional(self, i: int) -> Array | None:
        """Return an optional input."""
        return self.inputs[i] if i < len(self.inputs) else None


Source = tuple[list[str], list[str]]
"""Declarations before the function, and the lines of its body."""
