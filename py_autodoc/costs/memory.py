"""Peak activation memory by liveness.

Nodes run one by one in execution order. A graph input lives until its last use, a graph output until
the end; weights (initializers and Constant outputs) are not counted. Two figures: ``simple`` gives
every output its own memory; ``inplace`` lets views share their input's and lets an elementwise
operator write over an input of the same size whose last use it is. While a node with bodies runs,
the costliest body's own peak comes on top of what lives outside: the larger branch of an If, a loop
body once. An ideal allocator needs at least this; real ones take about 0.7 to 2.5 times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.costs.sizes import Sizes
from py_autodoc.graph.model import Model, Node, SubGraph, TensorKind, TypeTable

SHARES_INPUT = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Identity", "Flatten", "Dropout"})
"""Output 0 is input 0 under another shape."""

_ELEMENTWISE = (
    "Abs Add BatchNormalization Cast Clip Div Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log "
    "Mul Neg Pow Relu Sigmoid Softmax Softplus Sqrt Sub Tanh Where"
)
OVERWRITES = frozenset(_ELEMENTWISE.split())
"""Output 0 may take the memory of an input that dies here."""


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """Peak bytes of live activations; None with a ``reason`` when a size is unknown."""

    simple: int | None
    inplace: int | None
    simple_node: int = -1
    """Node of the main graph at which the simple peak stands."""
    inplace_node: int = -1
    main_simple: int | None = None
    """The simple peak of the main graph alone, what bodies need left out."""
    main_inplace: int | None = None
    reason: str = ""


def peak_activation(model: Model, types: TypeTable, sizes: Sizes | None = None) -> PeakMemory:
    """Peak activation memory of one inference, in bytes. Linear in the size of the graph."""
    table = (sizes or Sizes(model, types)).bytes
    missing = _unsized(model, table)
    if missing:
        return PeakMemory(None, None, reason=missing)
    size = [n or 0 for n in table]
    bodies_simple = [0] * len(model.graphs)
    bodies_inplace = [0] * len(model.graphs)
    simple = inplace = _Peak()
    for graph in reversed(model.graphs):  # a body comes after what holds it
        plan = _Plan(model, graph)
        simple = plan.simple(size, bodies_simple)
        inplace = plan.inplace(size, bodies_inplace)
        bodies_simple[graph.id] = simple.bytes
        bodies_inplace[graph.id] = inplace.bytes
    return PeakMemory(simple.bytes, inplace.bytes, simple.node, inplace.node, simple.alone, inplace.alone)


def _unsized(model: Model, table: Sequence[int | None]) -> str:
    """Why the peak cannot be told: the first activation without a size, else empty."""
    for tensor in model.tensors:
        if table[tensor.id] is None and tensor.kind not in (TensorKind.INITIALIZER, TensorKind.CONSTANT):
            return f"the size of {tensor.name or f'tensor {tensor.id}'} is not known"
    return ""


@dataclass(slots=True)
class _Peak:
    """A running maximum; ``alone`` leaves bodies out."""

    bytes: int = 0
    node: int = -1
    alone: int = 0

    def see(self, live: int, node: int) -> None:
        """``live`` bytes while ``node`` runs."""
        if live > self.alone:
            self.alone = live
        if live > self.bytes:
            self.bytes, self.node = live, node

    def inside(self, live: int, node: Node, bodies: Sequence[int]) -> None:
        """The costliest body of ``node`` on top of ``live`` bytes outside."""
        total = live + max(bodies[body] for _, body in node.subgraphs)
        if total > self.bytes:
            self.bytes, self.node = total, node.id


class _Plan:
    """Who uses what until when, in one graph."""

    def __init__(self, model: Model, graph: SubGraph) -> None:
        self.model = model
        self.graph = graph
        self.inputs = [t for t in graph.inputs if model.tensors[t].kind != TensorKind.INITIALIZER]
        order = [node for node in map(model.nodes.__getitem__, graph.nodes) if not _is_constant(node)]
        self.order = order
        self.position = {node.id: i for i, node in enumerate(order)}
        self.made = [[t for t in node.outputs if t >= 0] for node in order]
        """Tensors each node makes."""
        self.last = self._last_uses()
        """Tensor → position of its last use; the number of nodes for outputs; absent when unused."""
        self.dead: list[list[int]] = [[] for _ in order]
        """Tensors that nobody needs after a node: last used there, or made there for nobody."""
        end = len(order)
        for tensor, at in self.last.items():
            if at < end:
                self.dead[at].append(tensor)
        for at, tensors in enumerate(self.made):
            for tensor in tensors:
                if tensor not in self.last:
                    self.dead[at].append(tensor)

    def _last_uses(self) -> dict[int, int]:
        """Where each tensor of this graph is used last; a body's use is its node's use."""
        last: dict[int, int] = {}
        tensors, place = self.model.tensors, self.position
        alone = len(self.model.graphs) == 1
        for tensor in (*self.inputs, *(t for row in self.made for t in row)):
            uses = tensors[tensor].consumers
            if uses:
                at = place.get(uses[-1], -1) if alone and len(uses) == 1 else max(map(self._where, uses))
                if at >= 0:
                    last[tensor] = at
        for node in self.order:
            for _, body in node.subgraphs:
                for tensor in self.model.graphs[body].outputs:  # a body may return an outer tensor
                    if tensors[tensor].graph == self.graph.id:
                        last[tensor] = max(last.get(tensor, -1), place[node.id])
        made = {t for row in self.made for t in row}.union(self.inputs)
        last.update((tensor, len(self.order)) for tensor in self.graph.outputs if tensor in made)
        return {tensor: at for tensor, at in last.items() if tensor in made}

    def _where(self, number: int) -> int:
        """Position of the node, or of the node of this graph whose body holds it; -1 for none."""
        while number >= 0:
            at = self.position.get(number)
            if at is not None:
                return at
            number = self.model.graphs[self.model.nodes[number].graph].parent_node
        return -1

    def simple(self, size: Sequence[int], bodies: Sequence[int]) -> _Peak:
        """Every output has its own memory. ``bodies[g]`` is the peak inside graph ``g``."""
        peak = _Peak()
        live = sum(size[t] for t in self.inputs)
        peak.see(live, -1)
        held = set(self.inputs)
        for node, made, dead in zip(self.order, self.made, self.dead, strict=True):
            if node.subgraphs:
                peak.inside(live, node, bodies)
            for tensor in made:
                live += size[tensor]
            held.update(made)
            peak.see(live, node.id)
            for tensor in dead:
                if tensor in held:  # not yet made: only in a graph with a circle
                    live -= size[tensor]
        return peak

    def inplace(self, size: Sequence[int], bodies: Sequence[int]) -> _Peak:
        """Views share memory, elementwise operators reuse what dies."""
        owner = {tensor: tensor for tensor in self.inputs}
        """Tensor → the tensor whose memory it uses."""
        users = dict.fromkeys(self.inputs, 1)
        """Memory (by its first tensor) → living tensors in it."""
        feeds = frozenset(self.inputs)
        peak = _Peak()
        live = sum(size[t] for t in self.inputs)
        peak.see(live, -1)
        for at, node in enumerate(self.order):
            if node.subgraphs:
                peak.inside(live, node, bodies)
            host = self._host(node, at, owner, users, feeds, size)
            for tensor in self.made[at]:
                if host < 0 or tensor != node.outputs[0]:
                    owner[tensor] = tensor
                    users[tensor] = 1
                    live += size[tensor]
                else:
                    owner[tensor] = host
                    users[host] += 1
            peak.see(live, node.id)
            for tensor in self.dead[at]:
                memory = owner.get(tensor, -1)
                if memory < 0:
                    continue
                users[memory] -= 1
                if not users[memory]:
                    live -= size[memory]
        return peak

    def _host(
        self,
        node: Node,
        at: int,
        owner: dict[int, int],
        users: dict[int, int],
        feeds: frozenset[int],
        size: Sequence[int],
    ) -> int:
        """The memory that output 0 can take over, -1 for memory of its own."""
        if node.domain or not node.outputs:
            return -1
        if node.op_type in SHARES_INPUT:
            return owner.get(node.inputs[0], -1) if node.inputs else -1
        if node.op_type in OVERWRITES:
            for tensor in node.inputs:
                host = owner.get(tensor, -1)
                if host < 0 or users[host] != 1 or host in feeds or self.last.get(tensor) != at:
                    continue
                if size[tensor] == size[node.outputs[0]]:
                    return host
        return -1


def _is_constant(node: Node) -> bool:
    return node.op_type == "Constant" and not node.domain
