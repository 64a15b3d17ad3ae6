"""The one rule by which nodes get their module, whatever exported the model.

In order: what the exporter recorded; for a node that a rewriting made from several, the module that
owns the weight it still carries; the modules that own the parameters it reads; its surroundings. How a
module is known is kept with it, so that an inferred one is never taken for a recorded one.

Nothing here knows an architecture, an operator or a name; only wiring and ownership count.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple, Protocol

import onnx_ir as ir

from py_autodoc.tags.model import CONTEXT, FUSED, PARAM, ROOT, TRACE, NodeTag, Tags, walk
from py_autodoc.tags.module_inference import infer_modules
from py_autodoc.tags.naming import Namer
from py_autodoc.tags.paths import common, parent, self_and_ancestors


class Frame(NamedTuple):
    """One module being called."""

    path: str
    """Any path of the module; aliases are resolved later."""
    call: int = 0
    """Which of the module's calls, from 0."""


class Evidence(Protocol):
    """What an exporter left about the nodes of one model."""

    exact: bool
    """False where ``frames`` are worked out from names, not recorded."""

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Modules being called when the node was made, outermost first; None when not recorded."""

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """The same for another module the node was made from, as far as it is known."""

    def parameters(self, node: ir.Node) -> Sequence[str]:
        """Full names of the parameters and buffers that the recorded origin of the node reads."""

    def owner(self, name: str) -> str | None:
        """Path of the module that owns the initializer of this name; None when it is not a parameter."""

    def rewritten(self, node: ir.Node) -> bool:
        """True when a rewriting may have made the node from several, keeping the origin of one."""


class _Assignment:
    def __init__(self, model: ir.Model, namer: Namer, evidence: Evidence) -> None:
        self.model = model
        self.namer = namer
        self.evidence = evidence
        self.order = list(walk(model))
        self.scope: dict[ir.Node, str] = {}
        self.via: dict[ir.Node, str] = {}
        self.frames: dict[ir.Node, tuple[Frame, ...]] = {}
        self.scopes: dict[ir.Node, tuple[str, ...]] = {}
        self.called: set[str] = {""}
        self.readers: dict[ir.Value, set[str]] = {}

    def run(self, exporter: str) -> Tags:
        self._traced()
        self._merged()
        self._owned()
        for node, scope in infer_modules(self.model, self.order, self.scope).items():
            self.scope[node], self.via[node] = scope, CONTEXT
        records = {node: self._record(node) for node, _ in self.order}
        return Tags(records, self.namer, exporter, called=frozenset(self.called))

    def _traced(self) -> None:
        canonical = self.namer.canonical
        via = TRACE if self.evidence.exact else CONTEXT
        for node, _ in self.order:
            frames = self.evidence.frames(node)
            if frames:
                own = tuple(Frame(canonical(path), call) for path, call in frames)
                self.frames[node] = own
                self.scope[node], self.via[node] = own[-1].path, via
                self.called.update(frame.path for frame in own)

    def _merged(self) -> None:
        """Several nodes made into one keep the origin of the first; weights tell of the others."""
        merged = [node for node in self.frames if self.evidence.rewritten(node)]
        for value in {value for node in merged for value in node.inputs if value is not None}:
            if value.producer() is None:
                self.readers[value] = {self.scope[u.node] for u in value.uses() if u.node in self.scope}
        for node in merged:
            self._merge(node)

    def _merge(self, node: ir.Node) -> None:
        here = self.scope[node]
        read = set(self.evidence.parameters(node))
        sizes: dict[str, int] = {}
        for value in node.inputs:
            owner = self._initializer_owner(value)
            if value is None or owner is None:
                continue
            # Read in its owner too: the two share it, or an equal initializer was left out for it.
            foreign = value.name not in read and owner not in self.readers[value]
            if owner == here or foreign:
                sizes[owner] = max(sizes.get(owner, 0), _size(value))
        if not sizes.keys() - {here}:
            return
        primary = max(sizes, key=lambda owner: (sizes[owner], owner == here))
        self.scopes[node] = tuple(sorted({here, *sizes}))
        self.via[node] = FUSED
        if primary != here:
            found = self.evidence.frames_of(node, primary) or self._above(node, primary)
            self.frames[node] = tuple(Frame(self.namer.canonical(p), call) for p, call in found)
            self.scope[node] = primary
            self.called.update(frame.path for frame in self.frames[node])

    def _above(self, node: ir.Node, primary: str) -> list[Frame]:
        """Frames for the owner of a weight of which nothing more is known: those shared with ``node``."""
        shared = common((self.scope[node], primary))
        above = set(self_and_ancestors(shared))
        frames = [frame for frame in self.frames[node] if frame.path in above]
        return [*frames, Frame(primary, self.frames[node][-1].call)]

    def _initializer_owner(self, value: ir.Value | None) -> str | None:
        if value is None or value.producer() is not None or not value.name:
            return None
        owner = self.evidence.owner(value.name)
        return None if owner is None else self.namer.canonical(owner)

    def _owned(self) -> None:
        for node, _ in self.order:
            if node not in self.scope:
                owners = [self.namer.canonical(parent(name)) for name in self.evidence.parameters(node)]
                if owners:
                    self.scope[node], self.via[node] = common(owners), PARAM

    def _record(self, node: ir.Node) -> NodeTag:
        scope = self.scope.get(node, "")
        frames = self.frames.get(node, ())
        call = {frame.path: frame.call for frame in frames if frame.call}
        paths = tuple(frame.path for frame in frames)
        above = set(self_and_ancestors(scope))
        stack = () if all(path in above for path in paths) else paths
        via = self.via.get(node, ROOT)
        return NodeTag(scope, self.namer.tag(scope), via, self.scopes.get(node, ()), call, stack)


def assign(model: ir.Model, namer: Namer, evidence: Evidence, exporter: str = "") -> Tags:
    """Give every node of ``model`` its module: bodies of control flow and functions included.

    Nothing is written; ``write_tags`` does that. Linear in nodes and edges.
    """
    return _Assignment(model, namer, evidence).run(exporter)


def _size(value: ir.Value) -> int:
    """Elements of a value; 0 when its shape is not known."""
    if value.shape is None:
        tensor = value.const_value
        return int(tensor.size) if tensor is not None else 0
    return prod(dim if isinstance(dim, int) else 0 for dim in value.shape)
