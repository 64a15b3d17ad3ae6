"""One box per call of a module, where one box for all its calls would depend on itself.

Names and tags say which module a node belongs to, not which call. A pooling layer called between
convolutions would be one box with edges that lead out of it and back: cycles that the model does not have.
Such a module becomes as many boxes as the graph order requires, ``pool (1 of 3)``, but no more: calls that
do not depend on each other stay together. If all parts of a module would be split in the same way (one
transformer layer called twelve times), the module itself is cut between its calls.

Boxes of a level without cycles can be drawn left to right whichever of them are expanded, so this is checked
level by level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Protocol

from py_autodoc.graph.ir.model import Node, SubGraph
from py_autodoc.graph.ir.topological_order import execution_order
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.module_tree.scope_tree import SUBGRAPH, ScopeTree


class Graphs(Protocol):
    """The drawn graphs: of a model, or as described by a report."""

    @property
    def nodes(self) -> Sequence[Node]:
        """Nodes by id."""
        ...

    @property
    def graphs(self) -> Sequence[SubGraph]:
        """Graphs by id."""
        ...


Readers = Callable[[int], Iterable[int]]
Orders = Sequence[Sequence[int]]
_MAX_JOINED_RUNS = 2000
"""Above this number of runs they are not rejoined: that takes quadratic time."""
_EXTRA_ROUNDS = 8
"""Rounds beyond the depth of the tree; each cuts the outermost cycles."""


def split_by_calls(model: Graphs, tree: ScopeTree, readers: Readers, orders: Orders) -> None:
    """Split the modules of ``tree`` that form dependency cycles; ``readers`` are in the same graph."""
    acyclic: set[int] = set()
    max_rounds = _EXTRA_ROUNDS + max((len(path) for path in _Paths(tree).values()), default=0)
    for _ in range(max_rounds):
        levels = _interrupted_levels(tree, orders, acyclic)
        cyclic = _outermost(tree, [level for level in levels if not level.is_acyclic(readers, acyclic)])
        if not cyclic:
            return
        for level in cyclic:
            _split_level(model, tree, level, readers)


def cyclic_levels(tree: ScopeTree, readers: Readers, orders: Orders) -> list[int]:
    """Return the levels (-1 is the top) whose boxes form a dependency cycle."""
    levels = _interrupted_levels(tree, orders, set())
    return [level.scope for level in levels if not level.is_acyclic(readers, set())]


class _Paths(dict[int, tuple[int, ...]]):
    """Scope → the scopes from the top down to it."""

    def __init__(self, tree: ScopeTree) -> None:
        self.parent = tree.parent
        super().__init__({-1: ()})
        for scope in tree.node:
            self[scope]

    def __missing__(self, scope: int) -> tuple[int, ...]:
        chain = []
        ancestor = scope
        while ancestor not in self:
            chain.append(ancestor)
            ancestor = self.parent[ancestor]
        path = self[ancestor]
        for below in reversed(chain):
            path = self[below] = (*path, below)
        return path


class _Level:
    """The nodes of a box in execution order, and the item of the level that each belongs to."""

    def __init__(self, scope: int, depth: int) -> None:
        self.scope = scope
        self.depth = depth
        self.nodes: list[int] = []
        self.item: dict[int, int] = {}
        """Node → its scope of this level, or for a loose node -2 minus its number."""

    def add(self, node: int, path: Sequence[int]) -> None:
        self.nodes.append(node)
        self.item[node] = path[self.depth] if len(path) > self.depth else -2 - node

    def is_acyclic(self, readers: Readers, acyclic: set[int]) -> bool:
        """Return True if no items form a cycle; add such levels to ``acyclic``."""
        is_acyclic = not self.cyclic_items(readers)
        if is_acyclic:
            acyclic.add(self.scope)
        return is_acyclic

    def cyclic_items(self, readers: Readers) -> set[int]:
        """Return the items in cycles, and those between cycles."""
        readers_of: dict[int, set[int]] = {item: set() for item in self.item.values()}
        producers_of: dict[int, set[int]] = {item: set() for item in readers_of}
        for node, item in self.item.items():
            for reader in readers(node):
                other = self.item.get(reader, item)
                if other != item:
                    readers_of[item].add(other)
                    producers_of[other].add(item)
        return _trim_leading(
            _trim_leading(set(readers_of), producers_of, readers_of), readers_of, producers_of
        )


def _trim_leading(
    items: set[int], producers_of: dict[int, set[int]], readers_of: dict[int, set[int]]
) -> set[int]:
    """Return the items that remain after repeatedly removing those that depend on none of the others."""
    waiting = {item: len(producers_of[item] & items) for item in items}
    ready = [item for item, count in waiting.items() if not count]
    remaining = set(items)
    while ready:
        item = ready.pop()
        remaining.discard(item)
        for other in readers_of[item]:
            if other in waiting and other in remaining:
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)
    return remaining


def execution_orders(model: Graphs, readers: Readers) -> Orders:
    """Return the drawn nodes of each graph in execution order, without nodes that depend on themselves."""
    orders = []
    for graph in model.graphs:
        drawn = [n for n in graph.nodes if model.nodes[n].op_type != "Constant" or model.nodes[n].domain]
        position = {node: index for index, node in enumerate(drawn)}
        needs: list[list[int]] = [[] for _ in drawn]
        for node in drawn:
            for reader in readers(node):
                if reader in position:
                    needs[position[reader]].append(position[node])
        order, cyclic = execution_order(needs)
        orders.append([drawn[index] for index in order[: len(order) - len(cyclic)]])
    return orders


def _interrupted_levels(tree: ScopeTree, orders: Orders, acyclic: set[int]) -> list[_Level]:
    """Return the levels with a box whose nodes are not contiguous: only these can have cycles."""
    paths = _Paths(tree)
    levels: dict[int, _Level] = {}
    for order in orders:
        closed: set[int] = set()
        last: tuple[int, ...] = ()
        for node in order:
            path = paths[tree.node[node]]
            shared = 0
            while shared < min(len(path), len(last)) and path[shared] == last[shared]:
                shared += 1
            closed.update(last[shared:])
            for depth in range(shared, len(path)):
                parent = path[depth - 1] if depth else -1
                if path[depth] in closed and parent not in acyclic and parent not in levels:
                    levels[parent] = _Level(parent, depth)
            last = path
    for order in orders:
        for node in order:
            path = paths[tree.node[node]]
            for scope in (-1, *path):
                level = levels.get(scope)
                if level is not None:
                    level.add(node, path)
    return list(levels.values())


def _outermost(tree: ScopeTree, levels: Sequence[_Level]) -> list[_Level]:
    """Return the levels that are in no other one."""
    scopes = {level.scope for level in levels}
    outermost = []
    for level in levels:
        above = tree.parent[level.scope] if level.scope >= 0 else None
        while above is not None and above not in scopes:
            above = tree.parent[above] if above >= 0 else None
        if above is None:
            outermost.append(level)
    return outermost


def _split_level(model: Graphs, tree: ScopeTree, level: _Level, readers: Readers) -> None:
    calls = _calls(model, tree, level)
    if calls:
        _split(model, tree, level.scope, calls)
        return
    for item, runs in _runs(level, level.cyclic_items(readers), readers).items():
        if item >= 0 and len(runs) > 1:
            _split(model, tree, item, runs)


def _calls(model: Graphs, tree: ScopeTree, level: _Level) -> list[list[int]]:
    """Return the nodes of each call of the level's module, if its parts recur in a fixed order."""
    if level.scope < 0 or tree.origin[level.scope] == SUBGRAPH:
        return []
    symbols: list[object] = []
    starts: list[int] = []
    for index, node in enumerate(level.nodes):
        item = level.item[node]
        symbol = item if item >= 0 else model.nodes[node].op_type
        if item < 0 or not symbols or symbols[-1] != symbol:
            symbols.append(symbol)
            starts.append(index)
    period = _period(symbols)
    parts = {symbol for symbol in symbols if isinstance(symbol, int)}
    if period == len(symbols) or len(parts) < 2:
        return []
    bounds = [*starts[::period], len(level.nodes)]
    return [level.nodes[a:b] for a, b in pairwise(bounds)]


def _period(symbols: Sequence[object]) -> int:
    """Return the length of the shortest sequence of which ``symbols`` is a whole number of repetitions."""
    border = [0] * (len(symbols) + 1)
    length = 0
    for index in range(1, len(symbols)):
        while length and symbols[index] != symbols[length]:
            length = border[length]
        length += symbols[index] == symbols[length]
        border[index + 1] = length
    period = len(symbols) - border[-1]
    return period if len(symbols) % period == 0 else len(symbols)


def _runs(level: _Level, cyclic_items: set[int], readers: Readers) -> dict[int, list[list[int]]]:
    """Return the nodes of the cyclic items in runs without cycles, by item."""
    waiting = {node: 0 for node in level.nodes if level.item[node] in cyclic_items}
    for node in waiting:
        for reader in readers(node):
            if reader in waiting:
                waiting[reader] += 1
    position = {node: index for index, node in enumerate(waiting)}
    ready: dict[int, list[tuple[int, int]]] = {}
    first: list[tuple[int, int]] = []

    def push_ready(node: int) -> None:
        item = level.item[node]
        heappush(ready.setdefault(item, []), (position[node], node))
        heappush(first, (position[node], node))

    for node, count in waiting.items():
        if not count:
            push_ready(node)
    runs: list[tuple[int, list[int]]] = []
    emitted: set[int] = set()
    while first:
        node = heappop(first)[1]
        if node in emitted:
            continue
        item = level.item[node]
        run: list[int] = []
        # Stay in one box as long as possible.
        while ready[item]:
            node = heappop(ready[item])[1]
            run.append(node)
            emitted.add(node)
            for reader in readers(node):
                if reader in waiting:
                    waiting[reader] -= 1
                    if not waiting[reader]:
                        push_ready(reader)
        runs.append((item, run))
    return _join_runs(runs, readers)


def _join_runs(runs: list[tuple[int, list[int]]], readers: Readers) -> dict[int, list[list[int]]]:
    """Join runs of one item that need not be separate; return them in execution order, by item."""
    run_of = {node: index for index, (_, nodes) in enumerate(runs) for node in nodes}
    readers_of: list[set[int]] = [set() for _ in runs]
    producers_of: list[set[int]] = [set() for _ in runs]
    for node, index in run_of.items():
        for reader in readers(node):
            other = run_of.get(reader, index)
            if other != index:
                readers_of[index].add(other)
                producers_of[other].add(index)
    runs_of_item: dict[int, list[int]] = {}
    parts: dict[int, list[int]] = {}
    for index, (item, nodes) in enumerate(runs):
        run_indices = runs_of_item.setdefault(item, [])
        last = run_indices[-1] if run_indices and len(runs) <= _MAX_JOINED_RUNS else -1
        if (
            last >= 0
            and not _has_indirect_path(readers_of, last, index)
            and not _has_indirect_path(readers_of, index, last)
        ):
            parts[last] += nodes
            for links, opposite in ((readers_of, producers_of), (producers_of, readers_of)):
                for other in links[index]:
                    opposite[other].discard(index)
                    if other != last:
                        opposite[other].add(last)
                        links[last].add(other)
                links[index] = set()
        else:
            run_indices.append(index)
            parts[index] = list(nodes)
    return {item: [parts[index] for index in run_indices] for item, run_indices in runs_of_item.items()}


def _has_indirect_path(readers_of: Sequence[set[int]], start: int, target: int) -> bool:
    """Return whether a path leads from one to the other through others."""
    stack = [run for run in readers_of[start] if run != target]
    visited = set(stack)
    while stack:
        for run in readers_of[stack.pop()]:
            if run == target:
                return True
            if run not in visited:
                visited.add(run)
                stack.append(run)
    return False


def _split(model: Graphs, tree: ScopeTree, scope: int, parts: Sequence[Sequence[int]]) -> None:
    """Split the box ``scope`` into one per set of nodes in ``parts``; the first keeps its id."""
    label = tree.label[scope]
    for number, nodes in enumerate(parts):
        copies = {scope: scope} if not number else {scope: _copy(tree, scope, tree.parent[scope])}
        tree.label[copies[scope]] = shorten_middle(f"{label} ({number + 1} of {len(parts)})")
        if not number:
            continue
        for node in nodes:
            target = _copy_of_scope(tree, tree.node[node], copies)
            tree.node[node] = target
            for _, graph in model.nodes[node].subgraphs:
                body = tree.graph[graph]
                tree.parent[body] = target


def _copy_of_scope(tree: ScopeTree, scope: int, copies: dict[int, int]) -> int:
    """Return the copy of a scope below the split one, creating it and its parents where missing."""
    chain = []
    while scope not in copies:
        chain.append(scope)
        scope = tree.parent[scope]
    target = copies[scope]
    for below in reversed(chain):
        target = copies[below] = _copy(tree, below, target)
    return target


def _copy(tree: ScopeTree, scope: int, parent: int) -> int:
    tree.parent.append(parent)
    for column in (tree.label, tree.type, tree.origin):
        column.append(column[scope])
    return len(tree.parent) - 1
