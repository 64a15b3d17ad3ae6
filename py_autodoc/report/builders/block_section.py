"""Blocks: modules and recognised structures, each with the totals of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from py_autodoc.blocks.results import KINDS, AttentionLayer, Fact, RecognisedBlock
from py_autodoc.report.builders.node_numbers import activation_bytes, per_inference
from py_autodoc.report.encode.labels import node_label, shorten_middle
from py_autodoc.report.module_tree.containment import common_scope, structural_parents, with_bodies
from py_autodoc.report.module_tree.scope_tree import SUBGRAPH, ScopeTree
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import Block

MAX_LEVELS = 12
"""Maximum depth of the scopes listed: each level repeats the nodes below it."""
MODULE = "module"
"""Kind of blocks that are scopes."""


@dataclass(slots=True)
class _BlockSums:
    """Totals over nodes; a total stays None until a known value is added.

    ``params`` is None as soon as one node's is: the weight exists, so the sum of the others would be too low.
    """

    params: int | None = 0
    macs: int | None = None
    flops: int | None = None
    activation_bytes: int | None = None
    weight_bytes: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    impossible: bool = False
    """A node in it cannot run, so the sum of the others is meaningless."""

    def add(self, node_sums: _BlockSums) -> None:
        """Add the numbers of one node."""
        self.params = (
            None if self.params is None or node_sums.params is None else self.params + node_sums.params
        )
        self.macs = _plus(self.macs, node_sums.macs)
        self.flops = _plus(self.flops, node_sums.flops)
        self.activation_bytes = _plus(self.activation_bytes, node_sums.activation_bytes)
        self.weight_bytes = _plus(self.weight_bytes, node_sums.weight_bytes)
        self.read_bytes = _plus(self.read_bytes, node_sums.read_bytes)
        self.write_bytes = _plus(self.write_bytes, node_sums.write_bytes)
        self.impossible = self.impossible or node_sums.impossible

    def numbers(self) -> dict[str, int | None]:
        """Return the totals as fields of a ``Block``."""
        totals = {field.name: getattr(self, field.name) for field in fields(self)}
        if totals.pop("impossible"):
            totals |= dict.fromkeys(set(totals) - {"params", "weight_bytes"})
        return totals


def blocks(analysis: Analysis, tree: ScopeTree) -> list[Block]:
    """Return the scopes, parents first, then the structural blocks graph by graph.

    A node may be in several blocks. ``parent`` is the smallest block that contains all of a block.
    """
    depth = _depths(tree)
    numbers = _Numbers(analysis)
    names = [node_label(node) for node in analysis.model.nodes]  # one object a node, whatever its blocks
    listed, ids = _scopes(analysis, tree, depth, numbers, names)
    return listed + _structural(analysis, tree, depth, numbers, names, listed, ids)


class _Numbers:
    """What each node contributes, computed once."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.by_node: dict[int, _BlockSums] = {}
        fault = analysis.contradiction
        self.stopped = fault.reached if fault is not None else frozenset[int]()

    def of(self, number: int) -> _BlockSums:
        """Return the numbers of one node for one inference."""
        sums = self.by_node.get(number)
        if sums is None:
            analysis = self.analysis
            cost = per_inference(analysis.costs[number])
            sums = self.by_node[number] = _BlockSums(
                analysis.params.params[number],
                cost.macs,
                cost.flops,
                activation_bytes(analysis, analysis.model.nodes[number]),
                analysis.params.node_bytes[number],
                cost.read_bytes,
                cost.write_bytes,
                number in self.stopped,
            )
        return sums


def _scopes(
    analysis: Analysis, tree: ScopeTree, depth: list[int], numbers: _Numbers, names: list[str]
) -> tuple[list[Block], dict[int, int]]:
    """Return the scopes that have nodes, and the position of each in the list."""
    sums = [_BlockSums() for _ in tree.parent]
    members: list[list[int]] = [[] for _ in tree.parent]
    for node in analysis.model.nodes:
        if node.is_constant:
            continue
        node_sums = numbers.of(node.id)
        scope = tree.node[node.id]
        while scope >= 0:
            if depth[scope] < MAX_LEVELS:
                members[scope].append(node.id)
            sums[scope].add(node_sums)
            scope = tree.parent[scope]
    non_empty = [s for s in range(len(sums)) if depth[s] < MAX_LEVELS and members[s]]
    ids = {scope: index for index, scope in enumerate(non_empty)}
    blocks = [
        Block(
            id=ids[scope],
            parent=ids.get(tree.parent[scope]),
            kind=MODULE,
            name="/".join(tree.path(scope)),
            type=tree.type[scope],
            variant="",
            how="subgraph" if tree.origin[scope] == SUBGRAPH else tree.origin[scope],
            confidence=1.0,
            nodes=members[scope],
            node_names=[names[number] for number in members[scope]],
            facts={},
            **sums[scope].numbers(),
        )
        for scope in non_empty
    ]
    return blocks, ids


def _structural(
    analysis: Analysis,
    tree: ScopeTree,
    depth: list[int],
    numbers: _Numbers,
    names: list[str],
    scopes: list[Block],
    ids: dict[int, int],
) -> list[Block]:
    """Return the recognised structures, in execution order of their first node."""
    counts, blocks = dict.fromkeys(KINDS, 0), in_order(analysis)
    parents = structural_parents([nodes for _, nodes in blocks])
    start, listed = len(scopes), []
    for index, (entry, nodes) in enumerate(blocks):
        total = _BlockSums()
        for number in nodes:
            total.add(numbers.of(number))
        counts[entry.kind] = counts.get(entry.kind, 0) + 1
        scope = common_scope(tree, depth, nodes)
        while scope >= 0 and scope not in ids:
            scope = tree.parent[scope]
        parent = _smaller(scopes, ids.get(scope), blocks, parents[index], start)
        listed.append(
            Block(
                id=start + index,
                parent=parent,
                kind=entry.kind,
                name=f"{entry.kind} {counts[entry.kind]}",
                type=block_type(entry.kind),
                variant=shorten_middle(entry.variant),
                how=entry.how,
                confidence=entry.confidence,
                nodes=nodes,
                node_names=[names[number] for number in nodes],
                facts=block_facts(entry),
                **total.numbers(),
            )
        )
    return listed


def _smaller(
    scopes: list[Block],
    scope: int | None,
    blocks: list[tuple[RecognisedBlock, list[int]]],
    parent: int,
    start: int,
) -> int | None:
    """Return whichever contains fewer nodes: the scope or the structural block around a block."""
    if parent < 0:
        return scope
    if scope is None or len(blocks[parent][1]) < len(scopes[scope].nodes):
        return start + parent
    return scope


def block_type(kind: str) -> str:
    """Return a kind as the name of a class: ``squeeze-excite`` → ``SqueezeExciteBlock``."""
    return "".join(part.capitalize() for part in kind.split("-")) + "Block" if kind else ""


def in_order(analysis: Analysis) -> list[tuple[RecognisedBlock, list[int]]]:
    """Return all recognised structures with their nodes, including those in subgraphs, by first node."""
    model = analysis.model
    blocks = [(entry, with_bodies(model, entry.nodes)) for entry in recognised_blocks(analysis)]
    return sorted(
        ((e, n) for e, n in blocks if n), key=lambda pair: (pair[1][0], -len(pair[1]), pair[0].kind)
    )


def block_facts(entry: RecognisedBlock) -> dict[str, Fact]:
    """Return its facts in wire format."""
    return {
        shorten_middle(name): shorten_middle(v) if isinstance(v, str) else v
        for name, v in entry.facts.items()
    }


def recognised_blocks(analysis: Analysis) -> Iterator[RecognisedBlock]:
    """Yield all recognised structures, attention layers included as blocks."""
    yield from analysis.structure.blocks
    for layer in analysis.structure.attention:
        yield RecognisedBlock(
            kind="attention",
            nodes=layer.nodes,
            anchor=layer.anchor,
            variant=layer.variant,
            confidence=layer.confidence,
            facts=_attention_facts(layer),
        )


def _attention_facts(layer: AttentionLayer) -> dict[str, Fact]:
    return {
        "kind": layer.kind,
        "causal": layer.causal,
        "heads": layer.heads,
        "kv_heads": layer.kv_heads,
        "head_dim": layer.head_dim,
        "value_dim": layer.value_dim,
        "hidden_size": layer.hidden_size,
        "queries": layer.queries,
        "keys": layer.keys,
        "mask": layer.mask,
        "rotary": layer.rotary,
        "relative_bias": layer.relative_bias,
    }


def _depths(tree: ScopeTree) -> list[int]:
    depth: list[int] = []
    for parent in tree.parent:
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
    return depth


def _plus(total: int | None, value: int | None) -> int | None:
    return total if value is None else value if total is None else total + value
