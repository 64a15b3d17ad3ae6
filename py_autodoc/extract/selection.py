"""Selection of the nodes of a sub-model: a module by tag or path, or nodes by their outputs."""

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
    """Nodes of one graph to extract as a whole, including their subgraphs."""

    graph: ir.Graph
    """The innermost graph that contains the whole selection."""
    nodes: tuple[ir.Node, ...]
    """Nodes of ``graph``, in file order."""
    requested: frozenset[ir.Node]
    """The requested nodes, in any subgraph."""
    target: str
    """Display name of the selection."""
    call: int | None = None

    @property
    def widened(self) -> tuple[ir.Node, ...]:
        """Control-flow nodes extracted as a whole although only a part was requested."""
        return tuple(node for node in self.nodes if node not in self.requested)


def by_module(model: ir.Model, tags: Tags, target: str, call: int | None = None) -> Selection:
    """Select the nodes of a module.

    Args:
        model: the graph.
        tags: its tags.
        target: a tag (``/BertModel/BertEncoder/BertLayer.0``) or a module path (``encoder.layer.0``);
            ``/`` and the empty path are the whole model.
        call: call number, from 0, of a module that is called several times; None for all calls.

    Raises:
        OptionError: unknown module or call, with the nearest names; or it has no nodes left.
    """
    path = _path(tags, target)
    if path is not None:
        chosen = tags.below(path, call)
        _check_call(tags, path, target, call, chosen)
    else:
        # Without a table, only the tags themselves are known.
        chosen = [
            node
            for node, record in tags.records.items()
            if record.tag == target or record.tag.startswith(target.rstrip("/") + "/")
        ]
    if not chosen:
        raise _nothing(tags, target, path)
    return _selection(model, chosen, target or "/", call)


def by_outputs(model: ir.Model, names: Iterable[str]) -> Selection:
    """Select the nodes that produce the given tensors, in any subgraph.

    Raises:
        OptionError: no node produces a tensor with that name.
    """
    producers = {value.name: node for node, _ in walk(model) for value in node.outputs if value.name}
    chosen = []
    for name in names:
        if name not in producers:
            raise _unknown("tensor", name, [key for key in producers if key])
        chosen.append(producers[name])
    if not chosen:
        raise OptionError("nothing-selected", "No node is selected.", "Select the nodes to extract.")
    return _selection(model, chosen, f"{len(set(chosen)):,} nodes", None)


def by_ids(model: ir.Model, ids: Iterable[int | str]) -> Selection:
    """Select nodes by id or name. Ids are as in a report: graph by graph, outer graphs first.

    Raises:
        OptionError: unknown id or name, or several nodes have the name.
    """
    graphs = [model.graph]
    nodes: list[ir.Node] = []
    for graph in graphs:  # grows as subgraphs are found
        for node in graph:
            nodes.append(node)
            graphs.extend(bodies(node))
    requested = {_id_of(one, nodes) if isinstance(one, str) else one for one in ids}
    if not requested:
        raise OptionError("nothing-selected", "No node is selected.", "Select the nodes to extract.")
    wrong = next((id for id in requested if not 0 <= id < len(nodes)), None)
    if wrong is not None:
        last = f"Node ids are numbers from 0 to {len(nodes) - 1:,}."
        raise OptionError("unknown-node", f"Unknown node {wrong}.", last)
    what = "1 node" if len(requested) == 1 else f"{len(requested):,} nodes"
    return _selection(model, [nodes[id] for id in sorted(requested)], what, None)


def _id_of(name: str, nodes: Sequence[ir.Node]) -> int:
    """Return the id of the only node with a name."""
    found = [id for id, node in enumerate(nodes) if node.name == name] if name else []
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(map(str, found[:3])) + (" …" if len(found) > 3 else "")
        raise OptionError("ambiguous-node", f"{name}: {len(found):,} nodes have this name.", f"Ids: {some}.")
    similar = similar_names(name, [node.name for node in nodes if node.name])
    hint = (
        f"Did you mean {' or '.join(similar)}?" if similar else "A report lists the ids and names of nodes."
    )
    raise OptionError("unknown-node", f"{name}: no such node.", hint)


def _path(tags: Tags, target: str) -> str | None:
    """Return the path of the module; None if the model only has tags."""
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
        hint = f"Choose a call from 0 to {calls - 1}." if calls > 1 else "It has only call 0."
        raise OptionError("unknown-call", f"{target} has no call {call}.", hint)


def _nothing(tags: Tags, target: str, path: str | None) -> OptionError:
    """Return why a module has no nodes: it is unknown, or was merged into nodes of others."""
    if path is not None:
        holders = sorted({r.scope for r in tags.records.values() if any(below(s, path) for s in r.scopes)})
        if holders:
            modules = ", ".join(holders[:3])
            return OptionError(
                "module-folded", f"{target} was merged into {modules}.", "Extract that module."
            )
        if path in tags.namer.classes:
            return OptionError(
                "module-without-nodes",
                f"{target} has no nodes.",
                "It was folded into constants, had no effect in the export, or was never called.",
            )
    records = tags.records.values()
    names = {r.tag for r in records} if target.startswith("/") else {r.scope for r in records}
    names |= set(tags.namer.tags.values() if target.startswith("/") else tags.namer.tags)
    return _unknown("module", target, sorted(name for name in names if name))


def _unknown(what: str, name: str, names: Sequence[str]) -> OptionError:
    similar = similar_names(name, names)
    modules = "Run `onnx-autodoc tags MODEL` to list the modules." if what == "module" else ""
    hint = f"Did you mean {' or '.join(similar)}?" if similar else modules
    message = f"{name}: no such module." if what == "module" else f"{name}: no node produces this tensor."
    return OptionError(f"unknown-{what}", message, hint)


def _selection(model: ir.Model, chosen: Sequence[ir.Node], target: str, call: int | None) -> Selection:
    """Lift the nodes to the innermost graph that contains them all."""
    outer = dict(walk(model))
    chains: dict[ir.Node | None, tuple[ir.Node, ...]] = {None: ()}

    def around(node: ir.Node) -> tuple[ir.Node, ...]:
        """Return the control-flow nodes around a node, outermost first."""
        missing = []
        above = outer[node]
        while above not in chains:
            missing.append(above)
            above = outer[above] if above is not None else None
        for holder in reversed(missing):
            assert holder is not None
            chains[holder] = (*chains[outer[holder]], holder)
        return chains[outer[node]]

    shared: tuple[ir.Node, ...] | None = None
    graphs = {node.graph for node in chosen}
    for node in chosen:
        outer_nodes = around(node)
        if shared is None:
            shared = outer_nodes
            continue
        length = next(
            (i for i, (a, b) in enumerate(zip(shared, outer_nodes, strict=False)) if a is not b), None
        )
        shared = shared[: min(len(shared), len(outer_nodes)) if length is None else length]
    depth = len(shared or ())
    if len(graphs) > 1 and depth and len({_lifted(n, around(n), depth).graph for n in chosen}) > 1:
        depth -= 1  # both branches of one If: select the If as a whole
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
