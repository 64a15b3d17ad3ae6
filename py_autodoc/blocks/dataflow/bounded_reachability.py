"""Bounded backward reachability searches in one graph."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph

MAX_VISITED = 4000
"""Maximum nodes of one search."""
PER_NODE = 16
"""Maximum nodes of all searches of a graph together, per node of the graph."""
FLOOR = 200_000
"""Minimum total for any graph, however small: layers that share a distant input need long searches."""


class SearchBudget:
    """Remaining steps for the searches of one graph, which keeps their total linear."""

    def __init__(self, flow: DataflowGraph) -> None:
        self.flow = flow
        self.remaining = PER_NODE * len(flow.order) + FLOOR

    def spend(self) -> bool:
        """Use one step; return False if none is left."""
        self.remaining -= 1
        if self.remaining < 0:
            self.flow.incomplete.add("residual")
        return self.remaining >= 0


class BackwardSearch:
    """The ancestors of some tensors, latest first, expanded on demand.

    A node is visited only after all later ones, so queries for sources in descending position take one
    sweep in total.
    """

    def __init__(self, flow: DataflowGraph, tensors: Iterable[int], budget: SearchBudget) -> None:
        self.flow = flow
        self.budget = budget
        self.read: set[int] = set()
        """Known ancestors, including the start tensors."""
        self.visited: list[int] = []
        """Nodes, latest first."""
        self._queued: set[int] = set()
        self._heap: list[int] = []
        for tensor in tensors:
            self.read.add(tensor)
            number = flow.producers[tensor]
            if number >= 0 and number not in self._queued:
                self._queued.add(number)
                heappush(self._heap, -flow.position[number])

    def reaches(self, sources: Iterable[int], above: int) -> bool:
        """True if one of ``sources`` is an ancestor. ``above``: position of their producer, -1 for none.

        Also False if the search runs out of budget.
        """
        flow, heap, read, queued, visited = self.flow, self._heap, self.read, self._queued, self.visited
        order, position, nodes, makers = flow.order, flow.position, flow.nodes, flow.producers
        while heap and -heap[0] > above:
            if len(visited) >= MAX_VISITED or not self.budget.spend():
                return False
            number = order[-heappop(heap)]
            visited.append(number)
            inputs = nodes[number].inputs
            read.update(inputs)  # -1 for an omitted input: not a source
            for tensor in inputs:
                producer = makers[tensor]
                if producer >= 0 and producer not in queued:
                    queued.add(producer)
                    heappush(heap, -position[producer])
        return not self.read.isdisjoint(sources)

    def between(self, sources: Iterable[int]) -> list[int]:
        """Return the visited nodes that compute something from ``sources``, in execution order."""
        nodes = self.flow.nodes
        reached = set(sources)
        between = []
        for number in reversed(self.visited):
            node = nodes[number]
            if not reached.isdisjoint(node.inputs):
                between.append(number)
                reached.update(node.outputs)
                reached.discard(-1)  # an omitted output is not an omitted input
        return between
