"""Model structure for a pass: a copy with unique names and numbered nodes in execution order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import onnx

from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.ir.topological_order import execution_order
from py_autodoc.graph.loading.first_pass import nested
from py_autodoc.graph.symbolic_dims.dim_names import free_symbols, symbolic_inputs

if TYPE_CHECKING:
    from py_autodoc.graph.ir.model import TypeTable
    from py_autodoc.graph.loading.load import LoadedModel


class StructureNode:
    """A node of the copy."""

    def __init__(self, index: int, proto: onnx.NodeProto) -> None:
        self.index = index
        self.proto = proto
        self.op_type = decode_text(proto.op_type)
        domain = decode_text(proto.domain)
        self.domain = "" if domain == "ai.onnx" else domain
        self.inputs = tuple(map(decode_text, proto.input))
        self.outputs = tuple(map(decode_text, proto.output))
        self.bodies: dict[str, StructureGraph] = {}

    @property
    def label(self) -> str:
        """Name used in messages."""
        name = decode_text(self.proto.name) or next(filter(None, self.outputs), "")
        return f"{self.op_type} {name}".strip()[:160]

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """Attribute values; subgraphs are in ``bodies``."""
        without_graphs = (a for a in self.proto.attribute if not nested(a))
        return {decode_text(a.name): onnx.helper.get_attribute_value(a) for a in without_graphs if a.type}

    def attr(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute."""
        return self.attributes.get(name, default)

    def has(self, i: int) -> bool:
        """True if the optional input is present."""
        return i < len(self.inputs) and bool(self.inputs[i])

    def captures(self) -> Iterator[str]:
        """Yield the outer names that the subgraphs read."""
        for body in self.bodies.values():
            yield from body.outputs
            for node in body.nodes:
                yield from node.inputs
                yield from node.captures()


@dataclass(slots=True)
class StructureGraph:
    """The main graph or a subgraph. ``nodes`` are in execution order."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    nodes: list[StructureNode] = field(default_factory=list)


@dataclass(slots=True)
class PreparedStructure:
    """A copy of the model, with ``nodes`` numbered graph by graph in file order."""

    proto: onnx.ModelProto
    graph: StructureGraph
    nodes: list[StructureNode]
    inputs: list[onnx.ValueInfoProto]
    """Inputs of the main graph that are not weights."""
    opset: int
    read: frozenset[str]
    """All names that are read or are outputs of the model."""


def prepare_structure(proto: onnx.ModelProto) -> PreparedStructure:
    """Copy the structure. Local functions must already be expanded."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    _unique(copy.graph, {}, set(), False)
    nodes: list[StructureNode] = []
    graph = _graph(copy.graph, nodes)
    stored = {t.name for t in copy.graph.initializer} | {s.values.name for s in copy.graph.sparse_initializer}
    opset = max((o.version for o in copy.opset_import if decode_text(o.domain) in ("", "ai.onnx")), default=1)
    read = {name for node in nodes for name in (*node.inputs, *node.captures())} | set(graph.outputs)
    inputs = [i for i in copy.graph.input if i.name not in stored]
    return PreparedStructure(copy, graph, nodes, inputs, opset, frozenset(read))


def node_protos(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Return the nodes in the order in which ``prepare_structure`` numbers them."""
    nodes: list[onnx.NodeProto] = []
    pending = [graph]
    while pending:
        block = pending.pop()
        for node in block.node:
            nodes.append(node)
            for attribute in node.attribute:
                pending.extend(nested(attribute))
    return nodes


def _graph(proto: onnx.GraphProto, nodes: list[StructureNode]) -> StructureGraph:
    """Read all graphs, in the order of ``node_protos``."""
    main = StructureGraph()
    pending = [(proto, main)]
    while pending:
        graph_proto, graph = pending.pop()
        graph.inputs = tuple(decode_text(i.name) for i in graph_proto.input)
        graph.outputs = tuple(decode_text(o.name) for o in graph_proto.output)
        for node_proto in graph_proto.node:
            node = StructureNode(len(nodes), node_proto)
            nodes.append(node)
            graph.nodes.append(node)
            for attribute in node_proto.attribute:
                for body in nested(attribute):
                    inner = node.bodies.setdefault(decode_text(attribute.name), StructureGraph())
                    pending.append((body, inner))
    graphs = [main, *(body for node in nodes for body in node.bodies.values())]
    for graph in graphs:
        _sort_topologically(graph)
    return main


def _sort_topologically(graph: StructureGraph) -> None:
    producers = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs if name}
    needs = [
        [producers[name] for name in (*node.inputs, *node.captures()) if name in producers]
        for node in graph.nodes
    ]
    if all(need < i for i, needed in enumerate(needs) for need in needed):
        return
    order, stuck = execution_order(needs)
    if not stuck:
        graph.nodes = [graph.nodes[i] for i in order]


def _unique(graph: onnx.GraphProto, names: Mapping[str, str], used: set[str], inner: bool) -> None:
    """Rename tensors of subgraphs whose name is already used, since sibling subgraphs may share names."""
    pending = [(graph, names, inner)]
    while pending:
        graph, names, inner = pending.pop()
        local_names = [*(v.name for v in graph.input), *(t.name for t in graph.initializer)]
        local_names += [s.values.name for s in graph.sparse_initializer]
        local_names += [name for node in graph.node for name in node.output if name]
        changed: dict[str, str] = {}
        for name in dict.fromkeys(local_names):
            new, number = name, 2
            while inner and new in used:
                new, number = f"{name}_{number}", number + 1
            used.add(new)
            if new != name:
                changed[name] = new
        names = {**{k: v for k, v in names.items() if k not in local_names}, **changed}
        if names:
            _rename(graph, names)
        for node in graph.node:
            for attribute in node.attribute:
                pending.extend((body, names, True) for body in nested(attribute))


def _rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    for infos in (graph.input, graph.output, graph.value_info, graph.initializer):
        for info in infos:
            if info.name in names:
                info.name = names[info.name]
    for sparse in graph.sparse_initializer:
        sparse.values.name = names.get(sparse.values.name, sparse.values.name)
    for node in graph.node:
        for names_field in (node.input, node.output):
            for i, name in enumerate(names_field):
                if name in names:
                    names_field[i] = names[name]


@dataclass(frozen=True, slots=True)
class StructureFacts:
    """Shapes and small values of the original model."""

    shapes: Mapping[str, tuple[int, ...]]
    values: Mapping[str, Any]
    """Values that do not depend on symbolic dimensions."""
    bound: Mapping[str, Any]
    """Values under the chosen dimensions."""


def facts_of(
    loaded: LoadedModel, structure: PreparedStructure, batch: int, bindings: Mapping[str, int]
) -> list[StructureFacts]:
    """Return the results of inference, two under different values if other dimensions are symbolic.

    ``bindings`` are values of symbols. Empty if no values are found for which the model runs.
    """
    from py_autodoc.graph.shapes import infer

    copy = replace(loaded, proto=structure.proto)
    model = build(copy)
    declared, names = symbolic_inputs(model)
    symbols = free_symbols(declared.values())
    fixed = {names.safe_name(name): size for name, size in bindings.items()}
    fixed = {name: size for name, size in fixed.items() if name in symbols}
    for shape in declared.values():
        if shape and shape[0] in symbols:
            fixed.setdefault(str(shape[0]), batch)
    free = [name for name in symbols if name not in fixed]
    sizes: list[Mapping[str, int]] = [fixed]
    if free:
        from py_autodoc.graph.size_fitting.fit import fitter

        fitting = fitter(copy, model)
        first = fitting.fit(fixed).sizes
        if first is None:
            return []
        second = fitting.fit(fixed, {name: 2 * max(first[name], 1) for name in free}).sizes
        sizes = [{**fixed, **first}]
        if second is not None and second != first:
            sizes.append({**fixed, **second})

    def under(sizes: Mapping[str, int]) -> tuple[TypeTable, dict[str, Any], set[str]]:
        types = infer(copy, model, sizes, {})
        shapes: dict[str, Any] = {}
        clash: set[str] = set()
        for tensor in model.tensors:
            shape = types.shapes[tensor.id]
            if shape is not None and not all(isinstance(d, int) for d in shape):
                shape = None
            if tensor.name in shapes and shapes[tensor.name] != shape:
                clash.add(tensor.name)
            shapes[tensor.name] = shape
        return types, shapes, clash

    def values(types: TypeTable, clash: set[str]) -> dict[str, Any]:
        values_by_name = {model.tensors[i].name: v for i, v in types.values.items() if v.dtype != object}
        return {name: value for name, value in values_by_name.items() if name not in clash}

    steady = values(infer(copy, model, fixed, {}), set()) if free else {}
    facts = []
    for assignment in sizes:
        types, shapes, clash = under(assignment)
        bound = values(types, clash)
        known_shapes = {n: s for n, s in shapes.items() if s is not None and n not in clash}
        facts.append(StructureFacts(known_shapes, steady if free else bound, bound))
    return facts
