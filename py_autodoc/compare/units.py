"""Contract a graph to core operators, each with the nodes that only serve it.

A unit is one core operator with the nodes that belong to it: conversions and reshapes of its output, the
bias, scale, folded normalization and activation after a product, and the nodes that prepare its weights,
shapes and scales. Every node except constants is in one unit; a fused operator that represents several core
operators is in several.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from py_autodoc.blocks.dataflow.dataflow_graph import RESHAPES, DataflowGraph
from py_autodoc.blocks.layer_blocks.activations import SIMPLE, activation_of
from py_autodoc.blocks.layer_blocks.normalization import find_normalizations
from py_autodoc.compare.float_equivalent import FloatGraph, execution, float_graph
from py_autodoc.compare.fused_operators import Step, decompose
from py_autodoc.compare.meaning import (
    ACTIVATED,
    AFFINE,
    DATA,
    GLUE,
    POOLS,
    PRODUCTS,
    RENAMED,
    WEIGHTED,
)
from py_autodoc.compare.settings import settings
from py_autodoc.graph.ir.model import Model, Node, TensorKind, TypeTable

_TRIGGERS = ("Erf", "Tanh", "Sigmoid", "HardSigmoid", "Softplus", "Exp")
"""Operators inside activations that consist of several nodes."""
_CLAMPS = frozenset({"Clip"})
_BEFORE = frozenset({"Mul", "Div", "Add", "Sub", "Pow", "Neg", "Exp", "Log", "Softplus", "Clip"})
_MAX_STARTS = 12
"""Tensors before such an operator to examine as the activation's input."""
NO_COMPUTATION = "pass"
"""Core of a unit that computes nothing: an input that is also an output."""
NONE = -1


@dataclass(slots=True)
class Unit:
    """One core operator."""

    core: str
    node: int
    """The node that computes it; the last one if there are several."""
    sources: list[int]
    """Units that it reads, by operand; below 0: ``-2 - leaf``."""
    weight: tuple[int, ...] = ()
    """Sorted dimensions of its stored matrix, without ones."""
    slots: list[int] | None = None
    """Output index of the producer for each of ``sources``, such as a half of a Split; None if unknown."""
    out: int = NONE
    """Output tensor of the core operator itself."""
    end: int = NONE
    """Output tensor of the unit, after the included operators."""
    nodes: list[int] = field(default_factory=list)
    """Its nodes: first those that compute, then those that serve it."""
    work: int = 1
    """How many of ``nodes`` compute."""
    activation: str = ""
    affine: list[str] = field(default_factory=list)
    """Following operators with a constant that are included."""
    moved: list[int] = field(default_factory=list)
    """Nodes that reshape or transpose its output, or graph inputs before it reads them."""
    is_global: bool = False
    """True for a pool over whole images, in any form."""
    decomposed_into: int = 0
    """Number of units that its node represents; 0 or 1: only this one."""


@dataclass(frozen=True, slots=True)
class ContractedGraph:
    """The units of a model, in an order in which inputs nearly always come first."""

    units: list[Unit]
    leaves: list[tuple[str, int]]
    """(kind, position) of external values: inputs of the graph or of subgraphs, and values not followed."""
    owner: list[list[int]]
    """Node → its units; empty for nodes computed from constants alone."""


def contract(model: Model, types: TypeTable) -> ContractedGraph:
    """Return the units of a model, in linear time."""
    return _Contraction(float_graph(model, types), model, types).run()


class _Contraction:
    def __init__(self, floats: FloatGraph, source: Model, types: TypeTable) -> None:
        self.floats = floats
        self.source = source
        self.types = types
        self.shapes = types.shapes
        self.nodes = floats.model.nodes
        self.constant = floats.constant
        self.units: list[Unit] = []
        self.owner: list[list[int]] = [[] for _ in source.nodes]
        self.leaves: list[tuple[str, int]] = []
        self.leaf: dict[int, int] = {}
        self.value: dict[int, int] = {}
        """Tensor of the float graph → the unit that produces it."""
        self.live: set[int] = set()
        self.reads: dict[int, int] = {}
        """Tensor → operators that compute with it, past pass-through nodes; graph outputs count as one."""
        self.pattern: dict[int, tuple[str, int]] = {}
        """Node of a recognised normalization or activation → (its name, its index)."""
        self.pattern_ends: list[int] = []
        """Recognised pattern → its last node."""
        self.pattern_units: dict[int, int] = {}
        """Recognised normalization → its unit."""
        self.path: dict[int, tuple[int, ...]] = {}
        """Tensor derived from a graph input by moving values → the moves."""
        self.slot: dict[int, int] = {}
        """Tensor → index of the node output it is, or is made from; missing: the first."""

    def run(self) -> ContractedGraph:
        floats = self.floats
        self._find_computing_nodes()
        self._recognise()
        for position, tensor in enumerate(floats.model.graphs[0].inputs):
            if floats.model.tensors[tensor].kind == TensorKind.INPUT:
                self.leaf[tensor] = self._leaf("in", position)
        for graph in floats.model.graphs[1:]:
            for position, tensor in enumerate(graph.inputs):
                self.leaf[tensor] = self._leaf("formal", position)
        for number in floats.order:
            if number in self.live:
                self._contract(self.nodes[number])
        self._assign_remaining()
        return ContractedGraph(self.units, self.leaves, self.owner)

    # First pass: find nodes that compute, and multi-node patterns

    def _find_computing_nodes(self) -> None:
        """Find core operators, from the end: nodes whose results are only indices or dimensions are none."""
        floats, reads, live, constant = self.floats, self.reads, self.live, self.constant
        for graph in floats.model.graphs:
            for tensor in graph.outputs:
                reads[tensor] = reads.get(tensor, 0) + 1
        tensors = floats.model.tensors
        for number in reversed(floats.order):
            node = self.nodes[number]
            outs = [t for t in node.outputs if t >= 0]
            if outs and all(constant[t] for t in outs):
                continue
            count = sum([reads.get(t, 0) for t in outs])
            if not count and any(tensors[t].consumers for t in outs):
                continue
            live.add(number)
            op = floats.operator_type(number)
            share = count if op in GLUE and count else 1
            for tensor in _data_inputs(node, op):
                if tensor >= 0 and not constant[tensor]:
                    reads[tensor] = reads.get(tensor, 0) + share

    def _recognise(self) -> None:
        """Recognise normalizations and activations that consist of several nodes."""
        for flow in self.floats.flows.all():
            for pattern in find_normalizations(flow):
                if len(pattern.nodes) > 1 and not any(n in self.pattern for n in pattern.nodes):
                    self._add_pattern(pattern.variant, pattern.nodes, pattern.nodes[-1])
            for number in flow.of(_TRIGGERS):
                if number not in self.pattern:
                    self._activation(flow, number)

    def _activation(self, flow: DataflowGraph, number: int) -> None:
        """Find the activation around this operator, if any."""
        starts: list[int] = []
        pending = list(flow.data_inputs[number])
        while pending and len(starts) < _MAX_STARTS:
            tensor = pending.pop(0)
            starts.append(tensor)
            producer = flow.producers[tensor]
            if flow.op_types[producer] in _BEFORE and len(starts) < _MAX_STARTS:
                pending += [t for t in flow.data_inputs[producer] if t not in starts]
        for tensor in reversed(starts):
            pattern = activation_of(flow, tensor)
            if pattern is not None and len(pattern.nodes) > 1 and number in pattern.nodes:
                if not any(n in self.pattern for n in pattern.nodes):
                    self._add_pattern(pattern.name, pattern.nodes, flow.producers[pattern.output])
                return

    def _add_pattern(self, name: str, nodes: tuple[int, ...], last: int) -> None:
        for number in nodes:
            self.pattern[number] = (name, len(self.pattern_ends))
        self.pattern_ends.append(last)

    # Second pass: node by node

    def _contract(self, node: Node) -> None:
        op = self.floats.operator_type(node.id)
        pattern = self.pattern.get(node.id)
        if pattern is not None:
            self._pattern_node(node, *pattern)
            return
        data = self._operands(node, op)
        operand = data[0] if len(data) == 1 else None
        if op in GLUE and operand is not None:
            self._pass_through(node, operand, auxiliary=True)
            return
        name = _function(node, op)
        producer = self._exclusive_producer(node, op)
        if producer is not None and producer.core in ACTIVATED and name:
            self._activate(producer, node, name)
            return
        if producer is not None and producer.core in PRODUCTS and self._folds_into_product(node, op):
            producer.affine.append(op)
            self._add_computing_node(producer, node)
            self._pass_through(node, data[0], auxiliary=False)
            return
        decomposition = decompose(self.source.nodes[node.id], self.shapes)
        if decomposition is not None:
            self._decompose(node, decomposition.steps, decomposition.outputs)
            return
        core = (
            "MatMul" if op == "Gemm" else op if op in _CLAMPS else _function(node, op) or RENAMED.get(op, op)
        )
        if op == "SimplifiedLayerNormalization":
            core = "RMSNormalization"
        is_global = op in POOLS and self._is_global_pool(node, op)
        if is_global:
            core = POOLS[op]
        slots = self._slots(node, op)
        # The result of a subgraph is that of its node. Files list subgraphs in any order.
        for _, graph in sorted(node.subgraphs):
            results = self.floats.model.graphs[graph].outputs
            data += [self._source(t) for t in results]
            slots += [self.slot.get(t, 0) for t in results]
        self._add_unit(core, node, data, slots)
        self.units[-1].is_global = is_global

    def _is_global_pool(self, node: Node, op: str) -> bool:
        """Return whether a reduction is over all spatial axes of images, or one window covers them."""
        node = self.source.nodes[node.id]
        shape = self.shapes[node.inputs[0]] if node.inputs and node.inputs[0] >= 0 else None
        if shape is None or len(shape) < 3:
            return False
        if op.startswith("Global"):
            return True
        given = settings(self.source, self.types, node, self.shapes)
        if op.startswith("Reduce"):
            return len(shape) > 3 and given.get("axes") == (*range(2, len(shape)),)
        if len(node.outputs) > 1:
            return False  # also gives the places of the largest values
        pads, dilations = (given.get(name) or () for name in ("pads", "dilations"))
        return given.get("kernel_shape") == shape[2:] and not any(pads) and set(dilations) <= {1}

    def _pattern_node(self, node: Node, name: str, pattern: int) -> None:
        """Handle a node of a normalization or activation that consists of several nodes."""
        unit = self.pattern_units.get(pattern)
        data = self._operands(node, "")
        if unit is None:
            producer = self._single_unit(data[0]) if len(data) == 1 else None
            if producer is not None and producer.core in ACTIVATED and name in _FUNCTIONS:
                unit = self.pattern_units[pattern] = data[0]
                producer.activation = f"{producer.activation} {name}".strip()
            else:
                self._add_unit(name, node, data)
                self.pattern_units[pattern] = len(self.units) - 1
                return
        unit_of_pattern = self.units[unit]
        inner = [d for d in data if d != unit and d not in unit_of_pattern.sources]
        if name not in _FUNCTIONS:
            unit_of_pattern.sources += inner
            unit_of_pattern.slots = None
            unit_of_pattern.node = node.id
            unit_of_pattern.out = node.outputs[0] if node.outputs else NONE
        self._add_computing_node(unit_of_pattern, node)
        self._pass_through(node, unit, auxiliary=False)

    def _activate(self, producer: Unit, node: Node, name: str) -> None:
        producer.activation = f"{producer.activation} {name}".strip()
        self._add_computing_node(producer, node)
        self._pass_through(node, self._operands(node, self.floats.operator_type(node.id))[0], auxiliary=False)

    def _decompose(self, node: Node, steps: tuple[Step, ...], outputs: tuple[int, ...]) -> None:
        base = len(self.units)
        inputs = [self.floats.alias.get(t, t) for t in self.source.nodes[node.id].inputs]
        for step in steps:
            sources = []
            for source in step.reads:
                if source < 0:
                    sources.append(base - 1 - source)
                elif source < len(inputs) and inputs[source] >= 0 and not self.constant[inputs[source]]:
                    sources.append(self._source(inputs[source]))
            self.units.append(
                Unit(step.core, node.id, sources, step.weight, decomposed_into=len(steps), nodes=[node.id])
            )
            self.owner[node.id].append(len(self.units) - 1)
        for tensor, step_index in zip(node.outputs, outputs, strict=False):
            if tensor >= 0:
                self.value[tensor] = base + step_index
                self.units[base + step_index].out = tensor

    def _add_unit(self, core: str, node: Node, data: list[int], slots: list[int] | None = None) -> None:
        out = node.outputs[0] if node.outputs else NONE
        index = len(self.units)
        self.units.append(Unit(core, node.id, data, self._weight(core, node), slots, out, out, [node.id]))
        self.owner[node.id].append(index)
        if self.path:
            self.units[index].moved += [number for t in node.inputs for number in self.path.get(t, ())]
        for output, tensor in enumerate(node.outputs):
            if tensor >= 0:
                self.value[tensor] = index
                if output:
                    self.slot[tensor] = output

    def _pass_through(self, node: Node, value: int, auxiliary: bool) -> None:
        """Map the output of a node to the source of its operand."""
        slot = 0
        if self.slot and auxiliary:
            slot = next((self.slot[t] for t in node.inputs if t in self.slot), 0)
        for tensor in node.outputs:
            if tensor >= 0:
                self.value[tensor] = value
                if slot:
                    self.slot[tensor] = slot
        if value >= 0:
            self.owner[node.id].append(value)
            if auxiliary:
                self.units[value].nodes.append(node.id)
                self.units[value].moved += [node.id] if node.op_type in _MOVES else []
        elif node.op_type in _MOVES:
            moves = (*self.path.get(node.inputs[0], ()), node.id)
            self.path.update((t, moves) for t in node.outputs if t >= 0)

    def _add_computing_node(self, unit: Unit, node: Node) -> None:
        """Add a computing node to a unit."""
        unit.nodes.insert(unit.work, node.id)
        unit.work += 1
        unit.end = node.outputs[0] if node.outputs else NONE

    def _folds_into_product(self, node: Node, op: str) -> bool:
        """Return whether it is part of the product before it: all other operands are constants."""
        if op == "BatchNormalization":
            return True
        return op in AFFINE and any(t >= 0 and self.constant[t] for t in node.inputs)

    def _exclusive_producer(self, node: Node, op: str) -> Unit | None:
        """Return the unit whose only consumer this is."""
        data = [t for t in _data_inputs(node, op) if t >= 0 and not self.constant[t]]
        if len(data) != 1:
            return None
        source = self._source(data[0])
        if source < 0 or self.reads.get(self.units[source].end, 0) != 1:
            return None
        return self._single_unit(source)

    def _single_unit(self, value: int) -> Unit | None:
        """Return the unit of a value, unless its node represents several units."""
        return self.units[value] if value >= 0 and self.units[value].decomposed_into < 2 else None

    def _operands(self, node: Node, op: str) -> list[int]:
        return [self._source(t) for t in _data_inputs(node, op) if t >= 0 and not self.constant[t]]

    def _slots(self, node: Node, op: str) -> list[int]:
        return [self.slot.get(t, 0) for t in _data_inputs(node, op) if t >= 0 and not self.constant[t]]

    def _source(self, tensor: int) -> int:
        source = self.value.get(tensor)
        if source is not None:
            return source
        leaf = self.leaf.get(tensor)
        if leaf is None:
            leaf = self.leaf[tensor] = self._leaf("other", 0)
        return -2 - leaf

    def _leaf(self, kind: str, position: int) -> int:
        self.leaves.append((kind, position))
        return len(self.leaves) - 1

    def _weight(self, core: str, node: Node) -> tuple[int, ...]:
        if core not in WEIGHTED:
            return ()
        source = self.source.nodes[node.id]
        if source.op_type in ("MatMulNBits", "MatMulBnb4", "MatMulFpQ4"):
            sizes = [source.attributes.get("K"), source.attributes.get("N")]
            return tuple(sorted(n for n in sizes if isinstance(n, int) and n > 1))
        if source.op_type == "GatherBlockQuantized":
            return ()
        for tensor in node.inputs:
            shape = self.shapes[tensor] if tensor >= 0 and self.constant[tensor] else None
            if shape is not None and len(shape) > 1:
                return tuple(sorted(n for n in shape if isinstance(n, int) and n > 1))
        return ()

    # Third pass: nodes that serve others

    def _assign_remaining(self) -> None:
        """Assign each remaining node to its first consumer's unit, else to a unit of its own."""
        tensors, alias = self.source.tensors, self.floats.alias
        ranked = execution(self.source)[::-1]
        for number in ranked:
            if self.owner[number]:
                continue
            node = self.source.nodes[number]
            for tensor in node.inputs[:1]:  # a conversion of a unit's output
                unit = self.value.get(alias.get(tensor, tensor), NONE)
                if unit >= 0 and any(t in alias for t in node.outputs):
                    self._assign(number, unit)
            if self.owner[number]:
                continue
            for tensor in node.outputs:
                for reader in tensors[tensor].consumers if tensor >= 0 else ():
                    if self.owner[reader]:
                        self._assign(number, self.owner[reader][0])
                        break
                if self.owner[number]:
                    break
        for number in reversed(ranked):
            if not self.owner[number]:
                node = self.source.nodes[number]
                unit = next((self.owner[p][0] for p in self._producers(node) if self.owner[p]), NONE)
                if unit >= 0:
                    self._assign(number, unit)
                else:
                    self.units.append(Unit(NO_COMPUTATION, number, [], nodes=[number]))
                    self.owner[number].append(len(self.units) - 1)

    def _producers(self, node: Node) -> list[int]:
        tensors = self.source.tensors
        return [tensors[t].producer for t in node.inputs if t >= 0 and tensors[t].producer >= 0]

    def _assign(self, number: int, unit: int) -> None:
        self.owner[number].append(unit)
        self.units[unit].nodes.append(number)


_MOVES = RESHAPES - {"Expand"}
_FUNCTIONS = frozenset({*SIMPLE.values(), "Clip", "HardSigmoid", "HardSwish", "Mish"})


def _function(node: Node, op: str) -> str:
    """Return the activation that an operator implements, else empty. x·sigmoid(αx) with α = 1 is SiLU."""
    if op == "QuickGelu":
        alpha = node.attributes.get("alpha", 1.702)
        return "SiLU" if isinstance(alpha, (int, float)) and abs(alpha - 1) < 1e-3 else op
    return SIMPLE.get(op, "Clip" if op in _CLAMPS else "")


def _data_inputs(node: Node, op: str) -> tuple[int, ...]:
    positions = DATA.get(op)
    if positions is None:
        return node.inputs
    return tuple(node.inputs[position] for position in positions if position < len(node.inputs))
