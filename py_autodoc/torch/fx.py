"""Evidence in the FX graph behind a fresh export: exactly which call of which module made a node.

The dynamo exporter keeps the FX node of every ONNX node while the model is in memory. Its
``nn_module_stack`` has a key for each call of a module (``blk``, ``blk@1``), which the file does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import onnx_ir as ir
import torch

from py_autodoc.graph.hierarchy import NO_STACK
from py_autodoc.tags.assign import Frame
from py_autodoc.tags.dynamo import DynamoEvidence, parameters_of
from py_autodoc.tags.naming import Namer

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

    def __init__(self, model: ir.Model, namer: Namer, parameters: dict[str, str] | None = None) -> None:
        """Prepare.

        Args:
            model: as the exporter made it.
            namer: names of the modules, aliases among them.
            parameters: FX placeholder → full name; None: as the model's own metadata says.
        """
        super().__init__(model, parameters_of(model) if parameters is None else parameters)
        self._namer = namer
        self._by_name: dict[str, torch.fx.Node] = {}
        self._calls: dict[tuple[str, str], int] = {}
        graph = main_graph(model)
        self.told = graph is not None
        """False where the exporter kept no FX nodes; calls of one module are then not told apart."""
        if graph is not None:
            self._number(graph.nodes)

    def _number(self, nodes: Iterable[torch.fx.Node]) -> None:
        """Calls of a module are numbered in the order they are made."""
        counts: dict[str, int] = {}
        for node in nodes:
            self._by_name[node.name] = node
            for key, (path, _) in stack_of(node).items():
                own = self._namer.canonical(path)
                if (own, key) not in self._calls:
                    self._calls[own, key] = counts.get(own, 0)
                    counts[own] = self._calls[own, key] + 1

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
        if fx is not None and stack_of(fx):
            return fx
        # A rewriting made it: it has the metadata of the node it replaced, the FX node's name among them.
        scopes = self.scopes(node)
        found = self._by_name.get(scopes[-1]) if len(scopes) > 1 else None
        if found is not None and [path for path, _ in stack_of(found).values()] == scopes[:-1]:
            return found
        return None

    def _frames(self, fx: torch.fx.Node) -> list[Frame]:
        calls, canonical = self._calls, self._namer.canonical
        return [Frame(path, calls.get((canonical(path), key), 0)) for key, (path, _) in stack_of(fx).items()]
