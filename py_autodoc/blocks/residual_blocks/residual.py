"""Residual connections: joins of a path with its own source.

Source: He et al., Deep Residual Learning, 2016; Identity Mappings (pre-activation), 2016; Srivastava et
al., Highway Networks, 2015; Huang et al., DenseNet, 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from py_autodoc.blocks.dataflow.bounded_reachability import BackwardSearch, SearchBudget
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import CONV, COPY_OPS, NORMS, make_block, weighted_nodes
from py_autodoc.blocks.residual_blocks.residual_joins import JOINS, ResidualJoin, joins, learned_constants
from py_autodoc.blocks.residual_blocks.residual_shortcut import UPWARD, ShortcutSource, candidates, same_value
from py_autodoc.blocks.results import Fact, RecognisedBlock

_NORMS = frozenset(NORMS) | {"ReduceMean", "ReduceL2"}
"""Operators that normalize, or start a decomposed normalization."""


def find_residuals(flow: DataflowGraph) -> list[RecognisedBlock]:
    """Return blocks of kind ``residual``: anchor is the join, nodes lie between the source and the join.

    Variants: plain, pre-activation, concat, gated, subtractive. Facts: skip (``identity``,
    ``projection``, ``scaled`` or ``pooled``), weighted (operators with weights on the long path), gate
    (``complement``, ``branch`` or ``skip`` where the join is gated).
    """
    return _Finder(flow).run()


class _ResidualMatch(NamedTuple):
    """A join, its source and its two paths."""

    source: int
    short: tuple[int, ...]
    projected: int
    path: tuple[int, ...]
    weighted: int
    path_operand: int


class _Finder:
    def __init__(self, flow: DataflowGraph) -> None:
        self.flow = flow
        self.budget = SearchBudget(flow)
        self.live = learned_constants(flow)
        self.weighty = weighted_nodes(flow)
        self.upward = frozenset(flow.of(UPWARD))
        self.convolves = bool(flow.of(CONV))
        self.sources: dict[int, int] = {}
        """Join (except Concat) → its source."""

    def run(self) -> list[RecognisedBlock]:
        blocks: dict[int, RecognisedBlock] = {}
        for number in self.flow.of(JOINS):
            for join in joins(self.flow, number, self.live):
                match = self._concat(join) if join.form == "concat" else self._match(join)
                if match is None:
                    continue
                if join.form != "concat":
                    self.sources[number] = match.source
                for inner in join.inner:
                    # The difference inside an interpolation is not a separate join.
                    blocks.pop(inner, None)
                blocks[number] = self._as_block(join, match)
                break
        return list(blocks.values())

    def _match(self, join: ResidualJoin) -> _ResidualMatch | None:
        """Find the nearest common source of the two operands that forms a residual."""
        flow, (a, b) = self.flow, join.operands
        searches: list[BackwardSearch | None] = [None, None]
        for index, candidate in _nearest(candidates(flow, a), candidates(flow, b)):
            source = same_value(flow, candidate.tensor)
            search = searches[index]
            if search is None:
                search = searches[index] = BackwardSearch(flow, (a if index else b,), self.budget)
            if search.reaches(source, self._producer_position(candidate.tensor)):
                return self._check_paths(join, candidate, search, a if index else b)
        return None

    def _check_paths(
        self, join: ResidualJoin, candidate: ShortcutSource, search: BackwardSearch, path_operand: int
    ) -> _ResidualMatch | None:
        """Return a match if the long path has more weights and no other residual enters it."""
        flow = self.flow
        source = same_value(flow, candidate.tensor)
        path = search.between(source)
        weighted = self._weights(path) + (join.operand_weights if path_operand == join.operands[0] else 0)
        if weighted <= candidate.weights or len(flow.model.tensors[path_operand].consumers) > 1:
            return None
        if join.operand_weights and path_operand != join.operands[0]:
            return None
        if not self.upward.isdisjoint(path) and self.upward.isdisjoint(candidate.steps):
            # Downsampling and upsampling: a merge of two resolutions, not a residual block.
            return None
        if not self._residuals_are_inside(path, source):
            return None
        return _ResidualMatch(
            candidate.tensor, candidate.steps, candidate.weights, tuple(path), weighted, path_operand
        )

    def _residuals_are_inside(self, path: list[int], source: tuple[int, ...]) -> bool:
        """True if every residual on the path starts on it, or at the source.

        Distinguishes a skip from a position embedding or memory that is added in every layer.
        """
        inside, sources, producers = set(path), self.sources, self.flow.producers
        for number in sources.keys() & inside:
            begins = sources[number]
            if begins not in source and producers[begins] not in inside:
                return False
        return True

    def _weights(self, path: list[int]) -> int:
        """Count the operators with weights among these nodes."""
        return len(self.weighty.intersection(path))

    def _concat(self, join: ResidualJoin) -> _ResidualMatch | None:
        """Match a tensor concatenated, along the channels, with a result computed from it."""
        flow = self.flow
        bases = {t: flow.back(t, COPY_OPS) for t in join.operands}
        order = sorted(join.operands, key=lambda t: -self._producer_position(bases[t]))
        # Only later tensors can be computed from an operand.
        search = BackwardSearch(flow, order[:1], self.budget)
        for tensor in order[1:]:
            if search.reaches([bases[tensor]], self._producer_position(bases[tensor])):
                path = search.between([bases[tensor]])
                weighted = self._weights(path)
                upward = not self.upward.isdisjoint(path)
                if not weighted or upward or (join.sequence and not self._convolves(path)):
                    return None
                return _ResidualMatch(bases[tensor], (), 0, tuple(path), weighted, order[0])
        return self._partial_concat(join, bases) if self.convolves and len(join.operands) == 2 else None

    def _sliced_tensor(self, tensor: int) -> int:
        """Return the tensor of which ``tensor`` is a channel slice; -1 if none."""
        flow = self.flow
        number = flow.producers[tensor]
        if flow.op_types[number] not in ("Split", "Slice") or not flow.nodes[number].inputs:
            return -1
        source = flow.nodes[number].inputs[0]
        shape, source_shape = flow.shapes[tensor], flow.shapes[source]
        if shape is None or source_shape is None or len(shape) != len(source_shape):
            return -1
        differ = [axis for axis, (a, b) in enumerate(zip(shape, source_shape, strict=True)) if a != b]
        return source if differ in ([1], [len(shape) - 1]) else -1

    def _partial_concat(self, join: ResidualJoin, bases: dict[int, int]) -> _ResidualMatch | None:
        """Match some channels of a tensor concatenated with a result computed from its other channels."""
        flow = self.flow
        sources = [source for base in bases.values() if (source := self._sliced_tensor(base)) >= 0]
        if len(sources) != 1:
            return None
        passed = next(t for t in join.operands if self._sliced_tensor(bases[t]) == sources[0])
        path_operand = next(t for t in join.operands if t != passed)
        search = BackwardSearch(flow, [path_operand], self.budget)
        if not search.reaches([sources[0]], self._producer_position(sources[0])):
            return None
        path = search.between([sources[0]])
        weighted = self._weights(path)
        if not weighted or not self._convolves(path) or not self.upward.isdisjoint(path):
            return None
        cut = flow.producers[bases[passed]]
        return _ResidualMatch(sources[0], (cut,), 0, tuple(path), weighted, path_operand)

    def _convolves(self, path: list[int]) -> bool:
        return any(self.flow.op_types[n] in CONV for n in path)

    def _producer_position(self, tensor: int) -> int:
        producer = self.flow.producers[tensor]
        return self.flow.position[producer] if producer >= 0 else -1

    def _as_block(self, join: ResidualJoin, match: _ResidualMatch) -> RecognisedBlock:
        flow = self.flow
        skip = self._skip(match)
        gate = join.gate or self._gate(match)
        facts: dict[str, Fact] = {"skip": skip, "weighted": match.weighted}
        if gate:
            facts["gate"] = gate
        variant = "plain"
        if join.form in ("concat", "subtractive"):
            variant = join.form
        elif gate:
            variant = "gated"
        elif self._normalized_first(match):
            variant = "pre-activation"
        confidence = (1.0 if join.shapes else 0.8) - (0.0 if skip == "identity" else 0.1)
        nodes = {join.node, *join.nodes, *match.short, *match.path}
        return make_block(
            flow, "residual", nodes, join.node, variant=variant, confidence=round(confidence, 2), facts=facts
        )

    def _skip(self, match: _ResidualMatch) -> str:
        names = {self.flow.op_types[n] for n in match.short}
        if match.projected:
            return "projection"
        if names & {"Mul", "Div"}:
            return "scaled"
        return "pooled" if any("Pool" in name for name in names) else "identity"

    def _gate(self, match: _ResidualMatch) -> str:
        """Return ``branch`` if a learned factor scales the long path, ``skip`` if it scales the short one."""
        flow = self.flow
        if not match.projected:
            for number in match.short:
                if flow.op_types[number] == "Mul" and self._learned(flow.constant_inputs[number]):
                    return "skip"
        number = flow.producers[flow.back(match.path_operand, COPY_OPS)]
        if flow.op_types[number] == "Mul" and len(flow.data_inputs[number]) == 1:
            factor = flow.constant_inputs[number]
            if factor and self._learned(factor) and self._is_single(factor[0]):
                return "branch"
        return ""

    def _learned(self, factors: list[int]) -> bool:
        """True for a constant with a rank, or a computed one; a number literal in code has no rank."""
        return any(self.flow.shapes[t] != () or self.flow.producers[t] >= 0 for t in factors)

    def _is_single(self, tensor: int) -> bool:
        shape = self.flow.shapes[tensor]
        return shape is not None and all(size == 1 for size in shape)

    def _normalized_first(self, match: _ResidualMatch) -> bool:
        """True if the long path normalizes the source before any weights."""
        flow, nodes = self.flow, self.flow.nodes
        normed = set(same_value(flow, match.source)) - {match.source}
        raw = {match.source}
        for number in match.path:
            node = nodes[number]
            reads_raw = not raw.isdisjoint(node.inputs)
            if number in self.weighty:
                return not reads_raw
            outputs = [t for t in node.outputs if t >= 0]
            if flow.op_types[number] in _NORMS or not normed.isdisjoint(node.inputs):
                normed.update(outputs)
            elif reads_raw:
                raw.update(outputs)
        return False


def _nearest(
    first: Iterator[ShortcutSource], second: Iterator[ShortcutSource]
) -> Iterator[tuple[int, ShortcutSource]]:
    """Merge two sides into (side, candidate): fewest weights first, then fewest steps, then the first side.

    Each side must be in this order.
    """
    a, b = next(first, None), next(second, None)
    while a is not None or b is not None:
        if b is None or (a is not None and (a.weights, len(a.steps)) <= (b.weights, len(b.steps))):
            assert a is not None
            yield 0, a
            a = next(first, None)
        else:
            yield 1, b
            b = next(second, None)
