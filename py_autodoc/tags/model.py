"""Tags of the nodes of a model, from any source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from py_autodoc.tags.naming import Namer
from py_autodoc.tags.paths import below
from py_autodoc.units import plural

TRACE, FUSED, PARAM, CONTEXT, ROOT = "trace", "fused", "param", "context", "root"
VIAS = (TRACE, FUSED, PARAM, CONTEXT, ROOT)
"""How a module is known: the exporter recorded it; it recorded one of several modules merged into the node;
the module owns a parameter the node reads; it was inferred from neighbours; unknown."""

_NO_CALLS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class NodeTag:
    """Origin of a node."""

    scope: str
    """Path of the module, under its first name; empty for the top-level module."""
    tag: str
    via: str
    scopes: tuple[str, ...] = ()
    """All modules merged into the node, including ``scope``; empty if it is the only one."""
    call: Mapping[str, int] = field(default_factory=lambda: _NO_CALLS)
    """Module path → call number, from 0; only calls after the first are listed."""
    stack: tuple[str, ...] = ()
    """Modules being called, outermost first, if they differ from the ancestors of ``scope``."""

    @property
    def origins(self) -> tuple[str, ...]:
        """All modules of the node."""
        return self.scopes or (self.scope,)

    def inside(self, path: str, call: int | None = None) -> bool:
        """True if the node was created while module ``path`` ran (in call number ``call``, if given)."""
        is_inside = below(self.scope, path) or path in self.stack
        return is_inside and (call is None or self.call.get(path, 0) == call)


MAX_UNKNOWN = 0.05
"""Largest share of nodes with an unknown module in a model that is called tagged."""


@dataclass(frozen=True, slots=True)
class TagCoverage:
    """Node counts by how their module is known. Only ``traced`` was recorded by an exporter."""

    nodes: int
    trace: int = 0
    fused: int = 0
    param: int = 0
    context: int = 0
    root: int = 0

    @classmethod
    def of(cls, vias: Iterable[str]) -> TagCoverage:
        """Count the nodes."""
        counted = Counter(vias)
        return cls(counted.total(), *(counted[via] for via in VIAS))

    @property
    def traced(self) -> float | None:
        """Share of the nodes whose module an exporter recorded; None without nodes."""
        return (self.trace + self.fused) / self.nodes if self.nodes else None

    @property
    def inferred(self) -> float | None:
        """Share of the nodes whose module was inferred from parameters and neighbours."""
        return (self.param + self.context) / self.nodes if self.nodes else None

    @property
    def unknown(self) -> float | None:
        """Share of the nodes with an unknown module, which are tagged as the top-level module."""
        return self.root / self.nodes if self.nodes else None

    @property
    def fault(self) -> str:
        """What makes the tags useless, as a sentence; empty if at least 95 % of the modules are known."""
        if not self.nodes or self.root <= MAX_UNKNOWN * self.nodes:
            return ""
        return (
            f"The module of {self.root:,} of {plural(self.nodes, 'node')} is unknown; "
            "they are tagged as the top-level module."
        )


@dataclass(slots=True)
class Tags:
    """Tags of all nodes of one model, in file order, and the names behind them."""

    records: dict[ir.Node, NodeTag]
    namer: Namer
    exporter: str = ""
    """dynamo, torchscript, hf …; empty if unknown."""
    source: str = "assigned"
    """Source of the tags: assigned (new), nodes, doc_string, table, or none."""
    called: frozenset[str] = frozenset()
    """Modules that were called on the path to a node."""

    @property
    def coverage(self) -> TagCoverage:
        """Return node counts by how their module is known."""
        return TagCoverage.of(record.via for record in self.records.values())

    def of(self, node: ir.Node) -> NodeTag:
        """Return the tag of a node. Raises: KeyError."""
        return self.records[node]

    def by_tag(self) -> dict[str, list[ir.Node]]:
        """Return tag → its nodes, both in file order."""
        nodes: dict[str, list[ir.Node]] = {}
        for node, record in self.records.items():
            nodes.setdefault(record.tag, []).append(node)
        return nodes

    def below(self, path: str, call: int | None = None) -> list[ir.Node]:
        """Return nodes created while module ``path`` ran, in call number ``call`` if given."""
        path = self.namer.canonical(path)
        return [node for node, record in self.records.items() if record.inside(path, call)]

    def calls(self, path: str) -> int:
        """Return the number of calls of a module that produced nodes."""
        path = self.namer.canonical(path)
        numbers = [record.call.get(path, 0) for record in self.records.values() if record.inside(path)]
        return max(numbers, default=-1) + 1


def bodies(node: ir.Node) -> list[ir.Graph]:
    """Return the graphs in a node's attributes, in file order."""
    graphs: list[ir.Graph] = []
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH and attribute.value is not None:
            graphs.append(attribute.as_graph())
        elif attribute.type == ir.AttributeType.GRAPHS and attribute.value is not None:
            graphs.extend(attribute.as_graphs())
    return graphs


def walk(model: ir.Model) -> Iterator[tuple[ir.Node, ir.Node | None]]:
    """Yield every node with its enclosing node: a node, then its subgraphs, then the next node.

    The main graph comes first, then the functions. Not recursive, so nesting is unlimited.
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
