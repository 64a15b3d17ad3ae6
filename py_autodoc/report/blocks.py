"""Blocks: the modules of the model, each with the sums of what is in it."""

from __future__ import annotations

from py_autodoc.report.analysis import Analysis
from py_autodoc.report.labels import is_constant
from py_autodoc.report.numbers import activation_bytes, of_inference
from py_autodoc.report.schema import Block
from py_autodoc.report.scopes import ScopeTree

MAX_LEVELS = 12
"""Blocks nested deeper are not listed: each level lists its nodes again."""


class _Sum:
    """Sums of one scope; a sum stays None until a known part comes."""

    __slots__ = ("activation", "flops", "macs", "nodes", "params")

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.params = 0
        self.macs: int | None = None
        self.flops: int | None = None
        self.activation: int | None = None


def blocks(analysis: Analysis, tree: ScopeTree) -> list[Block]:
    """One block a scope, parents first."""
    depth = _depths(tree)
    sums = [_Sum() for _ in tree.parent]
    for node in analysis.model.nodes:
        if is_constant(node):
            continue
        numbers = of_inference(analysis.costs[node.id])
        size = activation_bytes(analysis, node)
        scope = tree.node[node.id]
        while scope >= 0:
            entry = sums[scope]
            if depth[scope] < MAX_LEVELS:
                entry.nodes.append(node.id)
            entry.params += analysis.params.params[node.id]
            entry.macs = _plus(entry.macs, numbers.macs)
            entry.flops = _plus(entry.flops, numbers.flops)
            entry.activation = _plus(entry.activation, size)
            scope = tree.parent[scope]
    return [
        Block(
            name="/".join(tree.path(scope)),
            type=tree.type[scope],
            nodes=entry.nodes,
            params=entry.params,
            macs=entry.macs,
            flops=entry.flops,
            activation_bytes=entry.activation,
        )
        for scope, entry in enumerate(sums)
        if depth[scope] < MAX_LEVELS and entry.nodes
    ]


def _depths(tree: ScopeTree) -> list[int]:
    depth: list[int] = []
    for parent in tree.parent:
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
    return depth


def _plus(total: int | None, part: int | None) -> int | None:
    return total if part is None else part if total is None else total + part
