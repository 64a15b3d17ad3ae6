"""Repeats in the report and in the viewer's payload."""

from __future__ import annotations

from collections.abc import Container

from py_autodoc.blocks.results import Repeat
from py_autodoc.graph.ir.model import Model
from py_autodoc.report.builders.block_section import recognised_blocks
from py_autodoc.report.encode.block_titles import Titles
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.module_tree.scope_tree import SUBGRAPH, ScopeTree
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import RepeatColumns, RepeatInfo

MAX_MEMBER_NODES = 200_000
"""Maximum number of node ids listed over all repeats; further repeats list only count and scopes."""
MAX_SCOPES = 1000
"""Maximum number of scopes listed per repeat."""
MAX_OPS = 3
"""Number of operators used to name a repeat without a better name."""


MIN_SHARE_OF_INSTANCE, MIN_SHARE_OF_SCOPE = 0.9, 0.75
"""Minimum share of a part that its scope covers, and of a scope that its part covers."""


def repeats(analysis: Analysis) -> list[RepeatInfo]:
    """Return the repeats of a model, those that cover most nodes first."""
    infos: list[RepeatInfo] = []
    titles = Titles(recognised_blocks(analysis))
    remaining = MAX_MEMBER_NODES
    for repeat in analysis.structure.repeats:
        size = len(repeat.members[0])
        remaining -= size * repeat.count
        infos.append(
            RepeatInfo(
                count=repeat.count,
                size=size,
                name=repeat_name(analysis.model, repeat, titles),
                type=shorten_middle(repeat.type),
                scopes=[shorten_middle("/".join(path)) for path in repeat.scopes[:MAX_SCOPES]],
                members=[list(member) for member in repeat.members] if remaining >= 0 else [],
            )
        )
    return infos


def repeat_name(model: Model, repeat: Repeat, titles: Titles) -> str:
    """Return the class of the parts, else the name of their list, their role, or their first operators."""
    if repeat.type:
        return shorten_middle(repeat.type)
    stems = {path[-1].rstrip("0123456789").rstrip("._-") for path in repeat.scopes}
    if len(stems) == 1 and stems != {""}:
        return shorten_middle(stems.pop())
    lists = {path[-2] if len(path) > 1 else "" for path in repeat.scopes}
    if len(lists) == 1 and lists != {""}:
        return shorten_middle(lists.pop())
    title = titles.instance_title(repeat.members[0])
    if title:
        return title
    ops = dict.fromkeys(model.nodes[node].op_type for node in repeat.members[0])
    ops.pop("ConstantOfShape", None)
    return shorten_middle("-".join(list(ops)[:MAX_OPS]) + ("…" if len(ops) > MAX_OPS else ""))


def repeat_columns(analysis: Analysis) -> RepeatColumns:
    """Return the repeats in brief, for the viewer."""
    all_repeats = analysis.structure.repeats
    titles = Titles(recognised_blocks(analysis))
    return RepeatColumns(
        count=[repeat.count for repeat in all_repeats],
        size=[len(repeat.members[0]) for repeat in all_repeats],
        name=[repeat_name(analysis.model, repeat, titles) for repeat in all_repeats],
    )


def scopes_of(model: Model, tree: ScopeTree, repeat: Repeat, moved: Container[int]) -> list[int]:
    """Return the scope ids of the parts in the module tree; empty if the parts are not scopes.

    A part's first node is in its scope or below it, unless it is in ``moved``.
    """
    if not repeat.scopes:
        return _nearly_matching_scopes(tree, repeat, moved)
    scopes = []
    for path, member in zip(repeat.scopes, repeat.members, strict=False):
        node = model.nodes[next((node for node in member if node not in moved), member[0])]
        scope = tree.node[node.id]
        for _ in range(len(node.scope) - len(path)):
            if scope >= 0 and tree.origin[scope] != SUBGRAPH:
                scope = tree.parent[scope]
        scopes.append(scope)
    return scopes if all(scope >= 0 for scope in scopes) and len(set(scopes)) == repeat.count else []


def _nearly_matching_scopes(tree: ScopeTree, repeat: Repeat, moved: Container[int]) -> list[int]:
    """Return siblings of equal size that nearly match the parts: fused operators blur module borders.

    Empty if there are none.
    """
    candidates: list[dict[int, int]] = []
    for member in repeat.members:
        inside: dict[int, int] = {}
        for node in member:
            scope = tree.node[node]
            while scope >= 0 and node not in moved:
                inside[scope] = inside.get(scope, 0) + 1
                scope = tree.parent[scope]
        candidates.append(
            {scope: n for scope, n in inside.items() if n >= MIN_SHARE_OF_INSTANCE * len(member)}
        )
    # Models without modules return here, before their nodes are counted.
    if not all(candidates):
        return []
    size = [0] * len(tree.parent)
    for node, scope in enumerate(tree.node):
        while scope >= 0 and node not in moved:
            size[scope] += 1
            scope = tree.parent[scope]
    matching = [
        [scope for scope, n in shares.items() if n >= MIN_SHARE_OF_SCOPE * size[scope]]
        for shares in candidates
    ]
    if not all(matching):
        return []
    closest = [min(shares, key=lambda scope: (size[scope], scope)) for shares in matching]
    parents_and_sizes = {(tree.parent[scope], size[scope]) for scope in closest}
    return closest if len(parents_and_sizes) == 1 and len(set(closest)) == repeat.count else []
