"""Base class through which rules read a node: operands, types, values and attributes.

Shape rules, cost rules and the rules of ``to_torch`` each have a subclass, which defines how errors are
raised, where types come from and how values are represented.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from py_autodoc.graph.ir.model import ConstTensor, Node


class NodeReader(ABC):
    """Base class for reading a node in rules. Inputs and outputs are counted from 0."""

    __slots__ = ("inputs", "node", "outputs")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.inputs = node.inputs
        self.outputs = node.outputs

    # of each kind of rule

    @abstractmethod
    def dtype_of(self, tensor: int) -> int:
        """Return the ONNX element type of a tensor, 0 if unknown."""

    @abstractmethod
    def value_of(self, tensor: int) -> Any:
        """Return the known value of a tensor; None if unknown."""

    @abstractmethod
    def malformed(self, message: str) -> Exception:
        """Return the exception for an invalid attribute."""

    # of all

    def has(self, i: int) -> bool:
        """True if input ``i`` is present."""
        return i < len(self.inputs) and self.inputs[i] >= 0

    def has_out(self, i: int) -> bool:
        """True if output ``i`` is requested."""
        return i < len(self.outputs) and self.outputs[i] >= 0

    def dtype(self, i: int) -> int:
        """Return the ONNX element type of input ``i``; 0 if absent or unknown."""
        return self.dtype_of(self.inputs[i]) if self.has(i) else 0

    def out_dtype(self, i: int = 0) -> int:
        """Return the ONNX element type of output ``i``; 0 if absent or unknown."""
        return self.dtype_of(self.outputs[i]) if self.has_out(i) else 0

    def value(self, i: int) -> Any:
        """Return the known value of input ``i``; None if absent or unknown."""
        return self.value_of(self.inputs[i]) if self.has(i) else None

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or ``default`` if absent."""
        value = self.node.attributes.get(name)
        return default if value is None else value

    def int_attr(self, name: str, default: int) -> int:
        """Return an integer attribute. Raises: ``malformed`` for other types."""
        value = self.attr(name, default)
        if not isinstance(value, int):
            raise self.malformed(f"attribute {name} is not an integer")
        return value

    def ints_attr(self, name: str) -> tuple[int, ...] | None:
        """Return a list of integers, None if absent. Raises: ``malformed`` for other types."""
        value = self.attr(name)
        if value is None:
            return None
        if isinstance(value, (str, bytes, ConstTensor)) or not hasattr(value, "__iter__"):
            raise self.malformed(f"attribute {name} is not a list of integers")
        items = tuple(value)
        if not all(isinstance(item, int) for item in items):
            raise self.malformed(f"attribute {name} is not a list of integers")
        return items

    def text_attr(self, name: str, default: str = "") -> str:
        """Return a string attribute. Raises: ``malformed`` for other types."""
        value = self.attr(name, default)
        if not isinstance(value, str):
            raise self.malformed(f"attribute {name} is not a string")
        return value
