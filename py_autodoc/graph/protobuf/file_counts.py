"""Counts available before a model is parsed or expanded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

FunctionKey = tuple[str, str, str]
"""(domain, name, overload) of a local function."""


@dataclass(slots=True)
class FileCounts:
    """Counts from the wire format of a file.

    In bytes and counts. ``nodes`` includes nodes of subgraphs and function bodies, ``depth`` is the deepest
    nesting of subgraphs (0: none), and ``messages`` counts the visited fields, weighted by their parsing
    cost.
    """

    file_bytes: int = 0
    structure_bytes: int = 0
    bytes_read: int = 0
    nodes: int = 0
    initializers: int = 0
    subgraphs: int = 0
    functions: int = 0
    depth: int = 0
    messages: int = 0
    moved: int = 0
    """Number of tensors whose payload stays in the file."""
    moved_bytes: int = 0
    has_graph: bool = False


@dataclass(frozen=True, slots=True)
class Expansion:
    """Result of expanding local functions at every call.

    ``nodes`` is exact, however large. It is None if functions call each other in a cycle, which is then in
    ``cycle``, outermost first.
    """

    nodes: int | None
    calls: int
    cycle: tuple[FunctionKey, ...] = ()


Body = tuple[int, Mapping[FunctionKey, int]]
"""(nodes that are not calls, calls by function) of one function or of the main graph."""


def expansion(main: Body, functions: Mapping[FunctionKey, Body]) -> Expansion:
    """Count the nodes after expansion without expanding; every function is counted once.

    ``functions`` maps a function to its body; calls of unknown keys count as one node.
    The cost is one visit per (function, callee) pair: 10 functions of 10 calls, 10^10 nodes, take
    microseconds. No recursion.
    """
    counts: dict[FunctionKey, int] = {}
    for root in main[1]:
        cycle = _count(root, functions, counts)
        if cycle:
            return Expansion(None, sum(main[1].values()), cycle)
    total = main[0] + sum(times * counts.get(key, 1) for key, times in main[1].items())
    return Expansion(total, sum(main[1].values()))


def _count(
    root: FunctionKey, functions: Mapping[FunctionKey, Body], counts: dict[FunctionKey, int]
) -> tuple[FunctionKey, ...]:
    """Fill ``counts`` for ``root`` and all its callees. Return the members of a cycle, if any."""
    path: list[FunctionKey] = [root]
    pending: list[list[FunctionKey]] = [_callees(root, functions, counts)]
    on_path = {root}
    while path:
        if pending[-1]:
            key = pending[-1].pop()
            if key in on_path:
                return (*path[path.index(key) :], key)
            if key not in counts:
                path.append(key)
                on_path.add(key)
                pending.append(_callees(key, functions, counts))
            continue
        key = path.pop()
        pending.pop()
        on_path.discard(key)
        if key in functions:
            plain_nodes, calls = functions[key]
            counts[key] = plain_nodes + sum(times * counts[callee] for callee, times in calls.items())
        else:
            counts[key] = 1
    return ()


def _callees(
    key: FunctionKey, functions: Mapping[FunctionKey, Body], counts: Mapping[FunctionKey, int]
) -> list[FunctionKey]:
    return [callee for callee in functions[key][1] if callee not in counts] if key in functions else []


def body(op_keys: Iterable[FunctionKey], functions: Container[FunctionKey]) -> Body:
    """Split the operators of a body (subgraphs included) into plain nodes and calls."""
    key_counts = Counter(op_keys)
    calls = {key: times for key, times in key_counts.items() if key in functions}
    return sum(key_counts.values()) - sum(calls.values()), calls
