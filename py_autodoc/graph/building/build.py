"""Builds the frozen ``Model`` from the protobuf: ids, kinds, edges and order.

Outer graphs are numbered before inner ones, so that every outer name is known when a subgraph is read.
Nodes are numbered graph by graph in file order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import onnx

from py_autodoc.graph.building import structure_checks
from py_autodoc.graph.building.attributes import AttributeReader
from py_autodoc.graph.building.draft_graph import Chain, DraftGraph, DraftTensor, Ids
from py_autodoc.graph.building.quantization_params import scales_and_zero_points
from py_autodoc.graph.building.scope_inference import infer_scopes
from py_autodoc.graph.building.signature_checks import SignatureChecks
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.gc_pause import gc_paused
from py_autodoc.graph.ir.model import ConstTensor, Model, Node, Storage, TensorKind
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.ir.topological_order import execution_order, find_cycle
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.loading.module_scopes import NO_SCOPE, ModuleScope, ScopeReader
from py_autodoc.graph.protobuf.tensor_protos import (
    MAX_VALUES,
    declared_item,
    declared_type,
    small_value,
    sparse_storage,
    storage_of,
)


def build(loaded: LoadedModel) -> Model:
    """Build the frozen graph of a loaded model. Never fails on content: defects become diagnostics.

    An initializer that is also listed as an input, as required up to IR version 3, counts only as an
    initializer. An omitted optional input or output is -1. If a name is produced twice, consumers get
    the first tensor.
    """
    with gc_paused():
        return _GraphBuilder(loaded).run()


def _one_opset(loaded: LoadedModel) -> bool:
    """True if every node has the opset of the model: no call is left, and no body imported another one."""
    return not loaded.unexpanded_calls and all(note.code != "function-opset" for note in loaded.diagnostics)


class _GraphBuilder:
    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.proto = loaded.proto
        self.notes = DiagnosticCollector()
        self.tensors: list[DraftTensor] = []
        self.nodes: list[Node] = []
        self.graphs: list[DraftGraph] = []
        self.constants: dict[int, Any] = {}
        self.scopes = ScopeReader(self.proto)
        self.opsets = structure_checks.check_opsets(self.proto, self.notes)
        self.attributes = AttributeReader(self.opsets, self.notes)
        self.signatures = SignatureChecks(self.opsets, self.notes, exact=_one_opset(self.loaded))
        self.ids = Ids()
        self.domains = {"ai.onnx": ""}
        self.operators: dict[str, str] = {}
        self.names: dict[str, int] = {}
        self.unscoped: list[int] = []

    def run(self) -> Model:
        proto = self.proto
        self.graphs.append(DraftGraph(0, proto.graph))
        for graph in self.graphs:  # grows as subgraphs are found
            self._graph(graph)
        structure_checks.check_not_empty(proto, self.notes)
        structure_checks.check_ir_version(proto, self.notes)
        structure_checks.used_domains(self.nodes, self.opsets, self.notes)
        graphs = self._ordered()
        infer_scopes(self.nodes, self.tensors, graphs[0].nodes, self.unscoped)
        structure_checks.check_divisors(self.nodes, self.constants, self.notes, self._name)
        quantized = scales_and_zero_points(self.nodes, self.constants, self.notes, self._name)
        return Model(
            file=self.loaded.facts,
            ir_version=proto.ir_version,
            opsets=self.opsets,
            producer_name=decode_text(proto.producer_name),
            producer_version=decode_text(proto.producer_version),
            domain=decode_text(proto.domain),
            model_version=proto.model_version,
            doc_string=decode_text(proto.doc_string),
            metadata={decode_text(entry.key): decode_text(entry.value) for entry in proto.metadata_props},
            graphs=graphs,
            nodes=tuple(self.nodes),
            tensors=tuple(tensor.freeze(tensor.id in quantized) for tensor in self.tensors),
            constants=self.constants,
            diagnostics=(*self.loaded.diagnostics, *self.notes.diagnostics()),
            functions=self.loaded.functions,
            unexpanded_calls=self.loaded.unexpanded_calls,
            texts=self.loaded.texts,
            descriptions=self.loaded.descriptions,
            num_descriptions=self.loaded.num_descriptions,
        )

    # Tensors

    def _new(self, name: str, graph: DraftGraph, kind: TensorKind, producer: int = -1) -> DraftTensor:
        tensor = DraftTensor(self.ids.number(len(self.tensors)), name, graph.id, kind, producer)
        self.tensors.append(tensor)
        return tensor

    def _name(self, tensor: int) -> str:
        return self.tensors[tensor].name

    def _declare(self, tensor: DraftTensor, info: onnx.ValueInfoProto) -> None:
        if info.HasField("type"):
            tensor.container, tensor.dtype, tensor.shape = declared_type(info.type)
            if tensor.container in ("sequence", "optional"):
                tensor.item_shape = declared_item(info.type)
            structure_checks.check_declared(
                info.type, tensor.dtype, tensor.shape, tensor.name, tensor.id, self.notes
            )

    def _constant(self, tensor: DraftTensor, proto: onnx.TensorProto) -> None:
        """Set the type, storage and, for small constants, the values of a tensor."""
        dims = tuple(proto.dims)
        tensor.dtype = proto.data_type
        tensor.storage = storage_of(proto, dims)
        tensor.shape = tuple(d if d >= 0 else None for d in dims)
        if structure_checks.check_tensor(proto, dims, tensor.name, tensor.id, self.notes):
            array = small_value(proto, dims, self.loaded.external_values)
            if array is not None:
                self.constants[tensor.id] = array

    # Graphs

    def _graph(self, graph: DraftGraph) -> None:
        by_name: dict[str, DraftTensor] = {}
        self._initializers(graph, by_name)
        self._inputs(graph, by_name)
        raw = graph.proto.node
        output_rows = self._outputs(graph, by_name, raw)
        for info in graph.proto.value_info:
            tensor = by_name.get(info.name)
            if tensor is not None and not tensor.dtype:
                self._declare(tensor, info)
        chain = (by_name, *graph.outer)
        graph.first = len(self.nodes)
        for node, outputs in zip(raw, output_rows, strict=True):
            self._node(graph, chain, node, outputs)
        graph.last = len(self.nodes)
        self._results(graph, chain)

    def _initializers(self, graph: DraftGraph, by_name: dict[str, DraftTensor]) -> None:
        for proto in graph.proto.initializer:
            tensor = self._initializer(graph, by_name, proto.name)
            self._constant(tensor, proto)
            if by_name[proto.name] is not tensor:
                self._repeated(tensor, by_name[proto.name])
        for sparse in graph.proto.sparse_initializer:
            tensor = self._initializer(graph, by_name, sparse.values.name)
            tensor.container = "sparse"
            tensor.dtype = sparse.values.data_type
            tensor.shape = tuple(d if d >= 0 else None for d in sparse.dims)
            tensor.storage = sparse_storage(sparse)
            structure_checks.check_tensor(
                sparse.values, tuple(sparse.values.dims), tensor.name, tensor.id, self.notes
            )
            if by_name[sparse.values.name] is not tensor:
                self._repeated(tensor, by_name[sparse.values.name])

    def _initializer(self, graph: DraftGraph, by_name: dict[str, DraftTensor], name: str) -> DraftTensor:
        tensor = self._new(name, graph, TensorKind.INITIALIZER)
        graph.initializers.append(tensor.id)
        by_name.setdefault(name, tensor)
        return tensor

    def _repeated(self, tensor: DraftTensor, first: DraftTensor) -> None:
        """Note a second initializer of a name; runtimes accept it if it has the type of the first."""
        if (tensor.dtype, tensor.shape, tensor.container) == (first.dtype, first.shape, first.container):
            code, said = "duplicate-initializer", "Two initializers have this name; readers get the first."
        else:
            code, said = "duplicate-output", "Two initializers of different types have this name."
        self.notes.add(code, said, tensor.name, tensor=tensor.id)

    def _inputs(self, graph: DraftGraph, by_name: dict[str, DraftTensor]) -> None:
        kind = TensorKind.OUTER if graph.id else TensorKind.INPUT
        for info in graph.proto.input:
            name = info.name
            existing = by_name.get(name)
            if existing is not None and existing.kind == TensorKind.INITIALIZER:
                continue
            tensor = self._new(name, graph, kind)
            graph.inputs.append(tensor.id)
            self._declare(tensor, info)
            if by_name.setdefault(name, tensor) is not tensor:
                self.notes.add("duplicate-output", "A graph input is listed twice.", name, tensor=tensor.id)

    def _outputs(
        self, graph: DraftGraph, by_name: dict[str, DraftTensor], nodes: Iterable[onnx.NodeProto]
    ) -> list[tuple[int, ...]]:
        """Create a tensor for every node output before any node is read, since nodes may be unsorted."""
        rows: list[tuple[int, ...]] = []
        for index, node in enumerate(nodes, len(self.nodes)):
            number, row = self.ids.number(index), []
            for name in node.output:
                if not name:
                    row.append(-1)
                    continue
                tensor = self._new(name, graph, TensorKind.ACTIVATION, number)
                if by_name.setdefault(name, tensor) is not tensor:
                    message = "Made twice; readers get the first."
                    self.notes.add("duplicate-output", message, name, number, tensor.id)
                elif graph.outer and self._defined_before(graph, name):
                    message = "A node of a subgraph gives a value the name of one outside it."
                    self.notes.add("shadowed-name", message, name, number, tensor.id)
                row.append(tensor.id)
            rows.append(self._row(row))
        return rows

    def _defined_before(self, graph: DraftGraph, name: str) -> bool:
        """True if an enclosing graph has a value of this name when the subgraph runs."""
        outer = next((names[name] for names in graph.outer if name in names), None)
        return outer is not None and outer.producer < graph.parent

    def _row(self, ids: list[int]) -> tuple[int, ...]:
        """Return ids as a tuple; tuples with one id are shared."""
        return self.ids.single_id(ids[0]) if len(ids) == 1 else tuple(ids)

    def _results(self, graph: DraftGraph, chain: Chain) -> None:
        for info in graph.proto.output:
            tensor = chain[0].get(info.name) or self._outer(graph, chain, info.name, "graph output", -1)
            if tensor.graph != graph.id:
                tensor.read_by(graph.parent, self.ids)
            elif not tensor.dtype or tensor.shape is None:
                self._declare(tensor, info)
            tensor.is_output = tensor.is_output or not graph.id
            graph.outputs.append(tensor.id)

    def _outer(self, graph: DraftGraph, chain: Chain, name: str, label: str, node: int) -> DraftTensor:
        """Resolve a name that this graph does not define; the innermost enclosing graph wins."""
        for names in chain[1:]:
            tensor = names.get(name)
            if tensor is not None:
                graph.captures.append(tensor)
                return tensor
        tensor = chain[0][name] = self._new(name, graph, TensorKind.ACTIVATION)
        self.notes.add("undefined-input", f"Nothing produces {name[:80]!r}.", label, node, tensor.id)
        return tensor

    # Nodes

    def _node(self, graph: DraftGraph, chain: Chain, proto: onnx.NodeProto, outputs: tuple[int, ...]) -> None:
        number = self.ids.number(len(self.nodes))
        name, op_type, domain = proto.name, proto.op_type, proto.domain
        domain = self.domains.setdefault(domain, domain)
        op_type = self.operators.setdefault(op_type, op_type)
        if name and self.names.setdefault(name, number) != number:
            self.notes.add("duplicate-name", f"Also the name of node {self.names[name]}.", name, number)
        label = name or op_type
        by_name = chain[0]
        inputs = []
        for source in proto.input:
            if source:
                tensor = by_name.get(source) or self._outer(graph, chain, source, label, number)
                tensor.read_by(number, self.ids)
                inputs.append(tensor.id)
            else:
                inputs.append(-1)
        scope = self._scope(graph, proto, name, outputs)
        if scope.cut:
            self.notes.add("deep-hierarchy", "Nested deeper than 64 levels; the rest is cut.", label, number)
        bodies: list[tuple[str, int]] = []

        def open_graph(attribute: str, body: onnx.GraphProto) -> int:
            inner = DraftGraph(len(self.graphs), body, number, attribute, chain, scope)
            self.graphs.append(inner)
            bodies.append((attribute, inner.id))
            return inner.id

        attributes = self.attributes.read(proto, number, label, domain, op_type, open_graph)
        self.nodes.append(
            Node(
                number,
                graph.id,
                name,
                op_type,
                domain,
                self._row(inputs),
                outputs,
                attributes,
                tuple(bodies),
                scope.names,
                scope.classes,
                scope.tag,
                self.opsets.get(domain, 0),
                scope.origins,
                scope.record,
            )
        )
        self.signatures.check(self.nodes[-1], proto, label)
        if op_type == "Constant" and not domain and outputs and outputs[0] >= 0:
            self._constant_node(self.tensors[outputs[0]], proto, attributes)

    def _scope(
        self, graph: DraftGraph, proto: onnx.NodeProto, name: str, outputs: tuple[int, ...]
    ) -> ModuleScope:
        """Return the scope of a node; in a subgraph, default to the scope of its control-flow node."""
        output = self._name(outputs[0]) if outputs and outputs[0] >= 0 else ""
        scope = self.scopes.of(proto, name, output)
        if scope.names or not graph.id:
            if scope is NO_SCOPE:
                self.unscoped.append(len(self.nodes))
            return scope
        return replace(graph.scope, record=scope.record, tag=scope.tag or graph.scope.tag)

    def _constant_node(
        self, tensor: DraftTensor, proto: onnx.NodeProto, attributes: Mapping[str, Any]
    ) -> None:
        tensor.kind = TensorKind.CONSTANT
        for attribute in proto.attribute:
            name = decode_text(attribute.name)
            value = attributes.get(name)
            if name == "value" and isinstance(value, ConstTensor):
                self._constant(tensor, attribute.t)
            elif name == "sparse_value" and isinstance(value, ConstTensor):
                tensor.container, tensor.dtype = "sparse", value.dtype
                tensor.shape, tensor.storage = value.shape, value.storage
            elif name.startswith("value_"):
                constant = structure_checks.attribute_constant(name, value)
                if constant is not None:
                    tensor.dtype, array = constant
                    tensor.shape = array.shape
                    tensor.storage = Storage(
                        sum(map(len, array.flat)) if array.dtype == object else array.nbytes
                    )
                    if array.size <= MAX_VALUES:
                        self.constants[tensor.id] = array

    # Order

    def _ordered(self) -> tuple[Any, ...]:
        """Return all graphs with their nodes in execution order.

        A node comes after the producers of its inputs and of the outer tensors that its subgraphs read.
        """
        captured: dict[int, list[int]] = {}
        for graph in self.graphs:
            for tensor in graph.captures:
                holder = graph
                while self.nodes[holder.parent].graph != tensor.graph:
                    holder = self.graphs[self.nodes[holder.parent].graph]
                captured.setdefault(holder.parent, []).append(tensor.producer)
        return tuple(
            graph.freeze(decode_text(graph.proto.name), self._order(graph, captured)) for graph in self.graphs
        )

    def _order(self, graph: DraftGraph, captured: dict[int, list[int]]) -> list[int]:
        first, last = graph.first, graph.last
        needs: list[list[int]] = []
        for node in self.nodes[first:last]:
            producers = [self.tensors[tensor].producer for tensor in node.inputs if tensor >= 0]
            producers += captured.get(node.id, ())
            needs.append([producer - first for producer in producers if first <= producer < last])
        order, stuck = execution_order(needs)
        if stuck:
            cycle = find_cycle(needs, stuck)
            labels = [self.nodes[first + i].name or self.nodes[first + i].op_type for i in cycle[:8]]
            cycle_text = " → ".join(label[:80] for label in labels)
            self.notes.add(
                "cycle", f"{len(cycle):,} nodes wait for each other.", cycle_text, first + cycle[0]
            )
        elif any(before > after for before, after in pairwise(order)):
            self.notes.add("unsorted", "The nodes are not in execution order; they were sorted.")
        return [self.ids.number(first + i) for i in order]
