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
from dataclasses import dataclass, field

from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Model, Node, SubGraph, TensorKind, TypeTable

VIEW_OPS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Identity", "Flatten", "Dropout"})
"""Output 0 is input 0 under another shape."""

_ELEMENTWISE = (
    "Abs Add BatchNormalization Cast Clip Div Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log "
    "Mul Neg Pow Relu Sigmoid Softmax Softplus Sqrt Sub Tanh Where"
)
INPLACE_OPS = frozenset(_ELEMENTWISE.split())
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


@dataclass(slots=True)
class LivenessSweep:
    """What one pass over the nodes of a graph saw. A step is a position in the graph's own order."""

    bytes: int = 0
    """The peak, bodies on top."""
    step: int = -1
    """Where it stands first, -1 for before the first node."""
    body: int = -1
    """The graph whose own peak is part of it; -1 when it stands outside of any body."""
    node: int = -1
    alone: int = 0
    """The peak with bodies left out."""
    curve: list[int] = field(default_factory=list)
    """Bytes live while the node of each step runs, bodies on top."""
    tops: dict[int, int] = field(default_factory=dict)
    """Step → what its costliest body holds at most."""
    start: int = 0
    """Bytes of the inputs, before the first node."""
    within: int = 0
    """Bytes while the bodies of the node at hand run."""

    def begin(self, live: int) -> None:
        """``live`` bytes before the first node."""
        self.start = self.bytes = self.alone = live

    def see(self, live: int, step: int, node: int) -> None:
        """``live`` bytes once the outputs of ``node`` stand beside what it needs."""
        if live > self.alone:
            self.alone = live
        if live > self.bytes:
            self.bytes, self.step, self.node, self.body = live, step, node, -1
        held, curve = max(live, self.within), self.curve
        curve.append(curve[-1] if curve and curve[-1] == held else held)  # no object for what stays
        self.within = 0

    def inside(self, live: int, step: int, node: Node, bodies: Sequence[int]) -> None:
        """The costliest body of ``node`` on top of ``live`` bytes outside."""
        body = max((graph for _, graph in node.subgraphs), key=bodies.__getitem__)
        self.tops[step] = bodies[body]
        self.within = total = live + bodies[body]
        if total > self.bytes:
            self.bytes, self.step, self.node, self.body = total, step, node.id, body


@dataclass(frozen=True, slots=True)
class Liveness:
    """The sweeps over every graph and how long each tensor lives.

    ``first`` and ``last``, by tensor id, are the steps (positions in the order of the tensor's own
    graph, Constant nodes left out) between which the tensor is alive, both included: ``first`` is -1
    for inputs, ``last`` the last step for what lives until the end (outputs, inputs nobody reads), and
    both are ``NEVER`` for weights.
    """

    peak: PeakMemory
    order: list[list[int]]
    """By graph: the node of each step."""
    first: list[int]
    last: list[int]
    simple: list[LivenessSweep]
    """By graph; empty when a size is unknown."""
    inplace: list[LivenessSweep]
    memory: dict[int, int]
    """Tensor → the tensor whose memory it takes over, for those without memory of their own (in place)."""


NEVER = -2


def peak_activation(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> PeakMemory:
    """Peak activation memory of one inference, in bytes. Linear in the size of the graph."""
    return liveness(model, types, sizes).peak


def liveness(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> Liveness:
    """Who lives when, and how many bytes that takes. Linear in the size of the graph."""
    table = (sizes or TensorSizes(model, types)).bytes
    fault = types.contradiction
    missing = _unsized(model, table) if fault is None else fault.reason
    size = [n or 0 for n in table]
    order: list[list[int]] = [[] for _ in model.graphs]
    simple = [LivenessSweep() for _ in model.graphs]
    inplace = [LivenessSweep() for _ in model.graphs]
    first, last = [NEVER] * len(model.tensors), [NEVER] * len(model.tensors)
    memory: dict[int, int] = {}
    bodies_simple, bodies_inplace = [0] * len(model.graphs), [0] * len(model.graphs)
    for graph in reversed(model.graphs):  # a body comes after what holds it
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
    """Why the peak cannot be told: the first activation without a size, else empty."""
    for tensor in model.tensors:
        if table[tensor.id] is None and not tensor.is_constant:
            return f"the size of {tensor.name or f'tensor {tensor.id}'} is not known"
    return ""


class GraphLifetimes:
    """Who uses what until when, in one graph."""

    def __init__(self, model: Model, graph: SubGraph) -> None:
        self.model = model
        self.graph = graph
        self.inputs = [t for t in graph.inputs if model.tensors[t].kind != TensorKind.INITIALIZER]
        order = [node for node in map(model.nodes.__getitem__, graph.nodes) if not node.is_constant]
        self.order = order
        self.position = {node.id: i for i, node in enumerate(order)}
        self.made = [
            node.outputs if -1 not in node.outputs else tuple([t for t in node.outputs if t >= 0])
            for node in order
        ]
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

    def lifetimes(self, first: list[int], last: list[int]) -> None:
        """Enter the first and last step of this graph's tensors."""
        end = len(self.order) - 1
        for tensor in self.inputs:
            first[tensor], last[tensor] = -1, min(self.last.get(tensor, end), end)
        for at, made in zip(self.position.values(), self.made, strict=True):
            for tensor in made:
                until = min(self.last.get(tensor, at), end)
                # Used before it is made, in a graph with a circle: nothing frees it.
                first[tensor], last[tensor] = at, until if until >= at else end

    def simple(
        self, size: Sequence[int], bodies: Sequence[int], sweep: LivenessSweep | None = None
    ) -> LivenessSweep:
        """Every output has its own memory. ``bodies[g]`` is the peak inside graph ``g``."""
        sweep = sweep or LivenessSweep()
        live = sum(size[t] for t in self.inputs)
        sweep.begin(live)
        held = set(self.inputs)
        for at, (node, made, dead) in enumerate(zip(self.order, self.made, self.dead, strict=True)):
            if node.subgraphs:
                sweep.inside(live, at, node, bodies)
            for tensor in made:
                live += size[tensor]
            held.update(made)
            sweep.see(live, at, node.id)
            for tensor in dead:
                if tensor in held:  # not yet made: only in a graph with a circle
                    live -= size[tensor]
        return sweep

    def inplace(
        self,
        size: Sequence[int],
        bodies: Sequence[int],
        memory: dict[int, int],
        sweep: LivenessSweep | None = None,
    ) -> LivenessSweep:
        """Views share memory, elementwise operators reuse what dies; who takes whose goes to ``memory``."""
        owner = {tensor: tensor for tensor in self.inputs}
        """Tensor → the tensor whose memory it uses."""
        users = dict.fromkeys(self.inputs, 1)
        """Memory (by its first tensor) → living tensors in it."""
        feeds = frozenset(self.inputs)
        sweep = sweep or LivenessSweep()
        live = sum(size[t] for t in self.inputs)
        sweep.begin(live)
        for at, node in enumerate(self.order):
            if node.subgraphs:
                sweep.inside(live, at, node, bodies)
            host = self._host(node, at, owner, users, feeds, size)
            for tensor in self.made[at]:
                if host < 0 or tensor != node.outputs[0]:
                    owner[tensor] = tensor
                    users[tensor] = 1
                    live += size[tensor]
                else:
                    owner[tensor] = memory[tensor] = host
                    users[host] += 1
            sweep.see(live, at, node.id)
            for tensor in self.dead[at]:
                held = owner.get(tensor, -1)
                if held < 0:
                    continue
                users[held] -= 1
                if not users[held]:
                    live -= size[held]
        return sweep

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
        if node.op_type in VIEW_OPS:
            return owner.get(node.inputs[0], -1) if node.inputs else -1
        if node.op_type in INPLACE_OPS:
            for tensor in node.inputs:
                host = owner.get(tensor, -1)
                if host < 0 or users[host] != 1 or host in feeds or self.last.get(tensor) != at:
                    continue
                if size[tensor] == size[node.outputs[0]]:
                    return host
        return -1
