"""Repeats as the report and the viewer's payload tell them."""

from __future__ import annotations

from collections.abc import Container

from py_autodoc.blocks.results import Repeat
from py_autodoc.graph.ir.model import Model
from py_autodoc.report.builders.block_section import recognised
from py_autodoc.report.encode.block_titles import Titles
from py_autodoc.report.encode.labels import shorten_middle
from py_autodoc.report.module_tree.scope_tree import SUBGRAPH, ScopeTree
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import RepeatColumns, RepeatInfo

MAX_MEMBER_NODES = 200_000
"""Node ids listed in all repeats together; repeats beyond have their count and scopes only."""
MAX_SCOPES = 1000
"""Scopes listed of one repeat."""
SHOWN_OPS = 3
"""Operators that name a repeat without a better name."""


NEARLY, MOSTLY = 0.9, 0.75
"""Least share of a part that its scope holds, and of a scope that its part holds."""


def repeats(analysis: Analysis) -> list[RepeatInfo]:
    """The repeats of a model, those that cover most nodes first."""
    found: list[RepeatInfo] = []
    titles = Titles(recognised(analysis.structure))
    room = MAX_MEMBER_NODES
    for repeat in analysis.structure.repeats:
        size = len(repeat.members[0])
        room -= size * repeat.count
        found.append(
            RepeatInfo(
                count=repeat.count,
                size=size,
                name=repeat_name(analysis.model, repeat, titles),
                type=shorten_middle(repeat.type),
                scopes=[shorten_middle("/".join(path)) for path in repeat.scopes[:MAX_SCOPES]],
                members=[list(part) for part in repeat.members] if room >= 0 else [],
            )
        )
    return found


def repeat_name(model: Model, repeat: Repeat, titles: Titles) -> str:
    """The class of the parts, else their list's name, else what they are, else their first operators."""
    if repeat.type:
        return shorten_middle(repeat.type)
    stems = {path[-1].rstrip("0123456789").rstrip("._-") for path in repeat.scopes}
    if len(stems) == 1 and stems != {""}:
        return shorten_middle(stems.pop())
    lists = {path[-2] if len(path) > 1 else "" for path in repeat.scopes}
    if len(lists) == 1 and lists != {""}:
        return shorten_middle(lists.pop())
    known = titles.part(repeat.members[0])
    if known:
        return known
    ops = dict.fromkeys(model.nodes[node].op_type for node in repeat.members[0])
    ops.pop("ConstantOfShape", None)
    return shorten_middle("-".join(list(ops)[:SHOWN_OPS]) + ("…" if len(ops) > SHOWN_OPS else ""))


def repeat_columns(analysis: Analysis) -> RepeatColumns:
    """The repeats in short, for the viewer."""
    found = analysis.structure.repeats
    titles = Titles(recognised(analysis.structure))
    return RepeatColumns(
        count=[repeat.count for repeat in found],
        size=[len(repeat.members[0]) for repeat in found],
        name=[repeat_name(analysis.model, repeat, titles) for repeat in found],
    )


def scopes_of(model: Model, tree: ScopeTree, repeat: Repeat, moved: Container[int]) -> list[int]:
    """Scope ids of the parts in the tree of modules, empty where the parts are not scopes.

    A part's first node lies in its scope or deeper, unless it is one of those ``moved``.
    """
    if not repeat.scopes:
        return _mostly(tree, repeat, moved)
    found = []
    for path, part in zip(repeat.scopes, repeat.members, strict=False):
        node = model.nodes[next((node for node in part if node not in moved), part[0])]
        scope = tree.node[node.id]
        for _ in range(len(node.scope) - len(path)):
            if scope >= 0 and tree.origin[scope] != SUBGRAPH:
                scope = tree.parent[scope]
        found.append(scope)
    return found if all(scope >= 0 for scope in found) and len(set(found)) == repeat.count else []


def _mostly(tree: ScopeTree, repeat: Repeat, moved: Container[int]) -> list[int]:
    """Siblings of one size that nearly are the parts: a fused operator belongs to one of two modules.

    Empty where there are none.
    """
    candidates: list[dict[int, int]] = []
    for part in repeat.members:
        inside: dict[int, int] = {}
        for node in part:
            scope = tree.node[node]
            while scope >= 0 and node not in moved:
                inside[scope] = inside.get(scope, 0) + 1
                scope = tree.parent[scope]
        candidates.append({scope: n for scope, n in inside.items() if n >= NEARLY * len(part)})
    # A model without modules ends here, before its nodes are counted.
    if not all(candidates):
        return []
    size = [0] * len(tree.parent)
    for node, scope in enumerate(tree.node):
        while scope >= 0 and node not in moved:
            size[scope] += 1
            scope = tree.parent[scope]
    near = [[scope for scope, n in each.items() if n >= MOSTLY * size[scope]] for each in candidates]
    if not all(near):
        return []
    found = [min(each, key=lambda scope: (size[scope], scope)) for each in near]
    alike = {(tree.parent[scope], size[scope]) for scope in found}
    return found if len(alike) == 1 and len(set(found)) == repeat.count else []
