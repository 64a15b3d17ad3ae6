"""Repeats without module names, found by growing similar parts in parallel.

Nodes with equal labels are the seeds, one node per part. All parts grow in lockstep, one edge at a time,
as long as every part finds an equal node at the other end of the edge that belongs to no part yet. Growth
ends at nodes that differ, are shared or belong to a neighbour, so the parts are isomorphic and disjoint, and
each extends to the next.

A seed whose neighbours form groups (the layers of an encoder and of a decoder) is split and grown again.
The work is bounded by ``STEPS_PER_NODE`` steps per node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise

from py_autodoc.blocks.repetition.canonical_graph import CanonicalGraph, boundary_links, signature
from py_autodoc.blocks.repetition.isomorphic_run import IsomorphicRun, is_chain_repeat, nodes_between
from py_autodoc.blocks.repetition.part_boundary import rotate_to_best_cut

STEPS_PER_NODE = 60
"""Edges examined in all attempts together, per node of the graph."""
ROUNDS = 6
"""Maximum number of searches, each on the nodes that are not covered yet."""


DEPTH = 3
"""Maximum nesting of repeats. An inner repeat covers at least half of its part."""


class LockstepGrowth:
    """Searches one graph, or a subset of its nodes."""

    def __init__(self, canonical: CanonicalGraph) -> None:
        self.canonical = canonical
        self.free = bytearray(len(canonical.nodes))
        self.part_of = [-1] * len(canonical.nodes)
        self.effort = 0

    def nested(self, nodes: Sequence[int], depth: int = DEPTH) -> list[IsomorphicRun]:
        """Return the repeats among ``nodes``, then those inside their parts."""
        runs = self.search(nodes)
        if depth > 1:
            for run in tuple(runs):
                # The parts are isomorphic, so the first represents all.
                position = {node: number for number, node in enumerate(run.parts[0])}
                for inner in self.nested(run.parts[0], depth - 1):
                    if 2 * inner.covers < len(run.parts[0]):
                        continue
                    columns = [[position[node] for node in part] for part in inner.parts]
                    runs += [
                        IsomorphicRun([[part[index] for index in column] for column in columns])
                        for part in run.parts
                    ]
        return runs

    def search(self, nodes: Sequence[int]) -> list[IsomorphicRun]:
        """Return the chains of isomorphic parts that cover most of ``nodes``, without overlaps."""
        for node in nodes:
            self.free[node] = 1
        self.effort = STEPS_PER_NODE * len(nodes)
        runs = self._rounds(sorted(nodes))
        for node in nodes:
            self.free[node] = 0
        return runs

    def _rounds(self, nodes: list[int]) -> list[IsomorphicRun]:
        runs: list[IsomorphicRun] = []
        for _ in range(ROUNDS):
            candidates = self._candidates(nodes)
            candidates.sort(key=lambda run: (-run.covers, len(run.parts[0]), run.parts[0]))
            accepted = [run for run in candidates if self._is_free(run) and self._closed(run)]
            if not accepted:
                break
            runs += accepted
        return runs

    def _is_free(self, run: IsomorphicRun) -> bool:
        return all(self.free[node] for part in run.parts for node in part)

    def _closed(self, run: IsomorphicRun) -> bool:
        """Claim the nodes of a run. Return False if layers lie between its parts, so that it is not a run.

        The parts of a claimed run are rotated to their best boundary.
        """
        between = nodes_between(self.canonical, run)
        if len(between) >= len(run.parts[0]) * len(run.parts):
            return False
        if any(self.canonical.label[node] in self.canonical.layer_labels for node in between):
            return False
        self._mark(run, 0)
        parts = rotate_to_best_cut(self.canonical, run.parts, lambda node: bool(self.free[node]))
        if parts is not run.parts:
            self._mark(run, 1)
            # Sort columns by the execution order of the first part.
            run.parts = [list(part) for part in zip(*sorted(zip(*parts, strict=True)), strict=True)]
            self._mark(run, 0)
        return True

    def _mark(self, run: IsomorphicRun, free: int) -> None:
        for part in run.parts:
            for node in part:
                self.free[node] = free

    def _candidates(self, nodes: list[int]) -> list[IsomorphicRun]:
        tried: set[tuple[int, ...]] = set()
        runs: list[IsomorphicRun] = []
        queue = deque(self._seeds(nodes))
        while queue and self.effort > 0:
            seed = queue.popleft()
            if seed in tried:
                continue
            columns, groups = self._grow(seed)
            tried.update(columns)
            queue.extendleft(reversed(groups))
            runs += self._runs(columns)
        return runs

    def _seeds(self, nodes: list[int]) -> Iterator[tuple[int, ...]]:
        """Yield nodes with equal labels; labels with a weight and rare labels first."""
        label, weighted = self.canonical.label, self.canonical.weighted_labels
        nodes_by_label: dict[int, list[int]] = {}
        for node in nodes:
            if self.free[node]:
                nodes_by_label.setdefault(label[node], []).append(node)
        order = sorted(
            (same_label for same_label in nodes_by_label.values() if len(same_label) > 1),
            key=lambda same_label: (label[same_label[0]] not in weighted, len(same_label), same_label[0]),
        )
        return (tuple(same_label) for same_label in order)

    def _grow(self, seed: tuple[int, ...]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Return the columns (node k of every part) grown from a seed, and the groups of a split."""
        part_of = self.part_of
        columns = [seed]
        groups: list[tuple[int, ...]] = []
        for number, node in enumerate(seed):
            part_of[node] = number
        for column in columns:  # grows during the loop
            for ends in self._ends(column):
                self.effort -= len(column)
                if self._accept(ends):
                    columns.append(ends)
                elif not groups:
                    groups = self._split(seed, ends)
        for column in columns:
            for node in column:
                part_of[node] = -1
        return columns, groups

    def _ends(self, column: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """For each edge of a column's first node, yield the node at the other end in every part, or -1."""
        canonical, part_of, free, stride = self.canonical, self.part_of, self.free, self.canonical.stride
        first = column[0]
        for slot, code in enumerate(canonical.input_codes[first]):
            if code < 0 or part_of[code // stride] >= 0 or not free[code // stride]:
                continue
            output = code % stride
            codes = [canonical.input_codes[node][slot] for node in column]
            yield tuple([c // stride if c >= 0 and c % stride == output else -1 for c in codes])
        outs = canonical.readers_by_slot
        for key, reader in outs[first].items():
            if reader >= 0 and part_of[reader] < 0 and free[reader]:
                yield tuple([outs[node].get(key, -1) for node in column])

    def _accept(self, ends: tuple[int, ...]) -> bool:
        """Assign a node to every part if all nodes have the same label, are free and are distinct."""
        part_of, label, free = self.part_of, self.canonical.label, self.free
        kind = label[ends[0]]
        for number, node in enumerate(ends):
            if node < 0 or part_of[node] >= 0 or label[node] != kind or not free[node]:
                for undone in ends[:number]:
                    part_of[undone] = -1
                return False
            part_of[node] = number
        return True

    def _split(self, seed: tuple[int, ...], ends: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Split a seed by the labels that its parts have at one position, if at least two groups repeat."""
        if any(node >= 0 and self.part_of[node] >= 0 for node in ends):
            return []
        kinds: dict[int, list[int]] = {}
        for node, end in zip(seed, ends, strict=True):
            kinds.setdefault(self.canonical.label[end] if end >= 0 else -1, []).append(node)
        groups = [tuple(nodes) for nodes in kinds.values() if len(nodes) > 1]
        return groups if len(groups) > 1 else []

    def _runs(self, columns: list[tuple[int, ...]]) -> list[IsomorphicRun]:
        """Return chains of parts in which each part reads from the one before in the same way."""
        if len(columns) < 2:
            return []
        # Sort columns by the execution order of the first part.
        parts = [list(part) for part in zip(*sorted(columns), strict=True)]
        if not is_chain_repeat(self.canonical, parts):
            return []
        signatures = [signature(self.canonical, part) for part in parts]
        wires = [()] + [
            boundary_links(self.canonical, {node: position for position, node in enumerate(before)}, part)
            for before, part in pairwise(parts)
        ]
        runs, start = [], 0
        for number in range(1, len(parts) + 1):
            if number < len(parts) and self._follows(number, start, signatures, wires):
                continue
            if number - start > 1:
                runs.append(IsomorphicRun(parts[start:number]))
            start = number
        return runs

    @staticmethod
    def _follows(
        number: int,
        start: int,
        signatures: Sequence[tuple[int, ...]],
        wires: Sequence[tuple[tuple[int, int, int], ...]],
    ) -> bool:
        return (
            signatures[number] == signatures[start]
            and bool(wires[number])
            and (number == start + 1 or wires[number] == wires[start + 1])
        )
