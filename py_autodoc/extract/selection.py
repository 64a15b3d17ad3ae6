"""Which nodes a sub-model is cut from: a module by tag or path, or nodes by what they make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from py_autodoc.errors import InputError, OptionError
from py_autodoc.similar_names import similar_names
from py_autodoc.tags import Tags, bodies, walk
from py_autodoc.tags.paths import below


@dataclass(frozen=True, slots=True)
class Selection:
    """Nodes of one graph that are cut out whole, their bodies included."""

    graph: ir.Graph
    """The innermost graph that holds all that was asked for."""
    nodes: tuple[ir.Node, ...]
    """Nodes of ``graph``, in file order."""
    asked: frozenset[ir.Node]
    """What was asked for, in whatever body."""
    target: str
    """How a reader calls it."""
    call: int | None = None

    @property
    def widened(self) -> tuple[ir.Node, ...]:
        """Control-flow nodes that are cut out whole although only a part of them was asked for."""
        return tuple(node for node in self.nodes if node not in self.asked)


def by_module(model: ir.Model, tags: Tags, target: str, call: int | None = None) -> Selection:
    """The nodes of a module.

    Args:
        model: the graph.
        tags: its tags.
        target: a tag (``/BertModel/BertEncoder/BertLayer.0``) or a module path (``encoder.layer.0``);
            ``/`` and the empty path are the whole model.
        call: which call of a module that is called several times, from 0; None for all of them.

    Raises:
        OptionError: no such module or call, with the nearest names; or no node is left of it.
    """
    path = _path(tags, target)
    if path is not None:
        chosen = tags.below(path, call)
        _check_call(tags, path, target, call, chosen)
    else:
        # Without a table only the tags themselves are known.
        chosen = [
            node
            for node, record in tags.records.items()
            if record.tag == target or record.tag.startswith(target.rstrip("/") + "/")
        ]
    if not chosen:
        raise _nothing(tags, target, path)
    return _selection(model, chosen, target or "/", call)


def by_outputs(model: ir.Model, names: Iterable[str]) -> Selection:
    """The nodes that make the given tensors, whatever body they are in.

    Raises:
        OptionError: no node makes a tensor of that name.
    """
    makers = {value.name: node for node, _ in walk(model) for value in node.outputs if value.name}
    chosen = []
    for name in names:
        if name not in makers:
            raise _unknown("tensor that a node makes", name, [key for key in makers if key])
        chosen.append(makers[name])
    if not chosen:
        raise OptionError("nothing-selected", "No node is selected.", "Select what to extract.")
    return _selection(model, chosen, f"{len(set(chosen)):,} nodes", None)


def by_ids(model: ir.Model, ids: Iterable[int]) -> Selection:
    """The nodes with those ids, which are those of a report: graph by graph, outer ones first.

    Raises:
        OptionError: there is no such node.
    """
    graphs = [model.graph]
    nodes: list[ir.Node] = []
    for graph in graphs:  # grows while bodies are found
        for node in graph:
            nodes.append(node)
            graphs.extend(bodies(node))
    wanted = set(ids)
    if not wanted:
        raise OptionError("nothing-selected", "No node is selected.", "Select what to extract.")
    wrong = next((one for one in wanted if not 0 <= one < len(nodes)), None)
    if wrong is not None:
        last = f"Ids are numbers from 0 to {len(nodes) - 1:,}."
        raise OptionError("unknown-node", f"Unknown node {wrong}.", last)
    what = "1 node" if len(wanted) == 1 else f"{len(wanted):,} nodes"
    return _selection(model, [nodes[one] for one in sorted(wanted)], what, None)


def _path(tags: Tags, target: str) -> str | None:
    """Path of the module; None when the model tells tags only."""
    namer = tags.namer
    if target in ("", "/"):
        return ""
    if not target.startswith("/"):
        return namer.canonical(target)
    target = target.rstrip("/")
    return next((path for path, tag in namer.tags.items() if tag == target and tag), None)


def _check_call(tags: Tags, path: str, target: str, call: int | None, chosen: Sequence[ir.Node]) -> None:
    if call is None or chosen:
        return
    calls = tags.calls(path)
    if calls:
        last = f"from 0 to {calls - 1}" if calls > 1 else "only call 0"
        raise OptionError("unknown-call", f"{target}: no node comes from call {call}.", f"There is {last}.")


def _nothing(tags: Tags, target: str, path: str | None) -> OptionError:
    """Why a module has no node: it is unknown, or what it did went into nodes of others."""
    if path is not None:
        holders = sorted({r.scope for r in tags.records.values() if any(below(s, path) for s in r.scopes)})
        if holders:
            where = ", ".join(holders[:3])
            return OptionError(
                "module-folded", f"{target}: its work was merged into {where}.", "Extract that module."
            )
        if path in tags.namer.classes:
            return OptionError(
                "module-without-nodes",
                f"{target}: no node is left of this module.",
                "It was folded into constants, did nothing when exported, or never ran.",
            )
    records = tags.records.values()
    known = {r.tag for r in records} if target.startswith("/") else {r.scope for r in records}
    known |= set(tags.namer.tags.values() if target.startswith("/") else tags.namer.tags)
    return _unknown("module", target, sorted(name for name in known if name))


def _unknown(what: str, name: str, known: Sequence[str]) -> OptionError:
    found = similar_names(name, known)
    hint = f"Near it: {', '.join(found)}." if found else "`onnx-autodoc tags MODEL` lists the modules."
    return OptionError(f"unknown-{what.split()[0]}", f"{name}: no such {what}.", hint)


def _selection(model: ir.Model, chosen: Sequence[ir.Node], target: str, call: int | None) -> Selection:
    """Lift the nodes to the innermost graph that holds them all."""
    outer = dict(walk(model))
    chains: dict[ir.Node | None, tuple[ir.Node, ...]] = {None: ()}

    def around(node: ir.Node) -> tuple[ir.Node, ...]:
        """Control-flow nodes around a node, outermost first."""
        missing = []
        above = outer[node]
        while above not in chains:
            missing.append(above)
            above = outer[above] if above is not None else None
        for one in reversed(missing):
            assert one is not None
            chains[one] = (*chains[outer[one]], one)
        return chains[outer[node]]

    shared: tuple[ir.Node, ...] | None = None
    homes = {node.graph for node in chosen}
    for node in chosen:
        here = around(node)
        if shared is None:
            shared = here
            continue
        length = next((i for i, (a, b) in enumerate(zip(shared, here, strict=False)) if a is not b), None)
        shared = shared[: min(len(shared), len(here)) if length is None else length]
    depth = len(shared or ())
    if len(homes) > 1 and depth and len({_lifted(n, around(n), depth).graph for n in chosen}) > 1:
        depth -= 1  # both branches of one If: the If as a whole
    lifted = {_lifted(node, around(node), depth) for node in chosen}
    graph = next(iter(lifted)).graph
    if not isinstance(graph, ir.Graph):
        raise InputError(
            "inside-a-function",
            f"{target}: its nodes are in a local function.",
            "Inline the functions first.",
        )
    return Selection(graph, tuple(n for n in graph if n in lifted), frozenset(chosen), target, call)


def _lifted(node: ir.Node, around: Sequence[ir.Node], depth: int) -> ir.Node:
    return around[depth] if len(around) > depth else node
