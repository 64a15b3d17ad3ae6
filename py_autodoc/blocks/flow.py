"""One graph as the recognisers read it: constants told from data, copies looked through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py_autodoc.graph.model import Model, Node, Shape, TensorKind, TypeTable

COPIES = frozenset({"Identity", "Dropout", "Cast", "CastLike"})
"""Operators that hand their first input on."""
RESHAPES = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Transpose"})
"""Operators that move values about without computing."""
_CONSTANT = (TensorKind.INITIALIZER, TensorKind.CONSTANT)
_MAX_CHAIN = 64
"""Longest chain of copies that is followed."""


class Flow:
    """The nodes of one graph (``order``, Constant nodes left out) and who feeds whom.

    Outer tensors that a body reads count as activations without a producer here. Linear to build.
    """

    def __init__(self, model: Model, types: TypeTable, graph: int = 0) -> None:
        self.model = model
        self.types = types
        self.graph = graph
        nodes = model.nodes
        self.order: list[int] = [
            number
            for number in model.graphs[graph].nodes
            if nodes[number].op_type != "Constant" or nodes[number].domain
        ]
        self.position: dict[int, int] = {number: at for at, number in enumerate(self.order)}
        self.results = frozenset(model.graphs[graph].outputs)
        """Tensors this graph returns."""
        self.incomplete: set[str] = set()
        """Recognisers that ran into their limit on this graph and may have missed something."""
        self._constant: dict[int, bool] = {}
        self._data: dict[int, list[int]] = {}
        self._weights: dict[int, list[int]] = {}
        self._maker: dict[int, int] = {}
        self._consumers: dict[int, tuple[int, ...]] = {}
        constant, maker = self._is_constant, self._maker
        for number in self.order:
            node = nodes[number]
            self._data[number] = data = [t for t in node.inputs if t >= 0 and not constant(t)]
            for tensor in node.outputs:
                maker[tensor] = number
            if not data and node.inputs and not node.subgraphs:
                self._constant.update((t, True) for t in node.outputs)
        maker[-1] = -1

    def _is_constant(self, tensor: int) -> bool:
        """The same as ``constant``, worked out once for each tensor."""
        known = self._constant.get(tensor)
        if known is None:
            known = self._constant[tensor] = self.model.tensors[tensor].kind in _CONSTANT
        return known

    def node(self, number: int) -> Node:
        """The node with this id."""
        return self.model.nodes[number]

    def op(self, number: int) -> str:
        """Operator type, ``domain::Op`` outside ai.onnx; empty for -1."""
        if number < 0:
            return ""
        node = self.model.nodes[number]
        return f"{node.domain}::{node.op_type}" if node.domain else node.op_type

    def constant(self, tensor: int) -> bool:
        """True for weights, constants and what is computed from them alone."""
        known = self._constant.get(tensor)
        return self._is_constant(tensor) if known is None else known

    def data(self, number: int) -> list[int]:
        """Inputs of a node that are not constant, in order. Not to be changed."""
        known = self._data.get(number)
        if known is None:
            return [t for t in self.model.nodes[number].inputs if t >= 0 and not self.constant(t)]
        return known

    def weights(self, number: int) -> list[int]:
        """Constant inputs of a node, in order. Not to be changed."""
        known = self._weights.get(number)
        if known is None:
            inputs = self.model.nodes[number].inputs
            known = self._weights[number] = [t for t in inputs if t >= 0 and self.constant(t)]
        return known

    def producer(self, tensor: int) -> int:
        """The node of this graph that makes ``tensor``; -1 for inputs, constants, outer tensors."""
        return self._maker.get(tensor, -1)

    def consumers(self, tensor: int) -> tuple[int, ...]:
        """The nodes of this graph that read ``tensor`` themselves, ascending."""
        known = self._consumers.get(tensor)
        if known is None:
            position, readers = self.position, self.model.tensors[tensor].consumers
            known = self._consumers[tensor] = tuple(n for n in readers if n in position)
        return known

    def only_consumer(self, tensor: int) -> int:
        """The one reader of a tensor nobody else needs; -1 otherwise."""
        entry = self.model.tensors[tensor]
        if entry.is_output or len(entry.consumers) != 1 or tensor in self.results:
            return -1
        return entry.consumers[0] if entry.consumers[0] in self.position else -1

    def predecessors(self, number: int) -> list[int]:
        """Nodes whose outputs the node reads, each once."""
        return list(dict.fromkeys(p for t in self.data(number) if (p := self.producer(t)) >= 0))

    def successors(self, number: int) -> list[int]:
        """Nodes that read the node's outputs, each once."""
        outputs = (t for t in self.model.nodes[number].outputs if t >= 0)
        return list(dict.fromkeys(c for t in outputs for c in self.consumers(t)))

    def shape(self, tensor: int) -> Shape | None:
        """Shape with symbols kept; None when the rank is unknown."""
        return self.types.shapes[tensor] if tensor >= 0 else None

    def value(self, tensor: int) -> Any | None:
        """Numpy array of a small tensor whose value is known, else None."""
        if tensor < 0:
            return None
        known = self.types.values.get(tensor)
        return self.model.constants.get(tensor) if known is None else known

    def back(self, tensor: int, through: frozenset[str] = COPIES) -> int:
        """The tensor behind ``tensor``, operators in ``through`` looked through along their first input."""
        for _ in range(_MAX_CHAIN):
            number = self.producer(tensor)
            if number < 0:
                return tensor
            node = self.model.nodes[number]
            if node.domain or node.op_type not in through or not node.inputs or node.inputs[0] < 0:
                return tensor
            tensor = node.inputs[0]
        return tensor

    def chain_back(self, tensor: int, through: frozenset[str]) -> Iterator[int]:
        """The nodes that ``back`` would look through, nearest first."""
        for _ in range(_MAX_CHAIN):
            number = self.producer(tensor)
            if number < 0:
                return
            node = self.model.nodes[number]
            if node.domain or node.op_type not in through or not node.inputs or node.inputs[0] < 0:
                return
            yield number
            tensor = node.inputs[0]
