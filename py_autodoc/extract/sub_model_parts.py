"""The parts of a sub-model: its nodes, inputs and outputs.

All algorithms are iterative and linear in nodes and edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import onnx_ir as ir

from py_autodoc.extract.selection import Selection
from py_autodoc.tags import bodies

RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
"""Operators whose result differs in each run: never a constant."""


@dataclass(frozen=True, slots=True)
class SubModelParts:
    """The parts of a sub-model. All sequences are in file order."""

    selection: Selection
    constants: tuple[ir.Node, ...]
    """External nodes that depend only on constants; they are copied into the sub-model."""
    external_inputs: tuple[ir.Value, ...]
    initializers: tuple[ir.Value, ...]
    outputs: tuple[ir.Value, ...]
    """Values used outside or returned by the model; if there are none, unused values."""
    internal: tuple[ir.Value, ...]
    boundary: tuple[ir.Node, ...]
    """External nodes that produce an external input."""
    convex: bool
    """False if an external input depends on an output: it cannot run before the sub-model."""

    @property
    def nodes(self) -> tuple[ir.Node, ...]:
        """All nodes of the sub-model, in file order."""
        included = {*self.constants, *self.selection.nodes}
        return tuple(node for node in self.selection.graph if node in included)


class _Cutter:
    def __init__(self, selection: Selection) -> None:
        self.graph = selection.graph
        self.selection = selection
        self.inside = set(selection.nodes)
        self.reads = {node: tuple(_reads(node, self.graph)) for node in self.graph}
        self.constant: set[ir.Node] = set()
        for node in self.graph:  # file order is topological
            if not _is_random(node) and all(self._is_constant(value) for value in self.reads[node]):
                self.constant.add(node)

    def _is_constant(self, value: ir.Value) -> bool:
        producer = value.producer()
        if producer is not None:
            return producer in self.constant
        return value.is_initializer() and value.graph is self.graph

    def run(self) -> SubModelParts:
        produced = dict.fromkeys(value for node in self.selection.nodes for value in node.outputs)
        constants: set[ir.Node] = set()
        initializers: dict[ir.Value, None] = {}
        external: dict[ir.Value, None] = {}
        pending = list(self.selection.nodes)
        for node in pending:  # grows during iteration
            for value in self.reads[node]:
                producer = value.producer()
                if value in produced or value in initializers or value in external or producer in constants:
                    continue
                if producer is not None and producer in self.constant:
                    constants.add(producer)
                    pending.append(producer)
                elif value.is_initializer():
                    initializers[value] = None
                else:
                    external[value] = None
        outputs = dict.fromkeys(self._outputs())
        return SubModelParts(
            selection=self.selection,
            constants=tuple(node for node in self.graph if node in constants),
            external_inputs=tuple(external),
            initializers=tuple(initializers),
            outputs=tuple(outputs),
            internal=tuple(value for value in produced if value.name and value not in outputs),
            boundary=self._boundary(external),
            convex=self._convex(external),
        )

    def _outputs(self) -> tuple[ir.Value, ...]:
        read = {v for node, values in self.reads.items() if node not in self.inside for v in values}
        read.update(self.graph.outputs)
        produced = [v for node in self.selection.nodes for v in node.outputs if v.name]
        used = tuple(value for value in produced if value in read)
        return used or tuple(value for value in produced if not value.uses())

    def _boundary(self, external: Iterable[ir.Value]) -> tuple[ir.Node, ...]:
        producers = {value.producer() for value in external}
        return tuple(node for node in self.graph if node in producers)

    def _convex(self, external: Iterable[ir.Value]) -> bool:
        after: set[ir.Value] = set()
        for node in self.graph:
            if node in self.inside or any(value in after for value in self.reads[node]):
                after.update(node.outputs)
        produced = {value for node in self.selection.nodes for value in node.outputs}
        return not any(value in after and value not in produced for value in external)


def find_parts(selection: Selection) -> SubModelParts:
    """Find the inputs and outputs of a sub-model of the selected nodes."""
    return _Cutter(selection).run()


def inner(node: ir.Node) -> Iterator[ir.Node | ir.Graph]:
    """Yield all graphs and nodes in the subgraphs of a node, at any depth."""
    pending = bodies(node)
    while pending:
        graph = pending.pop()
        yield graph
        for inner_node in graph:
            yield inner_node
            pending.extend(bodies(inner_node))


def deep(node: ir.Node) -> Iterator[ir.Node]:
    """Yield a node and those in its subgraphs, in file order."""
    yield node
    pending = [iter(graph) for graph in reversed(bodies(node))]
    while pending:
        current = next(pending[-1], None)
        if current is None:
            pending.pop()
            continue
        yield current
        pending.extend(iter(graph) for graph in reversed(bodies(current)))


def _reads(node: ir.Node, graph: ir.Graph) -> Iterator[ir.Value]:
    """Yield the values of ``graph`` or enclosing graphs that a node reads, subgraph captures included."""
    yield from (value for value in node.inputs if value is not None)
    items = list(inner(node))
    own_graphs = {item for item in items if isinstance(item, ir.Graph)}
    for item in items:
        values = item.outputs if isinstance(item, ir.Graph) else item.inputs
        for value in values:
            if value is not None and _defining_graph(value) not in own_graphs:
                yield value


def _defining_graph(value: ir.Value) -> object:
    producer = value.producer()
    return value.graph if producer is None else producer.graph


def _is_random(node: ir.Node) -> bool:
    return any(inner_node.op_type in RANDOM for inner_node in deep(node))
