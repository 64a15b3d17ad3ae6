"""Repeats among modules: sibling scopes whose contents are isomorphic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.blocks.wiring import Wiring, signature
from py_autodoc.graph.model import Model

_MASK = (1 << 61) - 1
Path = tuple[str, ...]


@dataclass(slots=True)
class Run:
    """A repeat in places of one wiring; ``parts[i][k]`` corresponds to ``parts[j][k]``."""

    parts: list[list[int]]
    scopes: tuple[Path, ...] = ()
    type: str = ""

    @property
    def covers(self) -> int:
        """Nodes in all parts."""
        return len(self.parts) * len(self.parts[0])


def worth(wiring: Wiring, parts: Sequence[Sequence[int]], chain: bool) -> bool:
    """Whether parts are large enough to be called a repeat.

    Three nodes, or two with a weight where each part feeds the next. Parts that do not feed each
    other need a weight as well: what lies side by side without one is plumbing.
    """
    size = len(parts[0])
    weight = any(wiring.label[node] in wiring.weighted for node in parts[0])
    return (size >= 3 and (weight or chain)) or (size == 2 and weight and chain)


def chained(wiring: Wiring, parts: Sequence[Sequence[int]]) -> bool:
    """True when each part reads something that the one before it makes."""
    stride = wiring.stride
    for before, part in zip(parts, parts[1:], strict=False):
        makers = set(before)
        if not any(code >= 0 and code // stride in makers for node in part for code in wiring.ins[node]):
            return False
    return True


def scope_runs(model: Model, wiring: Wiring) -> list[Run]:
    """Groups of isomorphic siblings: a chain, or elements of one numbered list (``layer.0``, ``layer.2``).

    Siblings that merely look alike (query and key, the norm before and the norm after) are no run.
    """
    tree = _Tree(model, wiring)
    found: list[Run] = []
    for group in tree.candidates():
        alike: dict[tuple[int, ...], list[tuple[int, list[int]]]] = {}
        for scope in group:
            part = local_order(wiring, tree.parts[scope])
            alike.setdefault(signature(wiring, part), []).append((scope, part))
        for same in alike.values():
            found += tree.runs(same)
    return found


class _Tree:
    """Scopes by number, parents first; only those of this graph's nodes."""

    def __init__(self, model: Model, wiring: Wiring) -> None:
        self.model = model
        self.wiring = wiring
        self.parent: list[int] = []
        self.name: list[str] = []
        self.numbers: dict[tuple[int, str], int] = {}
        self.example: list[int] = []
        self.parts: dict[int, list[int]] = {}
        known: dict[Path, int] = {}
        self.leaf: list[int] = []
        for place, number in enumerate(wiring.nodes):
            path = model.nodes[number].scope
            scope = known.get(path)
            if scope is None:
                scope = known[path] = self._descend(path, place)
            self.leaf.append(scope)

    def _descend(self, path: Path, place: int) -> int:
        scope = -1
        for name in path:
            child = self.numbers.get((scope, name))
            if child is None:
                child = self.numbers[(scope, name)] = len(self.parent)
                self.parent.append(scope)
                self.name.append(name)
                self.example.append(place)
            scope = child
        return scope

    def candidates(self) -> list[list[int]]:
        """Siblings that hold the same operators; fills ``parts`` for them."""
        count = [0] * len(self.parent)
        mix = [0] * len(self.parent)
        for place, scope in enumerate(self.leaf):
            if scope >= 0:
                count[scope] += 1
                mix[scope] += hash((self.wiring.label[place], 0x5EED))
        for scope in range(len(self.parent) - 1, -1, -1):
            above = self.parent[scope]
            if above >= 0:
                count[above] += count[scope]
                mix[above] += mix[scope]
        groups: dict[tuple[int, int, int], list[int]] = {}
        for scope, above in enumerate(self.parent):
            if count[scope] >= 2:
                groups.setdefault((above, count[scope], mix[scope] & _MASK), []).append(scope)
        chosen = [group for group in groups.values() if len(group) > 1]
        self._fill({scope for group in chosen for scope in group})
        return chosen

    def _fill(self, wanted: set[int]) -> None:
        """The places in each wanted scope, ascending. A wanted scope's nodes are few or it is rare:
        at most one list a level."""
        # The wanted scopes around each scope, innermost first.
        around: list[list[int]] = []
        for scope, above in enumerate(self.parent):
            outer = around[above] if above >= 0 else []
            around.append([scope, *outer] if scope in wanted else outer)
        self.parts = {scope: [] for scope in wanted}
        for place, scope in enumerate(self.leaf):
            if scope >= 0:
                for wanting in around[scope]:
                    self.parts[wanting].append(place)

    def runs(self, same: list[tuple[int, list[int]]]) -> list[Run]:
        """Isomorphic siblings → runs, in execution order."""
        same.sort(key=lambda entry: max(entry[1]))
        if len(same) < 2:
            return []
        parts = [part for _, part in same]
        chain = chained(self.wiring, parts)
        if chain and worth(self.wiring, parts, chain):
            return [self._run(same)]
        series: dict[str, list[tuple[int, list[int]]]] = {}
        for entry in same:
            name = self.name[entry[0]]
            stem = name.rstrip("0123456789")
            if stem != name:
                series.setdefault(stem, []).append(entry)
        return [
            self._run(group)
            for group in series.values()
            if len(group) > 1 and worth(self.wiring, [part for _, part in group], False)
        ]

    def _run(self, same: list[tuple[int, list[int]]]) -> Run:
        paths, types = [], set()
        for scope, _ in same:
            node = self.model.nodes[self.wiring.nodes[self.example[scope]]]
            depth = self._depth(scope)
            paths.append(node.scope[:depth])
            types.add(node.classes[depth - 1] if len(node.classes) >= depth else "")
        return Run([part for _, part in same], tuple(paths), types.pop() if len(types) == 1 else "")

    def _depth(self, scope: int) -> int:
        depth = 0
        while scope >= 0:
            depth += 1
            scope = self.parent[scope]
        return depth


def local_order(wiring: Wiring, part: Sequence[int]) -> list[int]:
    """The nodes of a part by a walk back from its ends, so that no wire outside decides their order."""
    stride, ins = wiring.stride, wiring.ins
    inside = set(part)
    reads = {node: [c // stride for c in ins[node] if c >= 0 and c // stride in inside] for node in part}
    read = {maker for makers in reads.values() for maker in makers}
    order: list[int] = []
    seen: set[int] = set()
    for root in (*(node for node in part if node not in read), *part):  # all of them: circles have no end
        if root in seen:
            continue
        seen.add(root)
        path, stack = [root], [iter(reads[root])]
        while stack:
            for maker in stack[-1]:
                if maker not in seen:
                    seen.add(maker)
                    path.append(maker)
                    stack.append(iter(reads[maker]))
                    break
            else:
                stack.pop()
                order.append(path.pop())
    return order
