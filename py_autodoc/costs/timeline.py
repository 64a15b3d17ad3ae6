"""Memory over time: the curve, what is alive at the peak, and for how long each tensor lives.

A step is the execution of one node of the main graph, Constant nodes left out, in the order in which the
model runs them; another topological order of the same nodes may need more or less memory. What a body of
control flow needs at most stands on top of its node's step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from py_autodoc.costs.liveness import NEVER, Liveness, LivenessSweep, PeakMemory, liveness
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Model, TypeTable

RANDOM = frozenset({"Bernoulli", "Multinomial", "RandomNormalLike", "RandomUniformLike"})
"""Operators with inputs whose result differs from run to run."""
_PURE = ("", "com.microsoft")
MAX_POINTS = 256
"""Points of a curve that is made for reading: see ``Timeline.points``."""


@dataclass(frozen=True, slots=True)
class Alive:
    """A piece of memory in use at one moment.

    ``bytes`` is its size, ``tensor`` what it holds then: where views share it, or an operator has
    written over it, the youngest tensor. ``first`` and ``last`` are the lifetime of that tensor, in
    steps of its own graph (``graph``), both included; -1 is before the first step.
    """

    tensor: int
    bytes: int
    producer: int
    """Node id, -1 for an input."""
    first: int
    last: int
    graph: int
    sharing: int = 1
    """Living tensors in it."""
    folded: bool = False
    """Computed from constants alone: a runtime may do that once, before the first inference."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What is alive at a peak, largest first; the bytes add up to ``bytes``.

    ``nodes`` is where: the node of the main graph, then the node inside its body and so on, as far as the
    peak stands in a body; empty when the inputs alone are the most.
    """

    bytes: int
    step: int
    nodes: tuple[int, ...]
    alive: tuple[Alive, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Memory of one inference. Lists are by step; those of bytes are empty when a size is unknown."""

    peak: PeakMemory
    nodes: list[int]
    """Node of each step."""
    simple: list[int]
    """Bytes live while the node runs, every output with its own memory."""
    inplace: list[int]
    """The same with views and in-place reuse understood."""
    bodies: dict[int, tuple[int, int]]
    """Step → bytes that the costliest body of its node adds (simple, in place)."""
    start: int
    """Bytes of the inputs before the first step."""
    first: list[int]
    """By tensor id: first step at which it is alive, in its own graph; -1 before the first, -2 never."""
    last: list[int]
    """By tensor id: last step, that one included."""
    memory: dict[int, int]
    """Tensor → the tensor whose memory it takes over in place."""
    at_simple_peak: Moment | None
    at_peak: Moment | None
    """In place."""

    @property
    def steps(self) -> int:
        """Nodes of the main graph that run."""
        return len(self.nodes)

    def points(self, most: int = MAX_POINTS) -> list[int]:
        """Steps of the curve, at most ``most``, that keep its maxima.

        The steps are cut into ``most // 2`` runs of equal length; of each run the first step with the
        largest simple value and the first with the largest in-place value stay. Both peaks stay.
        """
        steps = len(self.simple)
        if steps <= most:
            return list(range(steps))
        runs = max(1, most // 2)
        kept: set[int] = set()
        for run in range(runs):
            span = range(run * steps // runs, (run + 1) * steps // runs)
            kept.add(max(span, key=self.simple.__getitem__))
            kept.add(max(span, key=self.inplace.__getitem__))
        return sorted(kept)


def timeline(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> Timeline:
    """Memory over the execution of one inference. Linear in the size of the graph."""
    table = sizes or TensorSizes(model, types)
    live = liveness(model, types, table)
    known = bool(live.simple)
    simple = live.simple[0] if known else LivenessSweep()
    inplace = live.inplace[0] if known else LivenessSweep()
    peaks = _Peaks(model, live, [n or 0 for n in table.bytes]) if known else None
    return Timeline(
        peak=live.peak,
        nodes=live.order[0],
        simple=simple.curve,
        inplace=inplace.curve,
        bodies={step: (top, inplace.tops[step]) for step, top in simple.tops.items()},
        start=simple.start,
        first=live.first,
        last=live.last,
        memory=live.memory,
        at_simple_peak=peaks.moment(live.simple, {}) if peaks else None,
        at_peak=peaks.moment(live.inplace, live.memory) if peaks else None,
    )


def constant_results(model: Model) -> frozenset[int]:
    """Tensors that are computed from constants alone. Random, unknown and control-flow operators are not."""
    nodes = model.nodes
    known = {tensor.id for tensor in model.tensors if tensor.is_constant}
    known.add(-1)  # an omitted input
    folded: set[int] = set()
    for graph in model.graphs:  # what holds a body comes before it
        for number in graph.nodes:
            node = nodes[number]
            if not known.issuperset(node.inputs):
                continue
            if node.subgraphs or not node.inputs or node.domain not in _PURE or node.op_type in RANDOM:
                continue
            folded.update(t for t in node.outputs if t >= 0)
            known.update(node.outputs)
    return frozenset(folded)


class _Peaks:
    """Lists what is alive at the peak of a way of sweeping."""

    def __init__(self, model: Model, live: Liveness, size: Sequence[int]) -> None:
        self.model = model
        self.live = live
        self.size = size
        self.folded = constant_results(model)

    def moment(self, sweeps: Sequence[LivenessSweep], memory: Mapping[int, int]) -> Moment:
        """What is alive in the main graph, and in the bodies the peak stands in."""
        found: list[Alive] = []
        nodes: list[int] = []
        graph = 0
        while graph >= 0:
            sweep = sweeps[graph]
            # A body runs before its node's own outputs exist.
            made = sweep.step if sweep.body < 0 else sweep.step - 1
            found.extend(self._alive(graph, made, sweep.step, memory))
            if sweep.step >= 0:
                nodes.append(sweep.node)
            graph = sweep.body
        found.sort(key=lambda item: (-item.bytes, item.graph, item.first, item.tensor))
        return Moment(sweeps[0].bytes, sweeps[0].step, tuple(nodes), tuple(found))

    def _alive(self, graph: int, made: int, needed: int, memory: Mapping[int, int]) -> Iterator[Alive]:
        """Memory in use in one graph: made up to step ``made``, needed at step ``needed`` or later."""
        first, last, all_tensors = self.live.first, self.live.last, self.model.tensors
        holds: dict[int, list[int]] = {}
        for tensor, (begins, ends) in enumerate(zip(first, last, strict=True)):
            if begins <= made and ends >= needed and begins != NEVER and all_tensors[tensor].graph == graph:
                holds.setdefault(memory.get(tensor, tensor), []).append(tensor)
        for owner, tensors in holds.items():
            youngest = max(tensors, key=lambda tensor: (first[tensor], tensor))
            yield Alive(
                tensor=youngest,
                bytes=self.size[owner],
                producer=self.model.tensors[youngest].producer,
                first=first[youngest],
                last=last[youngest],
                graph=graph,
                sharing=len(tensors),
                folded=youngest in self.folded,
            )
