"""Evidence in the FX graph behind a fresh export: exactly which call of which module made a node.

The dynamo exporter keeps the FX node of every ONNX node while the model is in memory. Its
``nn_module_stack`` has a key for each call of a module (``blk``, ``blk@1``), which the file does not.
Nodes in branches and loops have none; ``control_flow_modules`` tells of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import onnx_ir as ir
import torch

from py_autodoc.graph.loading.module_scopes import NO_STACK
from py_autodoc.tags.assign import Frame
from py_autodoc.tags.dynamo import DynamoEvidence, parameters_of
from py_autodoc.tags.model import walk
from py_autodoc.tags.naming import Namer
from py_autodoc.torch.control_flow_modules import Branches

_FX = "node"
"""Key of the FX node in ``ir.Node.meta``."""
_REACH = 256
"""FX nodes looked at for another origin of a merged node."""


def fx_node(node: ir.Node) -> torch.fx.Node | None:
    """The FX node an ONNX node was made from, where it is known."""
    found = node.meta.get(_FX)
    return found if isinstance(found, torch.fx.Node) else None


def main_graph(model: ir.Model) -> torch.fx.Graph | None:
    """The FX graph behind a model's main graph; None when the exporter kept none."""
    return next((fx.graph for node in model.graph if (fx := fx_node(node)) is not None), None)


def stack_of(node: torch.fx.Node) -> dict[str, tuple[str, Any]]:
    """Call key → (path, class) of the modules being called, outermost first."""
    stack = node.meta.get("nn_module_stack") or {}
    return {} if NO_STACK in stack else stack


def graphs_of(node: torch.fx.Node) -> list[torch.fx.Graph]:
    """The graphs that a node of control flow takes as arguments: its branches, its body."""
    found = []
    for one in node.all_input_nodes:
        if one.op == "get_attr" and "." not in str(one.target):
            inner = getattr(node.graph.owning_module, str(one.target), None)
            if isinstance(inner, torch.fx.GraphModule):
                found.append(inner.graph)
    return found


def classes_in(graph: torch.fx.Graph) -> dict[str, str]:
    """Path → class of every module that is called in a graph: all that is known without the model."""
    found: dict[str, str] = {}
    for node in graph.nodes:
        for path, kind in stack_of(node).values():
            name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
            found.setdefault(path, name)
    return found


class FxEvidence(DynamoEvidence):
    """Evidence of a model that was just exported."""

    def __init__(
        self,
        model: ir.Model,
        namer: Namer,
        parameters: dict[str, str] | None = None,
        branches: Branches | None = None,
    ) -> None:
        """Prepare.

        Args:
            model: as the exporter made it.
            namer: names of the modules, aliases among them.
            parameters: FX placeholder → full name; None: as the model's own metadata says.
            branches: the modules in branches and loops, recorded during the export.
        """
        super().__init__(model, parameters_of(model) if parameters is None else parameters)
        self._namer = namer
        self._branches = branches
        self._by_name: dict[tuple[torch.fx.Graph, str], torch.fx.Node] = {}
        self._stacks: dict[torch.fx.Node, dict[str, str]] = {}
        self._calls: dict[tuple[str, str], int] = {}
        self._graphs = _graphs(model)
        graph = main_graph(model)
        self.told = graph is not None
        """False where the exporter kept no FX nodes; calls of one module are then not told apart."""
        if graph is not None:
            self._number(graph)

    def _number(self, graph: torch.fx.Graph) -> None:
        """Calls of a module are numbered in the order they are made, those in branches with the branch."""
        counts: dict[str, int] = {}
        bodies = 0
        pending: list[tuple[Iterator[torch.fx.Node], dict[str, str], int]] = [(iter(graph.nodes), {}, 0)]
        while pending:
            nodes, around, body = pending[-1]
            node = next(nodes, None)
            if node is None:
                pending.pop()
                continue
            self._by_name[node.graph, node.name] = node
            for key, path in self._note(node, around, body).items():
                own = self._namer.canonical(path)
                if (own, key) not in self._calls:
                    self._calls[own, key] = counts.get(own, 0)
                    counts[own] = self._calls[own, key] + 1
            inner = graphs_of(node)
            around = self._stacks.get(node, {})
            pending += [(iter(one.nodes), around, bodies + 1 + at) for at, one in enumerate(inner)][::-1]
            bodies += len(inner)

    def _note(self, node: torch.fx.Node, around: dict[str, str], body: int) -> dict[str, str]:
        """Call key → path of the modules being called: those around the body it is in, then those in it."""
        stack = {key: path for key, (path, _) in stack_of(node).items()}
        if not stack and body and self._branches is not None:
            inside = self._branches.calls(node)
            if inside is not None:
                known = {key.partition(":")[2] for key in around}  # a body in a body repeats them
                stack = dict(around)
                stack.update((f"{body}:{key}", path) for key, path in inside.items() if key not in known)
        if stack:
            self._stacks[node] = stack
        return stack

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Modules being called, with the number of the call."""
        fx = self._fx(node)
        return self._frames(fx) if fx is not None else super().frames(node)

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """The call of module ``path`` that the recorded origin of ``node`` got its input from."""
        start = self._fx(node)
        pending = deque([start] if start is not None else [])
        seen = set(pending)
        while pending and len(seen) < _REACH:
            at = pending.popleft()
            frames = self._frames(at)
            if frames and self._namer.canonical(frames[-1].path) == path:
                return frames
            fresh = [one for one in at.all_input_nodes if one not in seen]
            seen.update(fresh)
            pending.extend(fresh)
        return None

    def _fx(self, node: ir.Node) -> torch.fx.Node | None:
        fx = fx_node(node)
        if fx is not None and fx in self._stacks:
            return fx
        # A rewriting made it: it has the metadata of the node it replaced, the FX node's name among them.
        scopes = self.scopes(node)
        graph = self._graphs.get(node.graph)
        found = self._by_name.get((graph, scopes[-1])) if scopes and graph is not None else None
        if found in self._stacks and [path for path, _ in stack_of(found).values()] == scopes[:-1]:
            return found
        return None

    def _frames(self, fx: torch.fx.Node) -> list[Frame]:
        calls, canonical = self._calls, self._namer.canonical
        return [
            Frame(path, calls.get((canonical(path), key), 0))
            for key, path in self._stacks.get(fx, {}).items()
        ]


def _graphs(model: ir.Model) -> dict[object, torch.fx.Graph]:
    """ONNX graph or body → the FX graph it was made from."""
    found: dict[object, torch.fx.Graph] = {}
    for node, _ in walk(model):
        if node.graph not in found and (fx := fx_node(node)) is not None:
            found[node.graph] = fx.graph
    return found
