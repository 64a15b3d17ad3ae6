"""Repeats: runs of isomorphic parts, such as the twelve equal layers of an encoder.

They come from sibling modules with equal contents, if the file has module names (``sibling_scopes``), and
from parts grown from similar nodes (``lockstep_growth``). Parts of a repeat have the same operators,
attributes, weight types and shapes, and edges; nothing is compared by hash alone.

A part has at least three nodes, or two of which one has a weight; without names, two with a layer's weight
(at least two dimensions) or eight. Repeats are nested or disjoint; they never overlap partially. Nodes that
no output needs belong to no repeat.
"""

from __future__ import annotations

from py_autodoc.blocks.repetition.canonical_graph import CanonicalGraph, CanonicalGraphs
from py_autodoc.blocks.repetition.isomorphic_run import IsomorphicRun
from py_autodoc.blocks.repetition.lockstep_growth import LockstepGrowth
from py_autodoc.blocks.repetition.sibling_scopes import sibling_runs
from py_autodoc.blocks.results import Repeat
from py_autodoc.graph.ir.model import Model, TypeTable

MAX_REPEATS = 1000
"""Maximum repeats returned, largest first."""
NAMED_PREFERENCE = 3
"""Named modules win over grown parts unless these cover this many times as many nodes."""
Cell = tuple[int, int]


def find_repeats(model: Model, types: TypeTable) -> list[Repeat]:
    """Return the repeats of all graphs of a model, largest first.

    ``members`` include the nodes of subgraphs, after the node that owns the subgraph.
    """
    canonical_graphs = CanonicalGraphs(model, types)
    ranked: list[tuple[int, Repeat]] = []
    for canonical in canonical_graphs.graphs:
        for run in graph_runs(model, canonical):
            part_nodes = [_nodes(canonical_graphs, canonical, part) for part in run.parts]
            members = tuple(map(tuple, _filled(canonical_graphs, part_nodes)))
            ranked.append((run.covers, Repeat(members, run.scopes, run.type)))
    ranked.sort(key=lambda entry: -entry[0])
    return [repeat for _, repeat in ranked[:MAX_REPEATS]]


def _filled(canonical_graphs: CanonicalGraphs, parts: list[list[int]]) -> list[list[int]]:
    """Return the parts with the nodes that fill their weights, each before its only consumer.

    Unchanged if the parts get different numbers of nodes: a weight shared by layers belongs to none.
    """
    if not canonical_graphs.filled:
        return parts
    model = canonical_graphs.model
    fills = []
    for part in parts:
        with_weights: list[int] = []
        for number in part:
            tensors = dict.fromkeys(t for t in model.nodes[number].inputs if t in canonical_graphs.filled)
            weights = [model.tensors[t] for t in tensors]
            with_weights += [t.producer for t in weights if set(t.consumers) == {number}]
            with_weights.append(number)
        fills.append(with_weights)
    ops = {tuple(model.nodes[number].op_type for number in part) for part in fills}
    return fills if len(ops) == 1 else parts


def graph_runs(model: Model, canonical: CanonicalGraph) -> list[IsomorphicRun]:
    """Return the repeats of one graph, outer ones before the nested."""
    named = sibling_runs(model, canonical)
    covered = bytearray(len(canonical.nodes))
    for run in named:
        for part in run.parts:
            for node in part:
                covered[node] = 1
    # If names cover most of the graph, the rest is not a repeat.
    grown = (
        []
        if 2 * sum(covered) >= len(canonical.nodes)
        else LockstepGrowth(canonical).nested(range(len(canonical.nodes)))
    )
    ranked = [(NAMED_PREFERENCE * run.covers, run) for run in named] + [(run.covers, run) for run in grown]
    ranked.sort(key=lambda entry: -entry[0])
    accepted = _without_crossings([run for _, run in ranked], len(canonical.nodes))
    return sorted(accepted, key=lambda run: -run.covers)


def _without_crossings(runs: list[IsomorphicRun], count: int) -> list[IsomorphicRun]:
    """Return runs among ``count`` nodes, each nested in one part of another or disjoint; earlier runs win."""
    cells: list[tuple[Cell, ...]] = [()] * count
    """Node → its parts; nodes in the same parts share the tuple."""
    accepted: list[IsomorphicRun] = []
    for run in runs:
        if not _fits(run, accepted, cells):
            continue
        for number, part in enumerate(run.parts):
            cell = len(accepted), number
            deeper = {path: (*path, cell) for path in {cells[node] for node in part}}
            for node in part:
                cells[node] = deeper[cells[node]]
        accepted.append(run)
    return accepted


def _fits(run: IsomorphicRun, accepted: list[IsomorphicRun], cells: list[tuple[Cell, ...]]) -> bool:
    """True if ``run`` lies in one part of each kept run it meets, or one of its parts contains that run."""
    inside: dict[Cell, int] = {}
    for part in run.parts:
        counts: dict[int, int] = {}
        for node in part:
            for cell in cells[node]:
                inside[cell] = inside.get(cell, 0) + 1
                counts[cell[0]] = counts.get(cell[0], 0) + 1
        # A kept run that is not entirely in this part must contain the whole run, which is checked below.
        for run_index, nodes in counts.items():
            if nodes == accepted[run_index].covers:
                for number in range(len(accepted[run_index].parts)):
                    inside.pop((run_index, number), None)
    return all(nodes == run.covers for nodes in inside.values())


def _nodes(canonical_graphs: CanonicalGraphs, canonical: CanonicalGraph, part: list[int]) -> list[int]:
    """Return the node ids of a part; nodes of a subgraph follow its owner."""
    if len(canonical_graphs.graphs) == 1:
        return [canonical.nodes[position] for position in part]
    model = canonical_graphs.model
    nodes: list[int] = []
    stack = [canonical.nodes[position] for position in reversed(part)]
    while stack:
        number = stack.pop()
        nodes.append(number)
        for _, body in reversed(model.nodes[number].subgraphs):
            stack.extend(reversed(canonical_graphs.graphs[body].nodes))
    return nodes
