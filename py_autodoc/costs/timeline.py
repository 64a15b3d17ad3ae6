"""Memory over time: the curve, the live tensors at the peak, and the lifetime of each tensor.

A step is the execution of one node of the main graph, Constant nodes excluded, in the model's execution
order; another topological order of the same nodes may need more or less memory. The peak of a subgraph is
added to the step of its node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from py_autodoc.costs.liveness import NEVER_LIVE, Liveness, LivenessSweep, PeakMemory, liveness
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Model, TypeTable

RANDOM = frozenset({"Bernoulli", "Multinomial", "RandomNormalLike", "RandomUniformLike"})
"""Operators with inputs whose result is random."""
_PURE = ("", "com.microsoft")
MAX_POINTS = 256
"""Maximum points of a curve for display: see ``Timeline.points``."""


@dataclass(frozen=True, slots=True)
class LiveBlock:
    """A block of memory in use at one step.

    ``bytes`` is its size, ``tensor`` its content at that step: the latest tensor, if views share it or an
    operator has overwritten it. ``first`` and ``last`` are the lifetime of that tensor, in
    steps of its own graph (``graph``), inclusive; -1 is before the first step.
    """

    tensor: int
    bytes: int
    producer: int
    """Node id, -1 for an input."""
    first: int
    last: int
    graph: int
    sharing: int = 1
    """Number of live tensors in it."""
    folded: bool = False
    """Computed from constants only: a runtime may do that once, before the first inference."""


@dataclass(frozen=True, slots=True)
class PeakSnapshot:
    """Live memory at a peak, largest first; the bytes add up to ``bytes``.

    ``nodes`` locates it: the node of the main graph, then the node inside its subgraph and so on, as deep as
    the peak is; empty if the peak is before the first step.
    """

    bytes: int
    step: int
    nodes: tuple[int, ...]
    live: tuple[LiveBlock, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Memory of one inference. Lists are by step; byte lists are empty if a size is unknown."""

    peak: PeakMemory
    nodes: list[int]
    """Node of each step."""
    simple: list[int]
    """Live bytes while the node runs, with separate memory for every output."""
    inplace: list[int]
    """The same with shared views and in-place reuse."""
    bodies: dict[int, tuple[int, int]]
    """Step → bytes that the costliest subgraph of its node adds (simple, in place)."""
    start: int
    """Bytes of the inputs before the first step."""
    first: list[int]
    """By tensor id: first live step, in its own graph; -1 before the first, -2 never."""
    last: list[int]
    """By tensor id: last live step, inclusive."""
    memory: dict[int, int]
    """Tensor → the tensor whose memory it reuses in place."""
    at_simple_peak: PeakSnapshot | None
    at_peak: PeakSnapshot | None
    """In place."""

    @property
    def steps(self) -> int:
        """Number of nodes of the main graph that run."""
        return len(self.nodes)

    def points(self, most: int = MAX_POINTS) -> list[int]:
        """Return at most ``most`` steps of the curve that keep its maxima.

        The steps are divided into ``most // 2`` ranges of equal length. Each range keeps its first step with
        the largest simple value and its first with the largest in-place value. Both peaks are kept.
        """
        steps = len(self.simple)
        if steps <= most:
            return list(range(steps))
        runs = max(1, most // 2)
        selected: set[int] = set()
        for run in range(runs):
            span = range(run * steps // runs, (run + 1) * steps // runs)
            selected.add(max(span, key=self.simple.__getitem__))
            selected.add(max(span, key=self.inplace.__getitem__))
        return sorted(selected)


def timeline(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> Timeline:
    """Return memory over the execution of one inference. Linear in the size of the graph."""
    table = sizes or TensorSizes(model, types)
    live = liveness(model, types, table)
    has_curve = bool(live.simple)
    simple = live.simple[0] if has_curve else LivenessSweep()
    inplace = live.inplace[0] if has_curve else LivenessSweep()
    peaks = _Peaks(model, live, [n or 0 for n in table.bytes]) if has_curve else None
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
        at_simple_peak=peaks.snapshot(live.simple, {}) if peaks else None,
        at_peak=peaks.snapshot(live.inplace, live.memory) if peaks else None,
    )


def constant_results(model: Model) -> frozenset[int]:
    """Return tensors computed only from constants, excluding random, unknown and control-flow operators."""
    nodes = model.nodes
    constant = {tensor.id for tensor in model.tensors if tensor.is_constant}
    constant.add(-1)  # an omitted input
    folded: set[int] = set()
    for graph in model.graphs:  # a subgraph comes after its owner
        for number in graph.nodes:
            node = nodes[number]
            if not constant.issuperset(node.inputs):
                continue
            if node.subgraphs or not node.inputs or node.domain not in _PURE or node.op_type in RANDOM:
                continue
            folded.update(t for t in node.outputs if t >= 0)
            constant.update(node.outputs)
    return frozenset(folded)


class _Peaks:
    """Lists the live memory at the peak of a sweep."""

    def __init__(self, model: Model, live: Liveness, size: Sequence[int]) -> None:
        self.model = model
        self.live = live
        self.size = size
        self.folded = constant_results(model)

    def snapshot(self, sweeps: Sequence[LivenessSweep], memory: Mapping[int, int]) -> PeakSnapshot:
        """Return the live memory in the main graph, and in the subgraphs that contain the peak."""
        blocks: list[LiveBlock] = []
        nodes: list[int] = []
        graph = 0
        while graph >= 0:
            sweep = sweeps[graph]
            # A subgraph runs before the outputs of its node exist.
            last_produced = sweep.step if sweep.body < 0 else sweep.step - 1
            blocks.extend(self._live_blocks(graph, last_produced, sweep.step, memory))
            if sweep.step >= 0:
                nodes.append(sweep.node)
            graph = sweep.body
        blocks.sort(key=lambda item: (-item.bytes, item.graph, item.first, item.tensor))
        return PeakSnapshot(sweeps[0].bytes, sweeps[0].step, tuple(nodes), tuple(blocks))

    def _live_blocks(
        self, graph: int, last_produced: int, needed: int, memory: Mapping[int, int]
    ) -> Iterator[LiveBlock]:
        """Yield memory of one graph: produced up to step ``last_produced``, needed at ``needed`` or later."""
        first, last, all_tensors = self.live.first, self.live.last, self.model.tensors
        tensors_by_buffer: dict[int, list[int]] = {}
        for tensor, (begins, ends) in enumerate(zip(first, last, strict=True)):
            if (
                begins <= last_produced
                and ends >= needed
                and begins != NEVER_LIVE
                and all_tensors[tensor].graph == graph
            ):
                tensors_by_buffer.setdefault(memory.get(tensor, tensor), []).append(tensor)
        for buffer, tensors in tensors_by_buffer.items():
            youngest = max(tensors, key=lambda tensor: (first[tensor], tensor))
            yield LiveBlock(
                tensor=youngest,
                bytes=self.size[buffer],
                producer=self.model.tensors[youngest].producer,
                first=first[youngest],
                last=last[youngest],
                graph=graph,
                sharing=len(tensors),
                folded=youngest in self.folded,
            )
