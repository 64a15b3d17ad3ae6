"""Tensors and graphs under construction, and their shared ids."""

from __future__ import annotations

import onnx

from py_autodoc.graph.ir.model import Shape, Storage, SubGraph, Tensor, TensorKind
from py_autodoc.graph.loading.module_scopes import NO_SCOPE, ModuleScope


class Ids:
    """Shared integer objects for node and tensor ids, and shared tuples of one id.

    An id occurs many times in a model and in derived tables: as the id itself, as a producer, as a consumer
    and in an order. Without sharing, these objects would take half of the memory of a graph.
    """

    __slots__ = ("_numbers", "_single_ids")

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._single_ids: dict[int, tuple[int]] = {}

    def number(self, id: int) -> int:
        """Return the object for an id. Ids must first be requested in ascending order."""
        numbers = self._numbers
        if id == len(numbers):
            numbers.append(id)
        return numbers[id]

    def single_id(self, id: int) -> tuple[int]:
        """Return the shared tuple with only this id."""
        ids = self._single_ids.get(id)
        if ids is None:
            ids = self._single_ids[id] = (id,)
        return ids


class DraftTensor:
    """A tensor whose consumers are not all known yet."""

    __slots__ = (
        "consumers",
        "container",
        "dtype",
        "graph",
        "id",
        "is_output",
        "item_shape",
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
        self.item_shape: Shape | None = None

    def read_by(self, node: int, ids: Ids) -> None:
        """Record a consumer once."""
        readers = self.consumers
        if not readers:
            self.consumers = ids.single_id(node)  # most tensors have one consumer
        elif readers[-1] != node:
            if isinstance(readers, tuple):
                self.consumers = readers = list(readers)
            readers.append(node)

    def freeze(self, quantized_scale: bool) -> Tensor:
        """Return the finished tensor."""
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
            self.item_shape,
        )


Chain = tuple[dict[str, DraftTensor], ...]
"""Names visible in a graph: its own, then those of each enclosing graph."""


class DraftGraph:
    """A graph under construction and its visible names."""

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
        """Node that owns this subgraph."""
        self.attribute = attribute
        self.outer = outer
        self.scope = scope
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.initializers: list[int] = []
        self.captures: list[DraftTensor] = []
        """Outer tensors read by its nodes or outputs."""
        self.first = 0
        self.last = 0
        """Ids of its nodes: first ≤ id < last."""

    def freeze(self, name: str, order: list[int]) -> SubGraph:
        """Return the finished graph."""
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
