"""Tensors and graphs while they are being built."""

from __future__ import annotations

import onnx

from py_autodoc.graph.hierarchy import NO_SCOPE, Scope
from py_autodoc.graph.model import Shape, Storage, SubGraph, Tensor, TensorKind


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
        self.consumers: list[int] = []
        self.is_output = False
        self.storage: Storage | None = None

    def read_by(self, node: int) -> None:
        """Record a reader, once."""
        readers = self.consumers
        if not readers or readers[-1] != node:
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
            tuple(sorted(set(consumers))) if len(consumers) > 1 else tuple(consumers),
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
        scope: Scope = NO_SCOPE,
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
