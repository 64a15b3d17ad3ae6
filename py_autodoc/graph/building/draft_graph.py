"""Tensors and graphs while they are being built, and the ids that they share."""

from __future__ import annotations

import onnx

from py_autodoc.graph.ir.model import Shape, Storage, SubGraph, Tensor, TensorKind
from py_autodoc.graph.loading.module_scopes import NO_SCOPE, ModuleScope


class Ids:
    """The ids of nodes and tensors, one object a number, and the tuples that hold one of them.

    The same number stands in a dozen places of a model and of what is worked out from it: as a node's own
    id, as a producer, as a reader, in an order. An object for each place would be half of the memory that
    a graph takes.
    """

    __slots__ = ("_alone", "_numbers")

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._alone: dict[int, tuple[int]] = {}

    def number(self, id: int) -> int:
        """The object for an id; ids are asked for the first time in ascending order."""
        numbers = self._numbers
        if id == len(numbers):
            numbers.append(id)
        return numbers[id]

    def alone(self, id: int) -> tuple[int]:
        """The tuple of one id."""
        known = self._alone.get(id)
        if known is None:
            known = self._alone[id] = (id,)
        return known


class DraftTensor:
    """A tensor whose readers are not all known yet."""

    __slots__ = (
        "consumers",
        "container",
        "dtype",
        "graph",
        "id",
        "is_output",
        "kind",
        "name",
        "producer",
        "shape",
        "storage",
    )

    def __init__(self, number: int, name: str, graph: int, kind: TensorKind, producer: int = -1) -> None:
        self.id = number
        self.name = name
        self.graph = graph
        self.kind = kind
        self.dtype = 0
        self.shape: Shape | None = None
        self.container = "tensor"
        self.producer = producer
        self.consumers: tuple[int, ...] | list[int] = ()
        self.is_output = False
        self.storage: Storage | None = None

    def read_by(self, node: int, ids: Ids) -> None:
        """Record a reader, once."""
        readers = self.consumers
        if not readers:
            self.consumers = ids.alone(node)  # nearly all tensors have one
        elif readers[-1] != node:
            if isinstance(readers, tuple):
                self.consumers = readers = list(readers)
            readers.append(node)

    def freeze(self, quantized_scale: bool) -> Tensor:
        """The finished tensor."""
        consumers = self.consumers
        return Tensor(
            self.id,
            self.name,
            self.graph,
            self.kind,
            self.dtype,
            self.shape,
            self.container,
            self.producer,
            consumers if isinstance(consumers, tuple) else tuple(sorted(set(consumers))),
            self.is_output,
            self.storage,
            quantized_scale,
        )


Chain = tuple[dict[str, DraftTensor], ...]
"""Names visible in a graph: its own, then those of each graph around it."""


class DraftGraph:
    """A graph and the names it sees."""

    __slots__ = (
        "attribute",
        "captures",
        "first",
        "id",
        "initializers",
        "inputs",
        "last",
        "outer",
        "outputs",
        "parent",
        "proto",
        "scope",
    )

    def __init__(
        self,
        number: int,
        proto: onnx.GraphProto,
        parent: int = -1,
        attribute: str = "",
        outer: Chain = (),
        scope: ModuleScope = NO_SCOPE,
    ) -> None:
        self.id = number
        self.proto = proto
        self.parent = parent
        """Node that holds this body."""
        self.attribute = attribute
        self.outer = outer
        self.scope = scope
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.initializers: list[int] = []
        self.captures: list[DraftTensor] = []
        """Tensors of graphs around it that its own nodes or outputs read."""
        self.first = 0
        self.last = 0
        """Its nodes are first ≤ id < last."""

    def freeze(self, name: str, order: list[int]) -> SubGraph:
        """The finished graph."""
        return SubGraph(
            self.id,
            name,
            self.parent,
            self.attribute,
            tuple(self.inputs),
            tuple(self.outputs),
            tuple(order),
            tuple(self.initializers),
            self.first,
        )
