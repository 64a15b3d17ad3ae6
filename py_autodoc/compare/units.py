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
from py_autodoc.compare.fused_operators import Step, opening
from py_autodoc.compare.meaning import ACTIVATED, AFFINE, DATA, GLUE, PRODUCTS, WEIGHTED
from py_autodoc.graph.ir.model import Model, Node, TensorKind, TypeTable

_TRIGGERS = ("Erf", "Tanh", "Sigmoid", "HardSigmoid", "Softplus", "Exp")
"""Operators inside activations that consist of several nodes."""
_CLAMPS = frozenset({"Clip"})
_BEFORE = frozenset({"Mul", "Div", "Add", "Sub", "Pow", "Neg", "Exp", "Log", "Softplus", "Clip"})
_STARTS = 12
"""Tensors before such an operator to examine as the activation's input."""
LOOSE = "pass"
"""Core of a unit that computes nothing: an input passed on to an output."""
NONE = -1


@dataclass(slots=True)
class Unit:
    """One core operator."""

    core: str
    node: int
    """The node that computes it; the last one if there are several."""
    ins: list[int]
    """Units that it reads, by operand; below 0: ``-2 - leaf``."""
    weight: tuple[int, ...] = ()
    """Sorted dimensions of its stored matrix, without ones."""
    slots: list[int] | None = None
    """Output index of the producer for each of ``ins``, such as a half of a Split; None if unknown."""
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
    opened: int = 0
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
        self.part: dict[int, tuple[str, int]] = {}
        """Node of a recognised normalization or activation → (its name, its index)."""
        self.ends: list[int] = []
        """Recognised pattern → its last node."""
        self.started: dict[int, int] = {}
        """Recognised normalization → its unit."""
        self.path: dict[int, tuple[int, ...]] = {}
        """Tensor derived from a graph input by moving values → the moves."""
        self.slot: dict[int, int] = {}
        """Tensor → index of the node output it is, or is made from; missing: the first."""

    def run(self) -> ContractedGraph:
        floats = self.floats
        self._ask_who_computes()
        self._recognise()
        for place, tensor in enumerate(floats.model.graphs[0].inputs):
            if floats.model.tensors[tensor].kind == TensorKind.INPUT:
                self.leaf[tensor] = self._leaf("in", place)
        for graph in floats.model.graphs[1:]:
            for place, tensor in enumerate(graph.inputs):
                self.leaf[tensor] = self._leaf("formal", place)
        for number in floats.order:
            if number in self.live:
                self._node(self.nodes[number])
        self._rest()
        return ContractedGraph(self.units, self.leaves, self.owner)

    # First pass: find nodes that compute, and multi-node patterns

    def _ask_who_computes(self) -> None:
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
            op = floats.bare(number)
            share = count if op in GLUE and count else 1
            for tensor in _data(node, op):
                if tensor >= 0 and not constant[tensor]:
                    reads[tensor] = reads.get(tensor, 0) + share

    def _recognise(self) -> None:
        """Recognise normalizations and activations that consist of several nodes."""
        for flow in self.floats.flows.all():
            for found in find_normalizations(flow):
                if len(found.nodes) > 1 and not any(n in self.part for n in found.nodes):
                    self._together(found.variant, found.nodes, found.nodes[-1])
            for number in flow.of(_TRIGGERS):
                if number not in self.part:
                    self._activation(flow, number)

    def _activation(self, flow: DataflowGraph, number: int) -> None:
        """Find the activation around this operator, if any."""
        starts: list[int] = []
        pending = list(flow.data_inputs[number])
        while pending and len(starts) < _STARTS:
            tensor = pending.pop(0)
            starts.append(tensor)
            maker = flow.producers[tensor]
            if flow.op_types[maker] in _BEFORE and len(starts) < _STARTS:
                pending += [t for t in flow.data_inputs[maker] if t not in starts]
        for tensor in reversed(starts):
            found = activation_of(flow, tensor)
            if found is not None and len(found.nodes) > 1 and number in found.nodes:
                if not any(n in self.part for n in found.nodes):
                    self._together(found.name, found.nodes, flow.producers[found.output])
                return

    def _together(self, name: str, nodes: tuple[int, ...], last: int) -> None:
        for number in nodes:
            self.part[number] = (name, len(self.ends))
        self.ends.append(last)

    # Second pass: node by node

    def _node(self, node: Node) -> None:
        op = self.floats.bare(node.id)
        known = self.part.get(node.id)
        if known is not None:
            self._in_part(node, *known)
            return
        data = self._operands(node, op)
        one = data[0] if len(data) == 1 else None
        if op in GLUE and one is not None:
            self._hand_on(node, one, serves=True)
            return
        name = _function(node, op)
        maker = self._alone(node, op)
        if maker is not None and maker.core in ACTIVATED and name:
            self._activate(maker, node, name)
            return
        if maker is not None and maker.core in PRODUCTS and self._folds(node, op):
            maker.affine.append(op)
            self._take(maker, node)
            self._hand_on(node, data[0], serves=False)
            return
        made = opening(self.source.nodes[node.id], self.shapes)
        if made is not None:
            self._open(node, made.steps, made.outputs)
            return
        core = "MatMul" if op == "Gemm" else op if op in _CLAMPS else _function(node, op) or op
        if op == "SimplifiedLayerNormalization":
            core = "RMSNormalization"
        slots = self._slots(node, op)
        # The result of a subgraph is that of its node. Files list subgraphs in any order.
        for _, graph in sorted(node.subgraphs):
            results = self.floats.model.graphs[graph].outputs
            data += [self._source(t) for t in results]
            slots += [self.slot.get(t, 0) for t in results]
        self._unit(core, node, data, slots)

    def _in_part(self, node: Node, name: str, number: int) -> None:
        """Handle a node of a normalization or activation that consists of several nodes."""
        unit = self.started.get(number)
        data = self._operands(node, "")
        if unit is None:
            maker = self._maker(data[0]) if len(data) == 1 else None
            if maker is not None and maker.core in ACTIVATED and name in _FUNCTIONS:
                at = self.started[number] = data[0]
                maker.activation = f"{maker.activation} {name}".strip()
                unit = at
            else:
                self._unit(name, node, data)
                self.started[number] = len(self.units) - 1
                return
        made = self.units[unit]
        inner = [d for d in data if d != unit and d not in made.ins]
        if name not in _FUNCTIONS:
            made.ins += inner
            made.slots = None
            made.node = node.id
            made.out = node.outputs[0] if node.outputs else NONE
        self._take(made, node)
        self._hand_on(node, unit, serves=False)

    def _activate(self, maker: Unit, node: Node, name: str) -> None:
        maker.activation = f"{maker.activation} {name}".strip()
        self._take(maker, node)
        self._hand_on(node, self._operands(node, self.floats.bare(node.id))[0], serves=False)

    def _open(self, node: Node, steps: tuple[Step, ...], outputs: tuple[int, ...]) -> None:
        base = len(self.units)
        source = [self.floats.alias.get(t, t) for t in self.source.nodes[node.id].inputs]
        for step in steps:
            ins = []
            for read in step.reads:
                if read < 0:
                    ins.append(base - 1 - read)
                elif read < len(source) and source[read] >= 0 and not self.constant[source[read]]:
                    ins.append(self._source(source[read]))
            self.units.append(Unit(step.core, node.id, ins, step.weight, opened=len(steps), nodes=[node.id]))
            self.owner[node.id].append(len(self.units) - 1)
        for tensor, step_at in zip(node.outputs, outputs, strict=False):
            if tensor >= 0:
                self.value[tensor] = base + step_at
                self.units[base + step_at].out = tensor

    def _unit(self, core: str, node: Node, data: list[int], slots: list[int] | None = None) -> None:
        out = node.outputs[0] if node.outputs else NONE
        at = len(self.units)
        self.units.append(Unit(core, node.id, data, self._weight(core, node), slots, out, out, [node.id]))
        self.owner[node.id].append(at)
        if self.path:
            self.units[at].moved += [number for t in node.inputs for number in self.path.get(t, ())]
        for place, tensor in enumerate(node.outputs):
            if tensor >= 0:
                self.value[tensor] = at
                if place:
                    self.slot[tensor] = place

    def _hand_on(self, node: Node, value: int, serves: bool) -> None:
        """Map the output of a node to the source of its operand."""
        slot = next((self.slot[t] for t in node.inputs if t in self.slot), 0) if self.slot and serves else 0
        for tensor in node.outputs:
            if tensor >= 0:
                self.value[tensor] = value
                if slot:
                    self.slot[tensor] = slot
        if value >= 0:
            self.owner[node.id].append(value)
            if serves:
                self.units[value].nodes.append(node.id)
                self.units[value].moved += [node.id] if node.op_type in _MOVES else []
        elif node.op_type in _MOVES:
            way = (*self.path.get(node.inputs[0], ()), node.id)
            self.path.update((t, way) for t in node.outputs if t >= 0)

    def _take(self, unit: Unit, node: Node) -> None:
        """Add a computing node to a unit."""
        unit.nodes.insert(unit.work, node.id)
        unit.work += 1
        unit.end = node.outputs[0] if node.outputs else NONE

    def _folds(self, node: Node, op: str) -> bool:
        """Return whether it is part of the product before it: all other operands are constants."""
        if op == "BatchNormalization":
            return True
        return op in AFFINE and any(t >= 0 and self.constant[t] for t in node.inputs)

    def _alone(self, node: Node, op: str) -> Unit | None:
        """Return the unit whose only consumer this is."""
        data = [t for t in _data(node, op) if t >= 0 and not self.constant[t]]
        if len(data) != 1:
            return None
        made = self._source(data[0])
        return self._maker(made) if made >= 0 and self.reads.get(self.units[made].end, 0) == 1 else None

    def _maker(self, value: int) -> Unit | None:
        return self.units[value] if value >= 0 and self.units[value].opened < 2 else None

    def _operands(self, node: Node, op: str) -> list[int]:
        return [self._source(t) for t in _data(node, op) if t >= 0 and not self.constant[t]]

    def _slots(self, node: Node, op: str) -> list[int]:
        return [self.slot.get(t, 0) for t in _data(node, op) if t >= 0 and not self.constant[t]]

    def _source(self, tensor: int) -> int:
        known = self.value.get(tensor)
        if known is not None:
            return known
        leaf = self.leaf.get(tensor)
        if leaf is None:
            leaf = self.leaf[tensor] = self._leaf("other", 0)
        return -2 - leaf

    def _leaf(self, kind: str, place: int) -> int:
        self.leaves.append((kind, place))
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

    def _rest(self) -> None:
        """Assign each remaining node to its first consumer's unit, else to a unit of its own."""
        tensors, alias = self.source.tensors, self.floats.alias
        ranked = execution(self.source)[::-1]
        for number in ranked:
            if self.owner[number]:
                continue
            node = self.source.nodes[number]
            for tensor in node.inputs[:1]:  # a conversion of a unit's output
                made = self.value.get(alias.get(tensor, tensor), NONE)
                if made >= 0 and any(t in alias for t in node.outputs):
                    self._serve(number, made)
            if self.owner[number]:
                continue
            for tensor in node.outputs:
                for reader in tensors[tensor].consumers if tensor >= 0 else ():
                    if self.owner[reader]:
                        self._serve(number, self.owner[reader][0])
                        break
                if self.owner[number]:
                    break
        for number in reversed(ranked):
            if not self.owner[number]:
                node = self.source.nodes[number]
                made = next((self.owner[p][0] for p in self._makers(node) if self.owner[p]), NONE)
                if made >= 0:
                    self._serve(number, made)
                else:
                    self.units.append(Unit(LOOSE, number, [], nodes=[number]))
                    self.owner[number].append(len(self.units) - 1)

    def _makers(self, node: Node) -> list[int]:
        tensors = self.source.tensors
        return [tensors[t].producer for t in node.inputs if t >= 0 and tensors[t].producer >= 0]

    def _serve(self, number: int, unit: int) -> None:
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


def _data(node: Node, op: str) -> tuple[int, ...]:
    places = DATA.get(op)
    if places is None:
        return node.inputs
    return tuple(node.inputs[at] for at in places if at < len(node.inputs))
