"""Counts that are known before anything is parsed or expanded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

FunctionKey = tuple[str, str, str]
"""(domain, name, overload) of a local function."""


@dataclass(slots=True)
class FileCounts:
    """What the wire format says about a file.

    Units: bytes and counts. ``nodes`` includes those of subgraphs and of function bodies,
    ``depth`` is the deepest nesting of subgraphs (0: none), ``messages`` counts the fields
    looked at, weighted by what parsing them takes.
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
    """Tensors whose payload stays in the file."""
    moved_bytes: int = 0
    has_graph: bool = False


@dataclass(frozen=True, slots=True)
class Expansion:
    """What expanding local functions at every call would give.

    ``nodes`` is exact, however large; it is None when functions call each other in a circle,
    whose members are then in ``cycle``, outermost first.
    """

    nodes: int | None
    calls: int
    cycle: tuple[FunctionKey, ...] = ()


Body = tuple[int, Mapping[FunctionKey, int]]
"""(nodes that are not calls, calls by function) of one function or of the main graph."""


def expansion(main: Body, functions: Mapping[FunctionKey, Body]) -> Expansion:
    """Count the nodes after expansion without expanding: every function is counted once.

    ``functions`` maps a function to its body; calls of keys that are not in it count as one node.
    Cost: one visit per (function, callee) pair, so 10 functions of 10 calls, 10^10 nodes, take
    microseconds. No recursion.
    """
    done: dict[FunctionKey, int] = {}
    for root in main[1]:
        cycle = _count(root, functions, done)
        if cycle:
            return Expansion(None, sum(main[1].values()), cycle)
    total = main[0] + sum(times * done.get(key, 1) for key, times in main[1].items())
    return Expansion(total, sum(main[1].values()))


def _count(
    root: FunctionKey, functions: Mapping[FunctionKey, Body], done: dict[FunctionKey, int]
) -> tuple[FunctionKey, ...]:
    """Fill ``done`` for ``root`` and all it calls; the members of a circle when there is one."""
    path: list[FunctionKey] = [root]
    pending: list[list[FunctionKey]] = [_callees(root, functions, done)]
    on_path = {root}
    while path:
        if pending[-1]:
            key = pending[-1].pop()
            if key in on_path:
                return (*path[path.index(key) :], key)
            if key not in done:
                path.append(key)
                on_path.add(key)
                pending.append(_callees(key, functions, done))
            continue
        key = path.pop()
        pending.pop()
        on_path.discard(key)
        if key in functions:
            own, calls = functions[key]
            done[key] = own + sum(times * done[callee] for callee, times in calls.items())
        else:
            done[key] = 1
    return ()


def _callees(
    key: FunctionKey, functions: Mapping[FunctionKey, Body], done: Mapping[FunctionKey, int]
) -> list[FunctionKey]:
    return [callee for callee in functions[key][1] if callee not in done] if key in functions else []


def body(op_keys: Iterable[FunctionKey], functions: Container[FunctionKey]) -> Body:
    """Split the operators of one body (subgraphs included) into plain nodes and calls."""
    seen = Counter(op_keys)
    calls = {key: times for key, times in seen.items() if key in functions}
    return sum(seen.values()) - sum(calls.values()), calls
