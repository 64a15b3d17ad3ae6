"""One node as a rule reads it: its operands, their types and values, its attributes.

Shape rules, cost rules and the rules of ``to_torch`` each read nodes through a class of their own. What
they share is here; how a fault is raised, where types come from and what a value is, they say themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from py_autodoc.graph.ir.model import ConstTensor, Node


class NodeReader(ABC):
    """Base of what rules read a node through. Inputs and outputs are counted from 0."""

    __slots__ = ("inputs", "node", "outputs")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.inputs = node.inputs
        self.outputs = node.outputs

    # of each kind of rule

    @abstractmethod
    def dtype_of(self, tensor: int) -> int:
        """ONNX element type of a tensor, 0 when unknown."""

    @abstractmethod
    def value_of(self, tensor: int) -> Any:
        """What is known of a tensor's value; None: nothing."""

    @abstractmethod
    def malformed(self, message: str) -> Exception:
        """The exception for an attribute that the operator does not allow."""

    # of all

    def has(self, i: int) -> bool:
        """True when input ``i`` is given."""
        return i < len(self.inputs) and self.inputs[i] >= 0

    def has_out(self, i: int) -> bool:
        """True when output ``i`` is asked for."""
        return i < len(self.outputs) and self.outputs[i] >= 0

    def dtype(self, i: int) -> int:
        """ONNX element type of input ``i``; 0 when it is absent or unknown."""
        return self.dtype_of(self.inputs[i]) if self.has(i) else 0

    def out_dtype(self, i: int = 0) -> int:
        """ONNX element type of output ``i``; 0 when it is absent or unknown."""
        return self.dtype_of(self.outputs[i]) if self.has_out(i) else 0

    def value(self, i: int) -> Any:
        """What is known of the value of input ``i``; None: nothing, or it is absent."""
        return self.value_of(self.inputs[i]) if self.has(i) else None

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, or ``default`` when it is absent."""
        value = self.node.attributes.get(name)
        return default if value is None else value

    def int_attr(self, name: str, default: int) -> int:
        """An integer attribute. Raises: ``malformed`` when it has another type."""
        value = self.attr(name, default)
        if not isinstance(value, int):
            raise self.malformed(f"attribute {name} is not an integer")
        return value

    def ints_attr(self, name: str) -> tuple[int, ...] | None:
        """A list of integers, None when absent. Raises: ``malformed`` when it is something else."""
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
        """A string attribute. Raises: ``malformed`` when it is something else."""
        value = self.attr(name, default)
        if not isinstance(value, str):
            raise self.malformed(f"attribute {name} is not a string")
        return value
