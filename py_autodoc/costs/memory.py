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
    simple = inplace = _Peak(0, -1, 0)
    for graph in reversed(model.graphs):  # a body comes after what holds it
        plan = _Plan(model, graph)
        simple = plan.sweep(size, bodies_simple, share=False)
        inplace = plan.sweep(size, bodies_inplace, share=True)
        bodies_simple[graph.id] = simple.bytes
        bodies_inplace[graph.id] = inplace.bytes
    return PeakMemory(
        simple.bytes, inplace.bytes, simple.node, inplace.node, simple.alone, inplace.alone
    )  # fmt: skip


def _unsized(model: Model, table: Sequence[int | None]) -> str:
    """Why the peak cannot be told: the first activation without a size, else empty."""
    for tensor in model.tensors:
        if table[tensor.id] is None and tensor.kind not in (TensorKind.INITIALIZER, TensorKind.CONSTANT):
            return f"the size of {tensor.name or f'tensor {tensor.id}'} is not known"
    return ""


@dataclass(frozen=True, slots=True)
class _Peak:
    bytes: int
    node: int
    alone: int
    """Without bodies."""


class _Plan:
    """Who uses what until when, in one graph."""

    def __init__(self, model: Model, graph: SubGraph) -> None:
        self.model = model
        self.graph = graph
        self.inputs = [t for t in graph.inputs if model.tensors[t].kind != TensorKind.INITIALIZER]
        self.order = [n for n in (model.nodes[i] for i in graph.nodes) if not _is_constant(n)]
        self.position = {node.id: i for i, node in enumerate(self.order)}
        self.last: dict[int, int] = {}
        """Tensor → position of its last use; the number of nodes for outputs; absent when unused."""
        self.dying: list[list[int]] = [[] for _ in self.order]
        end = len(self.order)
        outputs = set(graph.outputs)
        for tensor in (*self.inputs, *(t for n in self.order for t in n.outputs if t >= 0)):
            uses = [p for p in map(self._where, model.tensors[tensor].consumers) if p >= 0]
            if tensor in outputs:
                self.last[tensor] = end
            elif uses:
                self.last[tensor] = max(uses)
                self.dying[self.last[tensor]].append(tensor)
        self._kept_by_bodies()

    def _where(self, number: int) -> int:
        """Position of the node, or of the node of this graph whose body holds it; -1 for none."""
        while number >= 0:
            node = self.model.nodes[number]
            if node.graph == self.graph.id:
                return self.position.get(number, -1)
            number = self.model.graphs[node.graph].parent_node
        return -1

    def _kept_by_bodies(self) -> None:
        """A body that returns a tensor of this graph uses it."""
        for node in self.order:
            for _, body in node.subgraphs:
                here = self.position[node.id]
                for tensor in self.model.graphs[body].outputs:
                    if self.model.tensors[tensor].graph == self.graph.id and self.last.get(tensor, -1) < here:
                        if tensor in self.last:
                            self.dying[self.last[tensor]].remove(tensor)
                        self.last[tensor] = here
                        self.dying[here].append(tensor)

    def sweep(self, size: Sequence[int], bodies: Sequence[int], share: bool) -> _Peak:
        """Run the nodes in order; ``bodies[g]`` is the peak inside graph ``g``."""
        owner: dict[int, int] = {}
        """Tensor → the tensor whose memory it uses."""
        users: dict[int, int] = {}
        """Memory (by its first tensor) → living tensors in it."""
        live = peak = alone = 0
        where = -1
        feeds = set(self.inputs)
        for tensor in self.inputs:
            owner[tensor] = tensor
            users[tensor] = 1
            live += size[tensor]
        peak = alone = live
        for at, node in enumerate(self.order):
            inside = max((bodies[body] for _, body in node.subgraphs), default=0)
            if live + inside > peak:
                peak, where = live + inside, node.id
            for place, tensor in enumerate(node.outputs):
                if tensor < 0:
                    continue
                host = self._host(node, tensor, at, owner, users, feeds, size) if share and not place else -1
                if host < 0:
                    host = tensor
                    users[host] = 0
                    live += size[tensor]
                owner[tensor] = host
                users[host] += 1
            alone = max(alone, live)
            if live > peak:
                peak, where = live, node.id
            dead = self.dying[at] + [t for t in node.outputs if t >= 0 and t not in self.last]
            for tensor in dead:
                host = owner.get(tensor, -1)
                if host < 0:  # made later: only in a graph with a circle
                    continue
                users[host] -= 1
                if not users[host]:
                    live -= size[host]
        return _Peak(peak, where, alone)

    def _host(
        self,
        node: Node,
        made: int,
        at: int,
        owner: dict[int, int],
        users: dict[int, int],
        feeds: set[int],
        size: Sequence[int],
    ) -> int:
        """The memory that output 0 can take over, -1 for memory of its own."""
        if node.domain:
            return -1
        if node.op_type in SHARES_INPUT:
            return owner.get(node.inputs[0], -1) if node.inputs else -1
        if node.op_type in OVERWRITES:
            for tensor in node.inputs:
                host = owner.get(tensor, -1)
                if host < 0 or host in feeds or users[host] != 1:
                    continue
                if self.last.get(tensor) == at and size[tensor] == size[made]:
                    return host
        return -1


def _is_constant(node: Node) -> bool:
    return node.op_type == "Constant" and not node.domain
