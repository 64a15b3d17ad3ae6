"""Assigns nodes to modules, whatever exported the model.

In order: the exporter's record; for a node that a rewrite merged from several, the module that owns the
weight it still has; the modules that own the parameters it reads; its neighbours. The source is stored with
each tag, so that an inferred module is never shown as a recorded one.

No architecture, operator or name is special; only edges and ownership count.
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
    """A module being called."""

    path: str
    """Any path of the module; aliases are resolved later."""
    call: int = 0
    """Call number of the module, from 0."""


class Evidence(Protocol):
    """Records that an exporter left about the nodes of one model."""

    exact: bool
    """False if ``frames`` are inferred from names instead of recorded."""

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Return the modules being called when the node was created, outermost first; None if unrecorded."""

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """Return the frames of another module merged into the node, as far as known."""

    def parameters(self, node: ir.Node) -> Sequence[str]:
        """Return full names of the parameters and buffers read by the recorded origin of the node."""

    def owning_module(self, name: str) -> str | None:
        """Return the path of the module that owns an initializer; None if it is not a parameter."""

    def rewritten(self, node: ir.Node) -> bool:
        """True if a rewrite may have merged several nodes into this one, keeping the origin of one."""


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
                canonical_frames = tuple(Frame(canonical(path), call) for path, call in frames)
                self.frames[node] = canonical_frames
                self.scope[node], self.via[node] = canonical_frames[-1].path, via
                self.called.update(frame.path for frame in canonical_frames)

    def _merged(self) -> None:
        """A merged node keeps the origin of the first node; its weights reveal the others."""
        merged = [node for node in self.frames if self.evidence.rewritten(node)]
        for value in {value for node in merged for value in node.inputs if value is not None}:
            if value.producer() is None:
                self.readers[value] = {self.scope[u.node] for u in value.uses() if u.node in self.scope}
        for node in merged:
            self._merge(node)

    def _merge(self, node: ir.Node) -> None:
        scope = self.scope[node]
        read = set(self.evidence.parameters(node))
        sizes: dict[str, int] = {}
        for value in node.inputs:
            module = self._initializer_owner(value)
            if value is None or module is None:
                continue
            # Its owner reads it, too: the weight is shared, or an equal initializer was removed.
            is_shared = value.name not in read and module not in self.readers[value]
            if module == scope or is_shared:
                sizes[module] = max(sizes.get(module, 0), _size(value))
        if not sizes.keys() - {scope}:
            return
        primary = max(sizes, key=lambda module: (sizes[module], module == scope))
        self.scopes[node] = tuple(sorted({scope, *sizes}))
        self.via[node] = FUSED
        if primary != scope:
            frames = self.evidence.frames_of(node, primary) or self._above(node, primary)
            self.frames[node] = tuple(Frame(self.namer.canonical(p), call) for p, call in frames)
            self.scope[node] = primary
            self.called.update(frame.path for frame in self.frames[node])

    def _above(self, node: ir.Node, primary: str) -> list[Frame]:
        """Return frames for a weight's owner without records: those shared with ``node``."""
        shared = common((self.scope[node], primary))
        above = set(self_and_ancestors(shared))
        frames = [frame for frame in self.frames[node] if frame.path in above]
        return [*frames, Frame(primary, self.frames[node][-1].call)]

    def _initializer_owner(self, value: ir.Value | None) -> str | None:
        if value is None or value.producer() is not None or not value.name:
            return None
        module = self.evidence.owning_module(value.name)
        return None if module is None else self.namer.canonical(module)

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
    """Assign a module to every node of ``model``, including subgraphs and functions.

    Does not modify the model; see ``write_tags``. Linear in nodes and edges.
    """
    return _Assignment(model, namer, evidence).run(exporter)


def _size(value: ir.Value) -> int:
    """Return the elements of a value; 0 if its shape is unknown."""
    if value.shape is None:
        tensor = value.const_value
        return int(tensor.size) if tensor is not None else 0
    return prod(dim if isinstance(dim, int) else 0 for dim in value.shape)
