"""Repeats among modules: sibling scopes with isomorphic contents."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.blocks.repetition.canonical_graph import CanonicalGraph, signature
from py_autodoc.blocks.repetition.isomorphic_run import IsomorphicRun, is_chain, is_module_repeat
from py_autodoc.blocks.repetition.template_match import find_isomorphic_part
from py_autodoc.graph.ir.model import Model

_MASK = (1 << 61) - 1
_MIN_SEED_NODES = 6
"""Minimum nodes of a part that may start a run before similar parts are found."""
Path = tuple[str, ...]
Members = list[tuple[int, list[int]]]
"""Scopes and their nodes."""


def sibling_runs(model: Model, canonical: CanonicalGraph) -> list[IsomorphicRun]:
    """Return runs of isomorphic siblings: a chain, or items of a numbered list (``layer.0``, ``layer.2``).

    Siblings that merely look alike (query and key, the norms before and after a layer) are not a run.
    """
    tree = _Tree(model, canonical)
    runs: list[Members] = []
    for group in tree.candidates():
        members = [(scope, tree.parts[scope]) for scope in group]
        isomorphic = _isomorphic_groups(canonical, members)
        if len(isomorphic) > 1:
            # The order in the whole graph may differ between members.
            isomorphic = _isomorphic_groups(
                canonical, [(scope, local_order(canonical, part)) for scope, part in members]
            )
        for same in isomorphic:
            runs += tree.runs(same)
    return [tree.run(members) for members in tree.extended(runs)]


def _isomorphic_groups(canonical: CanonicalGraph, members: Members) -> list[Members]:
    """Group members by signature."""
    groups: dict[tuple[int, ...], Members] = {}
    for scope, part in members:
        groups.setdefault(signature(canonical, part), []).append((scope, part))
    return list(groups.values())


class _Tree:
    """Scopes by number, parents first; only those with nodes of this graph."""

    def __init__(self, model: Model, canonical: CanonicalGraph) -> None:
        self.model = model
        self.canonical = canonical
        self.parent: list[int] = []
        self.name: list[str] = []
        self.numbers: dict[tuple[int, str], int] = {}
        self.example: list[int] = []
        self.parts: dict[int, list[int]] = {}
        self.count: list[int] = []
        scope_of_path: dict[Path, int] = {}
        self.leaf: list[int] = []
        nodes = model.nodes
        for position, number in enumerate(canonical.nodes):
            path = nodes[number].scope
            if path not in scope_of_path:
                scope_of_path[path] = self._descend(path, position)
            self.leaf.append(scope_of_path[path])
        self.children: list[list[int]] = [[] for _ in self.parent]
        for scope, above in enumerate(self.parent):
            if above >= 0:
                self.children[above].append(scope)
        self.own: list[list[int]] = [[] for _ in self.parent]
        """Positions of the nodes directly in each scope."""
        for position, scope in enumerate(self.leaf):
            if scope >= 0:
                self.own[scope].append(position)

    def _descend(self, path: Path, position: int) -> int:
        scope = -1
        for name in path:
            child = self.numbers.get((scope, name))
            if child is None:
                child = self.numbers[(scope, name)] = len(self.parent)
                self.parent.append(scope)
                self.name.append(name)
                self.example.append(position)
            scope = child
        return scope

    def candidates(self) -> list[list[int]]:
        """Return siblings with the same operators, and fill ``parts`` for them."""
        self.count = count = [0] * len(self.parent)
        mix = [0] * len(self.parent)
        mixed: dict[int, int] = {}
        for label, scope in zip(self.canonical.label, self.leaf, strict=True):
            if scope >= 0:
                if label not in mixed:
                    mixed[label] = hash((label, 0x5EED))
                count[scope] += 1
                mix[scope] += mixed[label]
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

    def _fill(self, requested: set[int]) -> None:
        """Fill the positions in each wanted scope, ascending; the work is that of these scopes alone."""
        for wanted in requested:
            positions: list[int] = []
            scopes = [wanted]
            while scopes:
                scope = scopes.pop()
                positions += self.own[scope]
                scopes += self.children[scope]
            self.parts[wanted] = sorted(positions)

    def runs(self, same: Members) -> list[Members]:
        """Return runs of isomorphic siblings, in execution order."""
        if len(same) < 2:
            return []
        same.sort(key=_last)
        parts = [part for _, part in same]
        if is_chain(self.canonical, parts) and is_module_repeat(self.canonical, parts, True):
            return [same]
        series: dict[str, Members] = {}
        for entry in same:
            stem = self._stem(entry[0])
            if stem is not None:
                series.setdefault(stem, []).append(entry)
        return [
            group
            for group in series.values()
            if len(group) > 1 and is_module_repeat(self.canonical, [part for _, part in group], False)
        ]

    def _stem(self, scope: int) -> str | None:
        """Return the name of a list item without its number."""
        stem = self.name[scope].rstrip("0123456789")
        return None if stem == self.name[scope] else stem

    def extended(self, runs: list[Members]) -> list[Members]:
        """Extend runs by siblings that are equal except for nodes that serve all of them.

        The first layer often computes a mask or shape that the others reuse. Such extra nodes have no weight
        and belong to no part.
        """
        used = {scope for members in runs for scope, _ in members}
        remaining: dict[tuple[int, str], list[int]] = {}
        for scope, above in enumerate(self.parent):
            stem = self._stem(scope)
            if scope not in used and stem is not None:
                remaining.setdefault((above, stem), []).append(scope)
        runs += self._seeds(runs, remaining)
        for members in sorted(runs, key=lambda members: -len(members) * len(members[0][1])):
            scope, part = members[0]
            stem = self._stem(scope)
            siblings = remaining.get((self.parent[scope], stem), []) if stem is not None else []
            fits = [sibling for sibling in siblings if len(part) < self.count[sibling] <= 2 * len(part)]
            self._fill({sibling for sibling in fits if sibling not in self.parts})
            for sibling in fits:
                match = find_isomorphic_part(self.canonical, part, self.parts[sibling])
                if match is not None and not self._weights(self.parts[sibling], match):
                    members.append((sibling, match))
                    siblings.remove(sibling)
            members.sort(key=_last)
        return [members for members in runs if len(members) > 1]

    def _seeds(self, runs: list[Members], remaining: dict[tuple[int, str], list[int]]) -> list[Members]:
        """Start a run from the smallest item of a list without equal items, where others have extra nodes."""
        series = {(self.parent[scope], self._stem(scope)) for members in runs for scope, _ in members}
        seeds: list[Members] = []
        for key, scopes in remaining.items():
            if key in series or len(scopes) < 2:
                continue
            smallest = min(scopes, key=lambda scope: self.count[scope])
            self._fill({smallest} - self.parts.keys())
            part = self.parts[smallest]
            if self.count[smallest] >= _MIN_SEED_NODES and is_module_repeat(
                self.canonical, [part, part], False
            ):
                scopes.remove(smallest)
                seeds.append([(smallest, part)])
        return seeds

    def _weights(self, nodes: list[int], without: list[int]) -> bool:
        weighted, label = self.canonical.weighted_labels, self.canonical.label
        return any(label[node] in weighted for node in set(nodes).difference(without))

    def run(self, members: Members) -> IsomorphicRun:
        """Return the members with their paths, and with their class name if they share one."""
        paths, types = [], set()
        for scope, _ in members:
            node = self.model.nodes[self.canonical.nodes[self.example[scope]]]
            depth = self._depth(scope)
            paths.append(node.scope[:depth])
            types.add(node.classes[depth - 1] if len(node.classes) >= depth else "")
        return IsomorphicRun(
            [part for _, part in members], tuple(paths), types.pop() if len(types) == 1 else ""
        )

    def _depth(self, scope: int) -> int:
        depth = 0
        while scope >= 0:
            depth += 1
            scope = self.parent[scope]
        return depth


def _last(entry: tuple[int, list[int]]) -> int:
    """Return the execution position of the end of a part."""
    return max(entry[1])


def local_order(canonical: CanonicalGraph, part: Sequence[int]) -> list[int]:
    """Order the nodes of a part by a walk back from its ends, independent of edges outside the part."""
    producers_of, inside = canonical.producers, set(part)
    reads = {node: [producer for producer in producers_of(node) if producer in inside] for node in part}
    read = {producer for row in reads.values() for producer in row}
    order: list[int] = []
    seen: set[int] = set()
    for root in (*(node for node in part if node not in read), *part):  # all nodes, since a cycle has no end
        if root in seen:
            continue
        seen.add(root)
        path, stack = [root], [iter(reads[root])]
        while stack:
            for producer in stack[-1]:
                if producer not in seen:
                    seen.add(producer)
                    path.append(producer)
                    stack.append(iter(reads[producer]))
                    break
            else:
                stack.pop()
                order.append(path.pop())
    return order
