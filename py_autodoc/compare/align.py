"""Structural alignment of two models: corresponding nodes, changes, and nodes without a counterpart.

Both graphs are contracted to core operators (``units``), paired by operator and surroundings (``pairing``),
and each pair is examined for changes (``changes``). Names only decide between equal candidates. A float model
shares all core operators with its quantized, converted or fused variants.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from py_autodoc.compare.boundary import pair_boundary_nodes
from py_autodoc.compare.changes import Change, ComparedSide, Detail, bits, changes
from py_autodoc.compare.file_facts import PRODUCER, file_facts
from py_autodoc.compare.interface import interface
from py_autodoc.compare.meaning import PRODUCTS
from py_autodoc.compare.merge import groups
from py_autodoc.compare.pairing import pair_units
from py_autodoc.compare.run_difference import RunDifference
from py_autodoc.compare.units import ContractedGraph, contract
from py_autodoc.compare.wiring import changed_inputs, changed_output_sources
from py_autodoc.graph.ir.gc_pause import gc_paused
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.report.builders.node_numbers import per_inference
from py_autodoc.report.pipeline.analysis import Analysis

SAME = 0.98
"""Score from which two models have the same architecture."""
SIMILAR = 0.5
_SIMILAR_PAIRED = 0.9
"""Share of paired core operators from which two models are similar, whatever their dimensions."""


class AlignmentVerdict(str, Enum):
    """Relation between two models."""

    SAME = "same architecture"
    SIMILAR = "similar architecture"
    DIFFERENT = "different architectures"


@dataclass(frozen=True, slots=True)
class Pair:
    """Nodes of the left and of the right model that do the same work; ids ascending."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    core: str
    """The operator that both compute: ``Conv`` for a QLinearConv."""
    details: tuple[Detail, ...]
    units: tuple[tuple[int, int], ...] = ()
    """Its core operators as pairs (left unit, right unit)."""

    @property
    def changes(self) -> Change:
        """The kinds of changes as bits."""
        return bits(list(self.details))


@dataclass(frozen=True, slots=True)
class Alignment:
    """All pairs. A node is in at most one pair; constants are in none."""

    sides: tuple[ComparedSide, ComparedSide]
    pairs: tuple[Pair, ...]
    only_left: tuple[int, ...]
    only_right: tuple[int, ...]
    units: tuple[int, int]
    """Core operators of each model."""
    matched: int
    """Pairs of core operators."""
    score_macs: float | None
    """Twice the MACs of matched nodes over those of both models; None if no MACs are known."""
    score_nodes: float
    """The same, counting core operators."""
    verdict: AlignmentVerdict
    products_only: tuple[int, int]
    """Matrix products and convolutions without a counterpart, by side."""
    interface: tuple[Detail, ...] = ()
    """Changes of the graph's declared inputs and outputs."""
    file: tuple[Detail, ...] = ()
    """Statements of the files that differ: opset, labels, preprocessing, licence, producer."""
    weights_read: bool = False
    """True if the values of weights were compared."""
    run: RunDifference | None = None
    """How far the outputs are apart, if both models ran."""

    @property
    def same(self) -> bool:
        """True if no difference was found; another producer is none."""
        ran_alike = self.run is None or self.run.same
        return self.same_graph and ran_alike and not any(detail.what != PRODUCER for detail in self.file)

    @property
    def same_graph(self) -> bool:
        """True if the graphs with their inputs and outputs do not differ, as far as they were compared."""
        return not (
            self.only_left or self.only_right or self.interface or any(pair.details for pair in self.pairs)
        )

    def columns(self) -> tuple[list[int], list[int], list[int]]:
        """Per node of the left and the right model: its pair, or -1. Per pair: the bits of its changes."""
        columns = tuple([-1] * len(side.model.nodes) for side in self.sides)
        for number, pair in enumerate(self.pairs):
            for column, nodes in zip(columns, (pair.left, pair.right), strict=True):
                for node in nodes:
                    column[node] = number
        return columns[0], columns[1], [int(pair.changes) for pair in self.pairs]


def align(
    left: Analysis,
    right: Analysis,
    contents: tuple[dict[int, Hashable], dict[int, Hashable]] | None = None,
) -> Alignment:
    """Align two models in nearly linear time: 10,000 nodes per side take less than 2 s.

    ``contents`` maps nodes to keys of their weights' values, if these were read: equal keys mean equal
    weights, which take precedence over everything else.
    """
    with gc_paused():
        return _align(left, right, contents)


def _align(
    left: Analysis,
    right: Analysis,
    contents: tuple[dict[int, Hashable], dict[int, Hashable]] | None,
) -> Alignment:
    graphs = tuple(contract(analysis.model, analysis.types) for analysis in (left, right))
    sides = ComparedSide(left, graphs[0]), ComparedSide(right, graphs[1])
    keys = None
    if contents is not None:
        keys = _content_keys(graphs[0], contents[0]), _content_keys(graphs[1], contents[1])
    to_right = pair_units(
        graphs[0],
        graphs[1],
        (_exact_keys(sides[0]), _exact_keys(sides[1])),
        (_names(sides[0]), _names(sides[1])),
        (_weight_names(sides[0]), _weight_names(sides[1])),
        keys,
    )
    boundary_pairs = pair_boundary_nodes(sides, to_right)
    input_changes = changed_inputs(sides, to_right)
    pairs = [_pair(sides, group, boundary_pairs, input_changes) for group in groups(sides, to_right)]
    pairs += [Pair((a,), (b,), sides[0].node(a).op_type, ()) for a, b in boundary_pairs]
    pairs.sort(key=lambda pair: pair.left)
    matched_nodes = [{n for pair in pairs for n in (pair.left, pair.right)[side]} for side in (0, 1)]
    only = [
        tuple(n for n, owners in enumerate(graph.owner) if owners and n not in matched)
        for graph, matched in zip(graphs, matched_nodes, strict=True)
    ]
    score, nodes = _scores(sides, to_right)
    to_left = _inverse(to_right, len(graphs[1].units))
    unmatched_products = _unmatched_products(graphs[0], to_right), _unmatched_products(graphs[1], to_left)
    return Alignment(
        sides=sides,
        pairs=tuple(pairs),
        only_left=only[0],
        only_right=only[1],
        units=(len(graphs[0].units), len(graphs[1].units)),
        matched=sum(counterpart >= 0 for counterpart in to_right),
        score_macs=score,
        score_nodes=nodes,
        verdict=_verdict(
            nodes if score is None else score,
            any(unmatched_products) or bool(input_changes),
            _paired_share(graphs, to_right),
        ),
        products_only=unmatched_products,
        interface=(*interface(*sides), *changed_output_sources(sides, to_right)),
        file=file_facts(left.model, right.model),
    )


def _pair(
    sides: tuple[ComparedSide, ComparedSide],
    group: tuple[tuple[tuple[int, int], ...], tuple[int, ...], tuple[int, ...]],
    boundary_pairs: Sequence[tuple[int, int]],
    input_changes: Mapping[int, Detail],
) -> Pair:
    """Build a pair from one or, for fused nodes, several core operators."""
    unit_pairs, left, right = group
    boundary_nodes = {a for a, _ in boundary_pairs}, {b for _, b in boundary_pairs}
    details: list[Detail] = []
    units = sides[0].graph.units, sides[1].graph.units
    for left_unit, right_unit in unit_pairs:
        details += changes(sides[0], units[0][left_unit], sides[1], units[1][right_unit])
        if left_unit in input_changes:
            details.append(input_changes[left_unit])
    if len(unit_pairs) > 1:
        details = _merge_details(sides, unit_pairs, details)
    cores = dict.fromkeys(units[0][left_unit].core for left_unit, _ in unit_pairs)
    return Pair(
        tuple(n for n in left if n not in boundary_nodes[0]),
        tuple(n for n in right if n not in boundary_nodes[1]),
        " + ".join(cores),
        tuple(details),
        unit_pairs,
    )


def _merge_details(
    sides: tuple[ComparedSide, ComparedSide], unit_pairs: tuple[tuple[int, int], ...], details: list[Detail]
) -> list[Detail]:
    """Collect the changes of a fused node: the fusion itself once, the others unchanged."""
    work: list[list[str]] = []
    for index, side in enumerate(sides):
        units = [side.graph.units[pair[index]] for pair in unit_pairs]
        nodes = dict.fromkeys(n for unit in units for n in unit.nodes[: unit.work])
        work.append([side.node(n).op_type for n in nodes])
    merged = [
        detail
        for detail in dict.fromkeys(details)
        if not (detail.kind is Change.FUSED and detail.what == "nodes")
    ]
    if work[0] != work[1]:
        merged.append(Detail(Change.FUSED, "nodes", " + ".join(work[0]), " + ".join(work[1])))
    return merged


def _exact_keys(side: ComparedSide) -> list[Hashable]:
    """Return, per unit, everything that may differ between formats of one model."""
    keys: list[Hashable] = []
    output_positions: dict[int, int] = {}
    for position, tensor in enumerate(side.model.graphs[0].outputs):
        producer = side.model.tensors[tensor].producer
        for owner in side.graph.owner[producer] if producer >= 0 else ():
            output_positions.setdefault(owner, position)
    for index, unit in enumerate(side.graph.units):
        node = side.node(unit.node)
        shape = side.shape(unit)
        work = dict.fromkeys((unit.node, *unit.nodes[1 : unit.work]))
        key = tuple(
            sorted(
                (name, _rounded(value)) for number in work for name, value in side.settings(number).items()
            )
        )
        moved = tuple(sorted([side.node(number).op_type for number in unit.moved]))
        additions = unit.activation, tuple(unit.affine), moved, output_positions.get(index, -1)
        keys.append((node.op_type, shape, key, additions))
    return keys


def _rounded(value: object) -> str:
    """Return a setting as text that is the same in all precisions."""
    if isinstance(value, tuple):
        return ",".join(map(_rounded, value))
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def _names(side: ComparedSide) -> list[str]:
    """Return the name of each unit's node, else of its output; empty if several share it."""
    units = side.graph.units
    names = [side.node(u.node).name or (side.model.tensors[u.out].name if u.out >= 0 else "") for u in units]
    return _unique(names)


def _weight_names(side: ComparedSide) -> list[str]:
    """Return the name of each unit's weight, which re-exports keep; empty if several share it."""
    names = []
    for unit in side.graph.units:
        node = side.node(unit.node) if unit.weight and unit.decomposed_into < 2 else None
        tensors = [side.model.tensors[t] for t in node.inputs if t >= 0] if node else []
        names.append(next((t.name for t in tensors if t.kind is TensorKind.INITIALIZER), ""))
    return _unique(names)


def _unique(names: list[str]) -> list[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return [name if counts[name] == 1 else "" for name in names]


def _content_keys(graph: ContractedGraph, contents: dict[int, Hashable]) -> list[Hashable]:
    return [contents.get(unit.node) if unit.decomposed_into < 2 else None for unit in graph.units]


def _inverse(to_right: list[int], count: int) -> list[int]:
    to_left = [-1] * count
    for left_unit, right_unit in enumerate(to_right):
        if right_unit >= 0:
            to_left[right_unit] = left_unit
    return to_left


def _scores(sides: tuple[ComparedSide, ComparedSide], to_right: list[int]) -> tuple[float | None, float]:
    """Return the scores by MACs and by core operators, from counterparts with equal weight dimensions."""
    units = sides[0].graph.units, sides[1].graph.units
    same_weights = [
        right if right >= 0 and units[0][left].weight == units[1][right].weight else -1
        for left, right in enumerate(to_right)
    ]
    matched = same_weights, _inverse(same_weights, len(units[1]))
    total_macs = matched_macs = 0
    for side, counterparts in zip(sides, matched, strict=True):
        for node, owners in enumerate(side.graph.owner):
            macs = per_inference(side.analysis.costs[node]).macs if owners else 0
            if macs and not side.node(node).subgraphs:
                total_macs += macs
                matched_macs += macs if all(counterparts[unit] >= 0 for unit in owners) else 0
    count = len(units[0]) + len(units[1])
    nodes = 2 * sum(counterpart >= 0 for counterpart in same_weights) / count if count else 1.0
    return (matched_macs / total_macs if total_macs else None), nodes


def _unmatched_products(graph: ContractedGraph, to_right: list[int]) -> int:
    return sum(
        counterpart < 0 and bool(unit.weight) and unit.core in PRODUCTS
        for unit, counterpart in zip(graph.units, to_right, strict=True)
    )


def _paired_share(graphs: Sequence[ContractedGraph], to_right: list[int]) -> float:
    """Return the share of core operators with a counterpart, whatever its dimensions."""
    count = sum(len(graph.units) for graph in graphs)
    return 2 * sum(counterpart >= 0 for counterpart in to_right) / count if count else 1.0


def _verdict(score: float, differs: bool, paired_share: float) -> AlignmentVerdict:
    """Return the verdict; nearly fully matched models are similar even if all dimensions differ.

    ``differs``: there are products without a counterpart, or different edges.
    """
    if score >= SAME and not differs:
        return AlignmentVerdict.SAME
    if score >= SIMILAR or paired_share >= _SIMILAR_PAIRED:
        return AlignmentVerdict.SIMILAR
    return AlignmentVerdict.DIFFERENT
