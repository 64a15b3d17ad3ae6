"""The float graph equivalent to a quantized or converted one, for recognisers of float graphs.

Copies, casts, QuantizeLinear and DequantizeLinear are bypassed, scales computed at run time are separated
from data, and integer operators become the float operators they represent. Ids are those of the model;
pass-through nodes are removed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import numpy as np

from py_autodoc.blocks.dataflow.dataflow_graph import KNOWN_DOMAINS, DataflowGraphs
from py_autodoc.compare.meaning import LAYOUTS, PASSED, float_form
from py_autodoc.graph.ir.model import Model, Node, TypeTable

_FLOAT = 1
_MAX_ELEMENTS = 1024


@dataclass(frozen=True, slots=True)
class FloatGraph:
    """The float graph. ``order`` lists its nodes, those of subgraphs before the node that contains them."""

    model: Model
    types: TypeTable
    flows: DataflowGraphs
    alias: dict[int, int]
    """Tensor → the tensor that it is a copy of."""
    order: list[int]
    constant: list[bool]
    """Per tensor: whether it is stored or computed only from stored ones; the last entry is for -1."""

    def operator_type(self, number: int) -> str:
        """Return the operator type of a node without known domains."""
        node = self.model.nodes[number]
        return node.op_type if node.domain in KNOWN_DOMAINS else f"{node.domain}::{node.op_type}"


def float_graph(model: Model, types: TypeTable) -> FloatGraph:
    """Return the float graph of a model, in linear time."""
    order = execution(model)
    constant = _constants(model, order)
    rewriter = _FloatRewriter(model, types, constant)
    for number in order:
        rewriter.node(model.nodes[number])
    if not rewriter.changed and not rewriter.alias:
        return FloatGraph(model, types, DataflowGraphs(model, types), {}, order, constant)
    rewritten = rewriter.model()
    remaining = [number for number in order if number not in rewriter.removed]
    table = replace(types, dtypes=rewriter.dtypes, values=rewriter.values)
    return FloatGraph(rewritten, table, DataflowGraphs(rewritten, table), rewriter.alias, remaining, constant)


def execution(model: Model) -> list[int]:
    """Return all nodes except constants in execution order, subgraphs before the node that contains them."""
    order: list[int] = []
    stack = [iter(model.graphs[0].nodes)]
    holders: list[tuple[int, int]] = []
    """Nodes whose subgraphs are being visited, and the stack depth at which they are finished."""
    while stack:
        number = next(stack[-1], -1)
        if number < 0:
            stack.pop()
            if holders and holders[-1][1] == len(stack):
                order.append(holders.pop()[0])
            continue
        node = model.nodes[number]
        if node.is_constant:
            continue
        if node.subgraphs:
            holders.append((number, len(stack)))
            stack.extend(iter(model.graphs[graph].nodes) for _, graph in reversed(node.subgraphs))
        else:
            order.append(number)
    return order


def _constants(model: Model, order: list[int]) -> list[bool]:
    constant = [tensor.is_constant for tensor in model.tensors]
    constant.append(False)
    for number in order:
        node = model.nodes[number]
        if node.inputs and not node.subgraphs and all(t < 0 or constant[t] for t in node.inputs):
            for tensor in node.outputs:
                if tensor >= 0:
                    constant[tensor] = True
    return constant


class _FloatRewriter:
    def __init__(self, model: Model, types: TypeTable, constant: list[bool]) -> None:
        self.source = model
        self.types = types
        self.constant = constant
        self.alias: dict[int, int] = {}
        self.scales: set[int] = set()
        self.removed: set[int] = set()
        self.changed: dict[int, Node] = {}
        self.dtypes = list(types.dtypes)
        self.values = dict(types.values)

    def node(self, node: Node) -> None:
        alias, constant = self.alias, self.constant
        is_known = node.domain in KNOWN_DOMAINS or node.domain in LAYOUTS
        op = node.op_type if is_known else ""
        inputs = tuple([alias.get(t, t) for t in node.inputs]) if alias else node.inputs
        first = inputs[0] if inputs else -1
        out = node.outputs[0] if node.outputs else -1
        if op == "DequantizeLinear" and first >= 0 and constant[first]:
            self._dequantize_constant(node)
        elif op in PASSED and first >= 0 and not constant[first]:
            if out >= 0:
                alias[out] = first
            self.removed.add(node.id)
        elif op == "DynamicQuantizeLinear" and first >= 0 and out >= 0:
            alias[out] = first
            self.scales.update(t for t in node.outputs[1:] if t >= 0)
            self.removed.add(node.id)
        elif op == "Mul" and self.scales and any(t in self.scales for t in inputs):
            data = [t for t in inputs if t not in self.scales and not constant[t]]
            if not data:
                self.scales.add(out)
                self.removed.add(node.id)
            elif len(data) == 1:
                alias[out] = data[0]
                self.removed.add(node.id)
        else:
            self._rewrite(node, op, inputs)

    def _rewrite(self, node: Node, op: str, inputs: tuple[int, ...]) -> None:
        core, operands = float_form(op, inputs) if op else (op, inputs)
        if core != op and op != "Gemm":
            for tensor in node.outputs:  # the output is a float value in any storage format
                if tensor >= 0:
                    self.dtypes[tensor] = _FLOAT
            self.changed[node.id] = msgspec.structs.replace(node, op_type=core, domain="", inputs=operands)
            return
        if node.domain in LAYOUTS:
            self.changed[node.id] = msgspec.structs.replace(node, domain="", inputs=inputs)
        elif inputs != node.inputs:
            self.changed[node.id] = msgspec.structs.replace(node, inputs=inputs)

    def _dequantize_constant(self, node: Node) -> None:
        """Store the value of a small quantized constant."""
        out = node.outputs[0] if node.outputs else -1
        if out < 0 or out in self.values:
            return
        values = [self._value(t) for t in node.inputs]
        if (
            not values
            or values[0] is None
            or values[0].size > _MAX_ELEMENTS
            or len(values) < 2
            or values[1] is None
        ):
            return
        zero = values[2] if len(values) > 2 and values[2] is not None else 0
        if values[1].size == 1 and np.size(zero) == 1 and values[0].dtype.kind in "iu":
            shift = np.float32(np.asarray(zero).astype(np.float32).reshape(()))
            factor = np.float32(values[1].astype(np.float32).reshape(()))
            self.values[out] = (values[0].astype(np.float32) - shift) * factor

    def _value(self, tensor: int) -> np.ndarray | None:
        if tensor < 0:
            return None
        value = self.types.values.get(tensor)
        return self.source.constants.get(tensor) if value is None else value

    def model(self) -> Model:
        """Return the rewritten model; everything else is shared with the original."""
        source, alias = self.source, self.alias
        nodes = list(source.nodes)
        for number, node in self.changed.items():
            nodes[number] = node
        readers: dict[int, list[int]] = {}
        affected = set(alias) | set(alias.values())
        for number, node in self.changed.items():
            affected.update(t for t in (*source.nodes[number].inputs, *node.inputs) if t >= 0)
        for number in self.removed:
            affected.update(t for t in source.nodes[number].inputs if t >= 0)
        for node in nodes:
            if node.id not in self.removed:
                for tensor in dict.fromkeys(node.inputs):
                    if tensor in affected:
                        readers.setdefault(tensor, []).append(node.id)
        results = {alias[t] for t, tensor in enumerate(source.tensors) if tensor.is_output and t in alias}
        tensors = list(source.tensors)
        for tensor in affected:
            tensor_info = tensors[tensor]
            consumers = tuple(readers.get(tensor, ()))
            if consumers != tensor_info.consumers or tensor in results:
                tensors[tensor] = msgspec.structs.replace(
                    tensor_info, consumers=consumers, is_output=tensor_info.is_output or tensor in results
                )
        graphs = tuple(
            msgspec.structs.replace(
                graph,
                nodes=tuple(n for n in graph.nodes if n not in self.removed),
                outputs=tuple(alias.get(t, t) for t in graph.outputs),
            )
            for graph in source.graphs
        )
        return msgspec.structs.replace(source, nodes=tuple(nodes), tensors=tuple(tensors), graphs=graphs)
