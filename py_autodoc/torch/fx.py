"""Evidence in the FX graph of a new export: the exact module call that produced each node.

The dynamo exporter keeps the FX node of every ONNX node while the model is in memory. Its ``nn_module_stack``
has one key for each call of a module (``blk``, ``blk@1``), which the file does not have. Nodes in branches
and loops have no stack; ``control_flow_modules`` records their modules.
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
"""Maximum number of FX nodes searched for another origin of a merged node."""


def fx_node(node: ir.Node) -> torch.fx.Node | None:
    """Return the FX node an ONNX node was made from; None if unknown."""
    original = node.meta.get(_FX)
    return original if isinstance(original, torch.fx.Node) else None


def main_graph(model: ir.Model) -> torch.fx.Graph | None:
    """Return the FX graph of a model's main graph; None if the exporter kept none."""
    return next((fx.graph for node in model.graph if (fx := fx_node(node)) is not None), None)


def stack_of(node: torch.fx.Node) -> dict[str, tuple[str, Any]]:
    """Return call key → (path, class) of the enclosing module calls, outermost first."""
    stack = node.meta.get("nn_module_stack") or {}
    return {} if NO_STACK in stack else stack


def graphs_of(node: torch.fx.Node) -> list[torch.fx.Graph]:
    """Return the graphs among the arguments of a control-flow node: its branches or its body."""
    graphs = []
    for input_node in node.all_input_nodes:
        if input_node.op == "get_attr" and "." not in str(input_node.target):
            inner = getattr(node.graph.owning_module, str(input_node.target), None)
            if isinstance(inner, torch.fx.GraphModule):
                graphs.append(inner.graph)
    return graphs


def classes_in(graph: torch.fx.Graph) -> dict[str, str]:
    """Return path → class of every module called in a graph, for exports without the model."""
    classes: dict[str, str] = {}
    for node in graph.nodes:
        for path, kind in stack_of(node).values():
            name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
            classes.setdefault(path, name)
    return classes


class FxEvidence(DynamoEvidence):
    """Evidence of a newly exported model."""

    def __init__(
        self,
        model: ir.Model,
        namer: Namer,
        parameters: dict[str, str] | None = None,
        branches: Branches | None = None,
    ) -> None:
        """Number the module calls of the graph.

        Args:
            model: the model as the exporter created it.
            namer: names of the modules, including aliases.
            parameters: FX placeholder → full name; None reads them from the model's metadata.
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
        self.has_graph = graph is not None
        """False if the exporter kept no FX nodes; calls of the same module are then not distinguished."""
        if graph is not None:
            self._number(graph)

    def _number(self, graph: torch.fx.Graph) -> None:
        """Number the calls of each module in execution order; calls in branches count with the branch."""
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
                canonical = self._namer.canonical(path)
                if (canonical, key) not in self._calls:
                    self._calls[canonical, key] = counts.get(canonical, 0)
                    counts[canonical] = self._calls[canonical, key] + 1
            inner = graphs_of(node)
            around = self._stacks.get(node, {})
            subgraphs = [(iter(graph.nodes), around, bodies + 1 + i) for i, graph in enumerate(inner)]
            pending += reversed(subgraphs)
            bodies += len(inner)

    def _note(self, node: torch.fx.Node, around: dict[str, str], body: int) -> dict[str, str]:
        """Return call key → path of the enclosing module calls, those around the subgraph first."""
        stack = {key: path for key, (path, _) in stack_of(node).items()}
        if not stack and body and self._branches is not None:
            inside = self._branches.calls(node)
            if inside is not None:
                repeated = {key.partition(":")[2] for key in around}  # a nested subgraph repeats them
                stack = dict(around)
                stack.update((f"{body}:{key}", path) for key, path in inside.items() if key not in repeated)
        if stack:
            self._stacks[node] = stack
        return stack

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Return the enclosing module calls with their call numbers."""
        fx = self._fx(node)
        return self._frames(fx) if fx is not None else super().frames(node)

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """Return the call of module ``path`` that provided the input of the recorded origin of ``node``."""
        start = self._fx(node)
        pending = deque([start] if start is not None else [])
        visited = set(pending)
        while pending and len(visited) < _REACH:
            current = pending.popleft()
            frames = self._frames(current)
            if frames and self._namer.canonical(frames[-1].path) == path:
                return frames
            fresh = [input_node for input_node in current.all_input_nodes if input_node not in visited]
            visited.update(fresh)
            pending.extend(fresh)
        return None

    def _fx(self, node: ir.Node) -> torch.fx.Node | None:
        fx = fx_node(node)
        if fx is not None and fx in self._stacks:
            return fx
        # A rewrite created it, with the metadata of the node it replaced, including the FX node's name.
        scopes = self.scopes(node)
        graph = self._graphs.get(node.graph)
        candidate = self._by_name.get((graph, scopes[-1])) if scopes and graph is not None else None
        if candidate in self._stacks and [path for path, _ in stack_of(candidate).values()] == scopes[:-1]:
            return candidate
        return None

    def _frames(self, fx: torch.fx.Node) -> list[Frame]:
        calls, canonical = self._calls, self._namer.canonical
        return [
            Frame(path, calls.get((canonical(path), key), 0))
            for key, path in self._stacks.get(fx, {}).items()
        ]


def _graphs(model: ir.Model) -> dict[object, torch.fx.Graph]:
    """Return ONNX graph or subgraph → the FX graph it was made from."""
    graphs: dict[object, torch.fx.Graph] = {}
    for node, _ in walk(model):
        if node.graph not in graphs and (fx := fx_node(node)) is not None:
            graphs[node.graph] = fx.graph
    return graphs
