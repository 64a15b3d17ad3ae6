"""Tags of a model's nodes, wherever they came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from py_autodoc.tags.naming import Namer
from py_autodoc.tags.paths import below

TRACE, FUSED, PARAM, CONTEXT, ROOT = "trace", "fused", "param", "context", "root"
VIAS = (TRACE, FUSED, PARAM, CONTEXT, ROOT)
"""How a module is known: the exporter recorded it; it recorded one of several modules the node was made
from; the module owns a parameter the node reads; the nodes around it say so; nothing is known."""

_NO_CALLS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class NodeTag:
    """Where one node comes from."""

    scope: str
    """Path of the module, under its first name; empty at the top."""
    tag: str
    via: str
    scopes: tuple[str, ...] = ()
    """All modules the node was made from, ``scope`` among them; empty when that is the only one."""
    call: Mapping[str, int] = field(default_factory=lambda: _NO_CALLS)
    """Module path → which of its calls, from 0; only calls after the first are listed."""
    stack: tuple[str, ...] = ()
    """Modules being called, outermost first, where they are not those above ``scope``."""

    @property
    def origins(self) -> tuple[str, ...]:
        """All modules the node was made from."""
        return self.scopes or (self.scope,)

    def inside(self, path: str, call: int | None = None) -> bool:
        """True when the node was made while module ``path`` ran (in its ``call``-th call, when given)."""
        held = below(self.scope, path) or path in self.stack
        return held and (call is None or self.call.get(path, 0) == call)


@dataclass(frozen=True, slots=True)
class TagCoverage:
    """Nodes by how their module is known. Only ``traced`` was recorded by an exporter."""

    nodes: int
    trace: int = 0
    fused: int = 0
    param: int = 0
    context: int = 0
    root: int = 0

    @classmethod
    def of(cls, vias: Iterable[str]) -> TagCoverage:
        """Count."""
        counted = Counter(vias)
        return cls(counted.total(), *(counted[via] for via in VIAS))

    @property
    def traced(self) -> float | None:
        """Share of the nodes whose module an exporter recorded; None without nodes."""
        return (self.trace + self.fused) / self.nodes if self.nodes else None

    @property
    def inferred(self) -> float | None:
        """Share of the nodes whose module was worked out from parameters and neighbours."""
        return (self.param + self.context) / self.nodes if self.nodes else None

    @property
    def unknown(self) -> float | None:
        """Share of the nodes of which nothing is known; they are tagged as the model's own code."""
        return self.root / self.nodes if self.nodes else None


@dataclass(slots=True)
class Tags:
    """The tags of all nodes of one model, in file order, with the names behind them."""

    records: dict[ir.Node, NodeTag]
    namer: Namer
    exporter: str = ""
    """dynamo, torchscript, hf …; empty when it is not known."""
    source: str = "assigned"
    """Where they were read: assigned (just made), nodes, doc_string, table, or none."""
    called: frozenset[str] = frozenset()
    """Modules that were called on the way to some node."""

    @property
    def coverage(self) -> TagCoverage:
        """Nodes by how their module is known."""
        return TagCoverage.of(record.via for record in self.records.values())

    def of(self, node: ir.Node) -> NodeTag:
        """The tag of a node. Raises: KeyError."""
        return self.records[node]

    def by_tag(self) -> dict[str, list[ir.Node]]:
        """Tag → its nodes, both in file order."""
        found: dict[str, list[ir.Node]] = {}
        for node, record in self.records.items():
            found.setdefault(record.tag, []).append(node)
        return found

    def below(self, path: str, call: int | None = None) -> list[ir.Node]:
        """Nodes made while module ``path`` ran, in its ``call``-th call when that is given."""
        path = self.namer.canonical(path)
        return [node for node, record in self.records.items() if record.inside(path, call)]

    def calls(self, path: str) -> int:
        """How many calls of a module left nodes; 0 when none did."""
        path = self.namer.canonical(path)
        numbers = [record.call.get(path, 0) for record in self.records.values() if record.inside(path)]
        return max(numbers, default=-1) + 1


def bodies(node: ir.Node) -> list[ir.Graph]:
    """The graphs in a node's attributes, in file order."""
    found: list[ir.Graph] = []
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH and attribute.value is not None:
            found.append(attribute.as_graph())
        elif attribute.type == ir.AttributeType.GRAPHS and attribute.value is not None:
            found.extend(attribute.as_graphs())
    return found


def walk(model: ir.Model) -> Iterator[tuple[ir.Node, ir.Node | None]]:
    """Every node with the node whose body it is in: a node, then its bodies, then the next node.

    The main graph comes first, then the functions. Not recursive, whatever the nesting.
    """
    for top in (model.graph, *model.functions.values()):
        pending: list[tuple[Iterator[ir.Node], ir.Node | None]] = [(iter(top), None)]
        while pending:
            nodes, outer = pending[-1]
            node = next(nodes, None)
            if node is None:
                pending.pop()
                continue
            yield node, outer
            pending.extend((iter(graph), node) for graph in reversed(bodies(node)))
