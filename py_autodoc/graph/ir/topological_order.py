"""Execution order of the nodes of one graph."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush


def execution_order(needs: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Order nodes 0..n-1 so that each comes after the nodes it needs.

    ``needs[i]`` lists the nodes that node i needs, possibly with duplicates. Among ready nodes the smallest
    number comes first, so a sorted file keeps its order. The second list holds the nodes on or after a
    cycle, in file order; they are also appended to the first list.
    """
    if all(need < node for node, before in enumerate(needs) for need in before):
        return list(range(len(needs))), []
    waiting = [len(before) for before in needs]
    users: list[list[int]] = [[] for _ in needs]
    for node, before in enumerate(needs):
        for need in before:
            users[need].append(node)
    ready = [node for node, count in enumerate(waiting) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        node = heappop(ready)
        order.append(node)
        for user in users[node]:
            waiting[user] -= 1
            if not waiting[user]:
                heappush(ready, user)
    stuck = [node for node, count in enumerate(waiting) if count]
    return order + stuck, stuck


def find_cycle(needs: Sequence[Sequence[int]], stuck: Sequence[int]) -> list[int]:
    """Return a cycle among nodes that cannot be ordered, by following needs until a node repeats."""
    inside = set(stuck)
    path: list[int] = []
    index_in_path: dict[int, int] = {}
    node = stuck[0]
    while node not in index_in_path:
        index_in_path[node] = len(path)
        path.append(node)
        node = next(need for need in needs[node] if need in inside)
    return path[index_in_path[node] :][::-1]
