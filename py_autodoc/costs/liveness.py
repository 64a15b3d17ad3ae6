"""Peak activation memory by liveness analysis.

Nodes run one by one in execution order. A graph input is live until its last use, a graph output until the
end; weights (initializers and Constant outputs) are excluded. There are two results: ``simple`` gives every
output its own memory; ``inplace`` lets views share the memory of their input, and lets an elementwise
operator overwrite an input of equal size at its last use. While a node with subgraphs runs, the peak of the
costliest subgraph is added to the live outer tensors: the larger branch of an If, a loop body once. An ideal
allocator needs at least this much; real ones need about 0.7 to 2.5 times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Model, Node, SubGraph, TensorKind, TypeTable

VIEW_OPS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Identity", "Flatten", "Dropout"})
"""Operators whose output 0 is a view of input 0."""

_ELEMENTWISE = (
    "Abs Add BatchNormalization Cast Clip Div Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log "
    "Mul Neg Pow Relu Sigmoid Softmax Softplus Sqrt Sub Tanh Where"
)
INPLACE_OPS = frozenset(_ELEMENTWISE.split())
"""Operators whose output 0 may reuse the memory of an input that is freed here."""


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """Peak bytes of live activations; None with a ``reason`` if a size is unknown."""

    simple: int | None
    inplace: int | None
    simple_node: int = -1
    """Node of the main graph at the simple peak."""
    inplace_node: int = -1
    main_simple: int | None = None
    """The simple peak of the main graph without its subgraphs."""
    main_inplace: int | None = None
    reason: str = ""


@dataclass(slots=True)
class LivenessSweep:
    """Results of one pass over the nodes of a graph. A step is a position in the graph's own order."""

    bytes: int = 0
    """Peak bytes, including subgraphs."""
    step: int = -1
    """First step at the peak, -1 for before the first node."""
    body: int = -1
    """The graph whose own peak is included; -1 if the peak is outside of any subgraph."""
    node: int = -1
    alone: int = 0
    """Peak bytes without subgraphs."""
    curve: list[int] = field(default_factory=list)
    """Live bytes while the node of each step runs, including subgraphs."""
    tops: dict[int, int] = field(default_factory=dict)
    """Step → peak bytes of its costliest subgraph."""
    start: int = 0
    """Bytes of the inputs, before the first node."""
    within: int = 0
    """Bytes while the subgraphs of the current node run."""

    def begin(self, live: int) -> None:
        """Start with ``live`` bytes before the first node."""
        self.start = self.bytes = self.alone = live

    def record(self, live: int, step: int, node: int) -> None:
        """Record ``live`` bytes with the outputs of ``node`` allocated and its inputs not yet freed."""
        if live > self.alone:
            self.alone = live
        if live > self.bytes:
            self.bytes, self.step, self.node, self.body = live, step, node, -1
        live_bytes, curve = max(live, self.within), self.curve
        curve.append(curve[-1] if curve and curve[-1] == live_bytes else live_bytes)  # shares equal values
        self.within = 0

    def inside(self, live: int, step: int, node: Node, bodies: Sequence[int]) -> None:
        """Record the costliest subgraph of ``node`` in addition to ``live`` outer bytes."""
        body = max((graph for _, graph in node.subgraphs), key=bodies.__getitem__)
        self.tops[step] = bodies[body]
        self.within = total = live + bodies[body]
        if total > self.bytes:
            self.bytes, self.step, self.node, self.body = total, step, node.id, body


@dataclass(frozen=True, slots=True)
class Liveness:
    """Liveness results of every graph, and the lifetime of each tensor.

    ``first`` and ``last``, by tensor id, are the steps (positions in the order of the tensor's own
    graph, Constant nodes excluded) between which the tensor is live, inclusive. ``first`` is -1 for inputs,
    ``last`` is the last step for tensors that live until the end (outputs, unused inputs), and both are
    ``NEVER_LIVE`` for weights.
    """

    peak: PeakMemory
    order: list[list[int]]
    """By graph: the node of each step."""
    first: list[int]
    last: list[int]
    simple: list[LivenessSweep]
    """By graph; empty if a size is unknown."""
    inplace: list[LivenessSweep]
    memory: dict[int, int]
    """Tensor → the tensor whose memory it reuses (in place), for tensors without memory of their own."""


NEVER_LIVE = -2


def peak_activation(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> PeakMemory:
    """Return the peak activation memory of one inference, in bytes. Linear in the size of the graph."""
    return liveness(model, types, sizes).peak


def liveness(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> Liveness:
    """Return tensor lifetimes and live bytes. Linear in the size of the graph."""
    table = (sizes or TensorSizes(model, types)).bytes
    error = types.contradiction
    missing = _unsized(model, table) if error is None else error.reason
    size = [n or 0 for n in table]
    order: list[list[int]] = [[] for _ in model.graphs]
    simple = [LivenessSweep() for _ in model.graphs]
    inplace = [LivenessSweep() for _ in model.graphs]
    first, last = [NEVER_LIVE] * len(model.tensors), [NEVER_LIVE] * len(model.tensors)
    memory: dict[int, int] = {}
    bodies_simple, bodies_inplace = [0] * len(model.graphs), [0] * len(model.graphs)
    for graph in reversed(model.graphs):  # subgraphs after their owner
        plan = GraphLifetimes(model, graph)
        order[graph.id] = [node.id for node in plan.order]
        plan.lifetimes(first, last)
        if missing:
            continue
        simple[graph.id] = a = plan.simple(size, bodies_simple)
        inplace[graph.id] = b = plan.inplace(size, bodies_inplace, memory)
        bodies_simple[graph.id], bodies_inplace[graph.id] = a.bytes, b.bytes
    if missing:
        return Liveness(PeakMemory(None, None, reason=missing), order, first, last, [], [], {})
    a, b = simple[0], inplace[0]
    peak = PeakMemory(a.bytes, b.bytes, a.node, b.node, a.alone, b.alone)
    return Liveness(peak, order, first, last, simple, inplace, memory)


def _unsized(model: Model, table: Sequence[int | None]) -> str:
    """Return the reason for an unknown peak: the first activation without a size; empty if none."""
    for tensor in model.tensors:
        if table[tensor.id] is None and not tensor.is_constant:
            return f"the size of {tensor.name or f'tensor {tensor.id}'} is not known"
    return ""


class GraphLifetimes:
    """Tensor lifetimes in one graph."""

    def __init__(self, model: Model, graph: SubGraph) -> None:
        self.model = model
        self.graph = graph
        self.inputs = [t for t in graph.inputs if model.tensors[t].kind != TensorKind.INITIALIZER]
        order = [node for node in map(model.nodes.__getitem__, graph.nodes) if not node.is_constant]
        self.order = order
        self.position = {node.id: i for i, node in enumerate(order)}
        self.produced = [
            node.outputs if -1 not in node.outputs else tuple([t for t in node.outputs if t >= 0])
            for node in order
        ]
        """Tensors produced by each node."""
        self.last = self._last_uses()
        """Tensor → position of its last use; the number of nodes for outputs; absent if unused."""
        self.freed_after: list[list[int]] = [[] for _ in order]
        """Tensors that can be freed after a node: last used by it, or produced by it and never used."""
        end = len(order)
        for tensor, position in self.last.items():
            if position < end:
                self.freed_after[position].append(tensor)
        for position, tensors in enumerate(self.produced):
            for tensor in tensors:
                if tensor not in self.last:
                    self.freed_after[position].append(tensor)

    def _last_uses(self) -> dict[int, int]:
        """Return the last use of each tensor of this graph; a use in a subgraph counts for its owner."""
        last: dict[int, int] = {}
        tensors, positions = self.model.tensors, self.position
        single_graph = len(self.model.graphs) == 1
        for tensor in (*self.inputs, *(t for row in self.produced for t in row)):
            uses = tensors[tensor].consumers
            if uses:
                position = (
                    positions.get(uses[-1], -1)
                    if single_graph and len(uses) == 1
                    else max(map(self._position_of, uses))
                )
                if position >= 0:
                    last[tensor] = position
        for node in self.order:
            for _, body in node.subgraphs:
                for tensor in self.model.graphs[body].outputs:  # a subgraph may return an outer tensor
                    if tensors[tensor].graph == self.graph.id:
                        last[tensor] = max(last.get(tensor, -1), positions[node.id])
        produced = {t for row in self.produced for t in row}.union(self.inputs)
        last.update((tensor, len(self.order)) for tensor in self.graph.outputs if tensor in produced)
        return {tensor: position for tensor, position in last.items() if tensor in produced}

    def _position_of(self, number: int) -> int:
        """Return the position of the node, or of its ancestor in this graph; -1 if none."""
        while number >= 0:
            position = self.position.get(number)
            if position is not None:
                return position
            number = self.model.graphs[self.model.nodes[number].graph].parent_node
        return -1

    def lifetimes(self, first: list[int], last: list[int]) -> None:
        """Enter the first and last step of this graph's tensors."""
        end = len(self.order) - 1
        for tensor in self.inputs:
            first[tensor], last[tensor] = -1, min(self.last.get(tensor, end), end)
        for position, produced in zip(self.position.values(), self.produced, strict=True):
            for tensor in produced:
                until = min(self.last.get(tensor, position), end)
                # Used before it is produced, in a graph with a cycle: never freed.
                first[tensor], last[tensor] = position, until if until >= position else end

    def simple(
        self, size: Sequence[int], bodies: Sequence[int], sweep: LivenessSweep | None = None
    ) -> LivenessSweep:
        """Sweep with separate memory for every output. ``bodies[g]`` is the peak inside graph ``g``."""
        sweep = sweep or LivenessSweep()
        live = sum(size[t] for t in self.inputs)
        sweep.begin(live)
        allocated = set(self.inputs)
        for step, (node, produced, freed) in enumerate(
            zip(self.order, self.produced, self.freed_after, strict=True)
        ):
            if node.subgraphs:
                sweep.inside(live, step, node, bodies)
            for tensor in produced:
                live += size[tensor]
            allocated.update(produced)
            sweep.record(live, step, node.id)
            for tensor in freed:
                if tensor in allocated:  # not yet produced, only in a graph with a cycle
                    live -= size[tensor]
        return sweep

    def inplace(
        self,
        size: Sequence[int],
        bodies: Sequence[int],
        memory: dict[int, int],
        sweep: LivenessSweep | None = None,
    ) -> LivenessSweep:
        """Sweep with shared memory for views and in-place reuse. Fills ``memory`` with the reuse."""
        buffer_of = {tensor: tensor for tensor in self.inputs}
        """Tensor → the tensor whose memory it uses."""
        users = dict.fromkeys(self.inputs, 1)
        """Memory (by its first tensor) → number of live tensors in it."""
        graph_inputs = frozenset(self.inputs)
        sweep = sweep or LivenessSweep()
        live = sum(size[t] for t in self.inputs)
        sweep.begin(live)
        for step, node in enumerate(self.order):
            if node.subgraphs:
                sweep.inside(live, step, node, bodies)
            host = self._reusable_memory(node, step, buffer_of, users, graph_inputs, size)
            for tensor in self.produced[step]:
                if host < 0 or tensor != node.outputs[0]:
                    buffer_of[tensor] = tensor
                    users[tensor] = 1
                    live += size[tensor]
                else:
                    buffer_of[tensor] = memory[tensor] = host
                    users[host] += 1
            sweep.record(live, step, node.id)
            for tensor in self.freed_after[step]:
                buffer = buffer_of.get(tensor, -1)
                if buffer < 0:
                    continue
                users[buffer] -= 1
                if not users[buffer]:
                    live -= size[buffer]
        return sweep

    def _reusable_memory(
        self,
        node: Node,
        step: int,
        buffer_of: dict[int, int],
        users: dict[int, int],
        graph_inputs: frozenset[int],
        size: Sequence[int],
    ) -> int:
        """Return the memory that output 0 can reuse, -1 for memory of its own."""
        if node.domain or not node.outputs:
            return -1
        if node.op_type in VIEW_OPS:
            return buffer_of.get(node.inputs[0], -1) if node.inputs else -1
        if node.op_type in INPLACE_OPS:
            for tensor in node.inputs:
                host = buffer_of.get(tensor, -1)
                if host < 0 or users[host] != 1 or host in graph_inputs or self.last.get(tensor) != step:
                    continue
                if size[tensor] == size[node.outputs[0]]:
                    return host
        return -1
