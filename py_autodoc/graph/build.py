"""From the protobuf to the frozen ``Model``: ids, kinds, edges, order.

Graphs are numbered outermost first, so that every name a body captures is known when the body
is read; nodes are numbered graph by graph in file order.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import onnx

from py_autodoc.graph import checks
from py_autodoc.graph.attributes import attribute_type, decode
from py_autodoc.graph.hierarchy import Scope, Scopes
from py_autodoc.graph.load import Loaded
from py_autodoc.graph.model import ConstTensor, Model, Node, Storage, SubGraph, Tensor, TensorKind
from py_autodoc.graph.names import text
from py_autodoc.graph.notes import Notes
from py_autodoc.graph.quantization import scales_and_zero_points
from py_autodoc.graph.topology import circle, execution_order
from py_autodoc.graph.values import (
    MAX_VALUES,
    declared_type,
    small_value,
    sparse_storage,
    storage_of,
)


def build(loaded: Loaded) -> Model:
    """Build the frozen graph of a loaded model. Never fails on content: faults become diagnostics."""
    with _no_gc():
        return _Builder(loaded).run()


@contextmanager
def _no_gc() -> Iterator[None]:
    """Building makes only long-lived objects without circles: collecting them doubles the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Value:
    """A tensor while it is being built."""

    __slots__ = (
        "consumers", "container", "dtype", "graph", "id", "is_output", "kind", "name", "producer", "shape",
        "storage",
    )  # fmt: skip

    def __init__(self, id_: int, name: str, graph: int, kind: TensorKind) -> None:
        self.id = id_
        self.name = name
        self.graph = graph
        self.kind = kind
        self.dtype = 0
        self.shape: tuple[Any, ...] | None = None
        self.container = "tensor"
        self.producer = -1
        self.consumers: list[int] = []
        self.is_output = False
        self.storage: Storage | None = None


class _Graph:
    """A graph while it is being built."""

    __slots__ = (
        "attribute", "first", "id", "initializers", "inputs", "last", "outer", "outputs", "parent", "proto",
        "scope",
    )  # fmt: skip

    def __init__(self, id_: int, proto: onnx.GraphProto, parent: int, attribute: str, scope: Scope) -> None:
        self.id = id_
        self.proto = proto
        self.parent = parent
        self.attribute = attribute
        self.scope = scope
        self.outer: tuple[dict[str, _Value], ...] = ()
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.initializers: list[int] = []
        self.first = self.last = 0


class _Builder:
    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.proto = loaded.proto
        self.notes = Notes()
        self.values: list[_Value] = []
        self.nodes: list[Node] = []
        self.graphs: list[_Graph] = []
        self.constants: dict[int, Any] = {}
        self.scopes = Scopes()
        self.opsets = checks.opsets(self.proto, self.notes)
        self.domains = {"": "", "ai.onnx": ""}
        self.schemas = checks.AttributeTypes()
        self.names: dict[str, int] = {}

    def run(self) -> Model:
        self._open(self.proto.graph, -1, "", Scope())
        for graph in self.graphs:  # grows while bodies are found
            self._graph(graph)
        checks.empty(self.proto, self.notes)
        graphs = tuple(self._subgraph(graph) for graph in self.graphs)
        quantized = scales_and_zero_points(self.nodes, self.constants, self.notes, self._name)
        proto = self.proto
        return Model(
            file=self.loaded.facts,
            ir_version=proto.ir_version,
            opsets=self.opsets,
            producer_name=text(proto.producer_name),
            producer_version=text(proto.producer_version),
            domain=text(proto.domain),
            model_version=proto.model_version,
            doc_string=text(proto.doc_string),
            metadata={text(entry.key): text(entry.value) for entry in proto.metadata_props},
            graphs=graphs,
            nodes=tuple(self.nodes),
            tensors=tuple(self._tensor(value, value.id in quantized) for value in self.values),
            constants=self.constants,
            diagnostics=(*self.loaded.diagnostics, *self.notes.done()),
            functions=self.loaded.functions,
            unexpanded_calls=self.loaded.unexpanded_calls,
        )

    # Values

    def _new(self, name: str, graph: int, kind: TensorKind) -> _Value:
        value = _Value(len(self.values), name, graph, kind)
        self.values.append(value)
        return value

    def _name(self, tensor: int) -> str:
        return self.values[tensor].name

    def _declare(self, value: _Value, info: onnx.ValueInfoProto) -> None:
        if info.HasField("type"):
            value.container, value.dtype, value.shape = declared_type(info.type)
            checks.declared(info.type, value.name, value.id, self.notes)

    def _constant(self, value: _Value, tensor: onnx.TensorProto, where: str) -> None:
        dims = tuple(tensor.dims)
        value.dtype = tensor.data_type
        value.storage = storage_of(tensor, dims)
        value.shape = tuple(d if d >= 0 else None for d in dims)
        if checks.tensor(tensor, dims, where, value.id, self.notes):
            array = small_value(tensor, dims)
            if array is not None:
                self.constants[value.id] = array

    # Graphs

    def _open(self, proto: onnx.GraphProto, parent: int, attribute: str, scope: Scope) -> _Graph:
        graph = _Graph(len(self.graphs), proto, parent, attribute, scope)
        self.graphs.append(graph)
        return graph

    def _graph(self, graph: _Graph) -> None:
        proto = graph.proto
        local: dict[str, _Value] = {}
        self._initializers(graph, local)
        for info in proto.input:
            name = text(info.name)
            value = local.get(name)
            if value is None:
                kind = TensorKind.OUTER if graph.id else TensorKind.INPUT
                value = local[name] = self._new(name, graph.id, kind)
                graph.inputs.append(value.id)
                self._declare(value, info)
            elif value.id in graph.inputs:
                self.notes.add("duplicate-output", "A graph input is listed twice.", name, tensor=value.id)
        raw = proto.node
        names = [[text(name) for name in node.output] for node in raw]
        outputs = self._outputs(graph, local, names)
        for info in proto.value_info:
            known = local.get(text(info.name))
            if known is not None and not known.dtype:
                self._declare(known, info)
        chain = (local, *graph.outer)
        graph.first = len(self.nodes)
        for node, made in zip(raw, outputs, strict=True):
            self._node(graph, chain, node, made)
        graph.last = len(self.nodes)
        self._results(graph, chain)

    def _initializers(self, graph: _Graph, local: dict[str, _Value]) -> None:
        for tensor in graph.proto.initializer:
            name = text(tensor.name)
            if name in local:
                self.notes.add("duplicate-output", "An initializer's name is used twice.", name)
                continue
            value = local[name] = self._new(name, graph.id, TensorKind.INITIALIZER)
            graph.initializers.append(value.id)
            self._constant(value, tensor, name)
        for sparse in graph.proto.sparse_initializer:
            name = text(sparse.values.name)
            value = self._new(name, graph.id, TensorKind.INITIALIZER)
            local.setdefault(name, value)
            graph.initializers.append(value.id)
            value.container = "sparse"
            value.dtype = sparse.values.data_type
            value.shape = tuple(d if d >= 0 else None for d in sparse.dims)
            value.storage = sparse_storage(sparse)
            checks.tensor(sparse.values, tuple(sparse.values.dims), name, value.id, self.notes)

    def _outputs(
        self, graph: _Graph, local: dict[str, _Value], names: list[list[str]]
    ) -> list[tuple[int, ...]]:
        """Make a tensor for each node output; a name made twice keeps its first tensor."""
        made: list[tuple[int, ...]] = []
        node = len(self.nodes)
        for row in names:
            ids = []
            for name in row:
                if not name:
                    ids.append(-1)
                    continue
                value = self._new(name, graph.id, TensorKind.ACTIVATION)
                value.producer = node
                if local.setdefault(name, value) is not value:
                    self.notes.add(
                        "duplicate-output",
                        "Two values have this name; readers get the first.",
                        name,
                        node,
                        value.id,
                    )
                ids.append(value.id)
            made.append(tuple(ids))
            node += 1
        return made

    def _node(
        self,
        graph: _Graph,
        chain: tuple[dict[str, _Value], ...],
        proto: onnx.NodeProto,
        outputs: tuple[int, ...],
    ) -> None:
        number = len(self.nodes)
        name = text(proto.name)
        op_type = text(proto.op_type)
        domain = text(proto.domain)
        domain = self.domains.setdefault(domain, domain)
        if name:
            first = self.names.setdefault(name, number)
            if first != number:
                self.notes.add("duplicate-name", f"Also the name of node {first}.", name, number)
        inputs = []
        for raw in proto.input:
            if not raw:
                inputs.append(-1)
                continue
            value = self._find(chain, text(raw))
            if value is None:
                value = self._undefined(graph, chain[0], text(raw), name or op_type, number)
            inputs.append(value.id)
            readers = value.consumers
            if not readers or readers[-1] != number:
                readers.append(number)
        scope = self.scopes.of(proto, name, self._name(outputs[0]) if outputs and outputs[0] >= 0 else "")
        if not scope.names and graph.id:
            scope = graph.scope
        if scope.cut:
            self.notes.add(
                "deep-hierarchy", "Nested deeper than 64 levels; the rest is cut.", name[:80], number
            )
        attributes, bodies = self._attributes(proto, number, op_type, domain, scope, chain)
        opset = self.opsets.get(domain, 0)
        self.nodes.append(
            Node(
                number,
                graph.id,
                name,
                op_type,
                domain,
                tuple(inputs),
                outputs,
                attributes,
                bodies,
                scope.names,
                scope.classes,
                scope.tag,
                opset,
                scope.origins,
            )  # fmt: skip
        )
        if op_type == "Constant" and not domain and outputs and outputs[0] >= 0:
            self._constant_node(self.values[outputs[0]], proto)

    def _find(self, chain: tuple[dict[str, _Value], ...], name: str) -> _Value | None:
        for level in chain:
            value = level.get(name)
            if value is not None:
                return value
        return None

    def _undefined(self, graph: _Graph, local: dict[str, _Value], name: str, where: str, node: int) -> _Value:
        value = local[name] = self._new(name, graph.id, TensorKind.ACTIVATION)
        self.notes.add("undefined-input", f"Nothing makes its input {name[:80]!r}.", where, node, value.id)
        return value

    def _attributes(
        self,
        proto: onnx.NodeProto,
        number: int,
        op_type: str,
        domain: str,
        scope: Scope,
        chain: tuple[dict[str, _Value], ...],
    ) -> tuple[dict[str, Any], tuple[tuple[str, int], ...]]:
        attributes: dict[str, Any] = {}
        bodies: list[tuple[str, int]] = []

        def open_graph(attribute: str, body: onnx.GraphProto) -> int:
            graph = self._open(body, number, attribute, scope)
            graph.outer = chain
            bodies.append((attribute, graph.id))
            return graph.id

        for attribute in proto.attribute:
            name = text(attribute.name)
            kind = attribute_type(attribute)
            fault = "Given twice." if name in attributes else ""
            fault = fault or self.schemas.fault(domain, op_type, self.opsets.get(domain, 0), name, kind)
            if fault:
                self.notes.add("bad-attribute", f"{name[:80]}: {fault}", text(proto.name) or op_type, number)
            if name not in attributes:
                attributes[name] = decode(attribute, kind, name, open_graph)
        return attributes, tuple(bodies)

    def _constant_node(self, value: _Value, proto: onnx.NodeProto) -> None:
        value.kind = TensorKind.CONSTANT
        for attribute in proto.attribute:
            name = attribute.name
            if name == "value":
                self._constant(value, attribute.t, value.name)
            elif name == "sparse_value":
                held = self.nodes[-1].attributes.get("sparse_value")
                if isinstance(held, ConstTensor):
                    value.container, value.dtype = "sparse", held.dtype
                    value.shape, value.storage = held.shape, held.storage
            elif name.startswith("value_"):
                self._plain_constant(value, name, self.nodes[-1].attributes.get(name))

    def _plain_constant(self, value: _Value, name: str, held: Any) -> None:
        array = checks.plain_constant(name, held)
        if array is None:
            return
        value.dtype, data = array
        value.shape = data.shape
        value.storage = Storage(data.nbytes if data.dtype != object else sum(map(len, data.flat)))
        if data.size <= MAX_VALUES:
            self.constants[value.id] = data

    def _results(self, graph: _Graph, chain: tuple[dict[str, _Value], ...]) -> None:
        for info in graph.proto.output:
            name = text(info.name)
            value = self._find(chain, name)
            if value is None:
                value = self._undefined(graph, chain[0], name, "graph output", -1)
            if not value.dtype or value.shape is None:
                self._declare(value, info)
            value.is_output = value.is_output or not graph.id
            graph.outputs.append(value.id)

    # Freezing

    def _subgraph(self, graph: _Graph) -> SubGraph:
        return SubGraph(
            id=graph.id,
            name=text(graph.proto.name),
            parent_node=graph.parent,
            attribute=graph.attribute,
            inputs=tuple(graph.inputs),
            outputs=tuple(graph.outputs),
            nodes=tuple(self._order(graph)),
            initializers=tuple(graph.initializers),
        )

    def _order(self, graph: _Graph) -> list[int]:
        """Execution order: a node also waits for what the bodies it holds capture."""
        first, last = graph.first, graph.last
        needs: list[list[int]] = []
        for node in self.nodes[first:last]:
            producers = (self.values[t].producer for t in node.inputs if t >= 0)
            needs.append([p - first for p in producers if first <= p < last])
        for inner, outer in self._captures(graph):
            needs[inner - first].append(outer - first)
        order, stuck = execution_order(needs)
        if stuck:
            ring = circle(needs, stuck)
            names = [self.nodes[first + i].name or self.nodes[first + i].op_type for i in ring[:8]]
            self.notes.add(
                "cycle", f"{len(ring)} nodes wait for each other.", " → ".join(names), first + ring[0]
            )
        elif order != sorted(order):
            self.notes.add("unsorted", "The nodes are not in execution order; they were sorted.")
        return [first + i for i in order]

    def _captures(self, graph: _Graph) -> list[tuple[int, int]]:
        return []

    def _tensor(self, value: _Value, quantized: bool) -> Tensor:
        return Tensor(
            value.id, value.name, value.graph, value.kind, value.dtype, value.shape, value.container,
            value.producer, tuple(value.consumers), value.is_output, value.storage, quantized,
        )  # fmt: skip
