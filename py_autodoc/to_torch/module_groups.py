"""Group nodes into modules by scope, as long as each module can run as a whole.

A group is dissolved if its nodes need results of surrounding nodes in between (its contraction lies on a
cycle). Its nodes and inner groups then belong to the surrounding group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from py_autodoc.errors import InputError
from py_autodoc.graph.ir.model import Model, Node
from py_autodoc.graph.ir.topological_order import execution_order


@dataclass(slots=True, eq=False)
class ModuleGroup:
    """A module: nodes and inner groups."""

    parts: tuple[str, ...] = ()
    """Its name relative to the surrounding group, level by level; a level may contain dots."""
    kind: str = ""
    """Class recorded by the exporter."""
    nodes: list[int] = field(default_factory=list)
    inner: dict[str, ModuleGroup] = field(default_factory=dict)

    def items(self) -> list[int | ModuleGroup]:
        """Return the nodes, then the groups."""
        return [*self.nodes, *self.inner.values()]

    def all_nodes(self) -> list[int]:
        """Return the nodes of this group and of all groups in it."""
        nodes: list[int] = []
        pending = [self]
        while pending:
            group = pending.pop()
            nodes.extend(group.nodes)
            pending.extend(group.inner.values())
        return nodes


class Reads:
    """Tensors that nodes read, including reads inside subgraphs."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._cache: dict[int, tuple[int, ...]] = {}

    def tensors_of(self, number: int) -> tuple[int, ...]:
        """Return ids of the tensors a node reads: its inputs, and outer tensors read by its subgraphs."""
        tensors = self._cache.get(number)
        if tensors is None:
            node = self._model.nodes[number]
            inputs = tuple(t for t in node.inputs if t >= 0)
            tensors = self._cache[number] = inputs if not node.subgraphs else self._deep(node)
        return tensors

    def _deep(self, node: Node) -> tuple[int, ...]:
        tensors = dict.fromkeys(t for t in node.inputs if t >= 0)
        produced: set[int] = set()
        pending = [graph for _, graph in node.subgraphs]
        while pending:
            graph = self._model.graphs[pending.pop()]
            produced.update(graph.inputs)
            for number in graph.nodes:
                inner_node = self._model.nodes[number]
                tensors.update(dict.fromkeys(t for t in inner_node.inputs if t >= 0))
                produced.update(inner_node.outputs)
                pending.extend(inner for _, inner in inner_node.subgraphs)
            tensors.update(dict.fromkeys(t for t in graph.outputs if t >= 0))
        return tuple(t for t in tensors if t not in produced)


def grouped(model: Model, reads: Reads, skip: frozenset[int]) -> ModuleGroup:
    """Return the tree of groups of the main graph; nodes in ``skip`` produce no code."""
    root = ModuleGroup()
    for number in model.graphs[0].nodes:
        if number in skip:
            continue
        node = model.nodes[number]
        group = root
        kinds = node.classes or ("",) * len(node.scope)
        for level, kind in zip(node.scope, kinds, strict=False):
            inner = group.inner.get(level)
            if inner is None:
                inner = group.inner[level] = ModuleGroup((level,), kind)
            group = inner
        group.nodes.append(number)
    pending = [root]
    while pending:
        group = pending.pop()
        _settle(group, model, reads)
        pending.extend(group.inner.values())
    return root


def ordered(group: ModuleGroup, model: Model, reads: Reads) -> list[int | ModuleGroup]:
    """Return nodes and inner groups in execution order."""
    items = sorted(group.items(), key=_first)
    order, cyclic = execution_order(_needs(items, model, reads))
    if cyclic:
        raise InputError(
            "graph-inconsistent", f"{model.file.name}: the graph is invalid: its nodes form a cycle."
        )
    return [items[number] for number in order]


def _first(item: int | ModuleGroup) -> int:
    return item if isinstance(item, int) else min(item.all_nodes())


def _needs(items: Sequence[int | ModuleGroup], model: Model, reads: Reads) -> list[list[int]]:
    nodes = [[item] if isinstance(item, int) else item.all_nodes() for item in items]
    maker = {t: index for index, members in enumerate(nodes) for n in members for t in model.nodes[n].outputs}
    needs = []
    for index, members in enumerate(nodes):
        needed = {maker[t] for n in members for t in reads.tensors_of(n) if t in maker}
        needs.append(sorted(needed - {index}))
    return needs


def _settle(group: ModuleGroup, model: Model, reads: Reads) -> None:
    """Dissolve inner groups until the remaining items can be ordered."""
    while True:
        items = sorted(group.items(), key=_first)
        needs = _needs(items, model, reads)
        on_circle = [items[n] for n in _cycle_members(needs) if isinstance(items[n], ModuleGroup)]
        if not on_circle:
            return
        for inner in on_circle:
            assert isinstance(inner, ModuleGroup)
            _dissolve(group, inner)


def _dissolve(group: ModuleGroup, inner: ModuleGroup) -> None:
    for key in [key for key, child in group.inner.items() if child is inner]:
        del group.inner[key]
    group.nodes.extend(inner.nodes)
    for subgroup in inner.inner.values():
        subgroup.parts = (*inner.parts, *subgroup.parts)
        group.inner["/".join(subgroup.parts)] = subgroup
    group.nodes.sort()


def _cycle_members(needs: Sequence[Sequence[int]]) -> Iterable[int]:
    """Return items in strongly connected components of at least two (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    members: list[int] = []
    for start in range(len(needs)):
        if start in index:
            continue
        work = [(start, 0)]
        while work:
            node, first_need = work.pop()
            if first_need == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            for position in range(first_need, len(needs[node])):
                dependency = needs[node][position]
                if dependency not in index:
                    work.append((node, position + 1))
                    work.append((dependency, 0))
                    break
                if dependency in on_stack:
                    low[node] = min(low[node], index[dependency])
            else:
                component: list[int] = []
                if low[node] == index[node]:
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    if len(component) > 1:
                        members.extend(component)
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
    return members
