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
        wanted = {*self.constants, *self.selection.nodes}
        return tuple(node for node in self.selection.graph if node in wanted)


class _Cutter:
    def __init__(self, selection: Selection) -> None:
        self.graph = selection.graph
        self.selection = selection
        self.inside = set(selection.nodes)
        self.reads = {node: tuple(_reads(node, self.graph)) for node in self.graph}
        self.constant: set[ir.Node] = set()
        for node in self.graph:  # file order is topological
            if not _random(node) and all(self._fixed(value) for value in self.reads[node]):
                self.constant.add(node)

    def _fixed(self, value: ir.Value) -> bool:
        maker = value.producer()
        if maker is not None:
            return maker in self.constant
        return value.is_initializer() and value.graph is self.graph

    def run(self) -> SubModelParts:
        made = dict.fromkeys(value for node in self.selection.nodes for value in node.outputs)
        constants: set[ir.Node] = set()
        initializers: dict[ir.Value, None] = {}
        external: dict[ir.Value, None] = {}
        pending = list(self.selection.nodes)
        for node in pending:  # grows during iteration
            for value in self.reads[node]:
                maker = value.producer()
                if value in made or value in initializers or value in external or maker in constants:
                    continue
                if maker is not None and maker in self.constant:
                    constants.add(maker)
                    pending.append(maker)
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
            internal=tuple(value for value in made if value.name and value not in outputs),
            boundary=self._boundary(external),
            convex=self._convex(external),
        )

    def _outputs(self) -> tuple[ir.Value, ...]:
        read = {v for node, values in self.reads.items() if node not in self.inside for v in values}
        read.update(self.graph.outputs)
        made = [v for node in self.selection.nodes for v in node.outputs if v.name]
        found = tuple(value for value in made if value in read)
        return found or tuple(value for value in made if not value.uses())

    def _boundary(self, external: Iterable[ir.Value]) -> tuple[ir.Node, ...]:
        makers = {value.producer() for value in external}
        return tuple(node for node in self.graph if node in makers)

    def _convex(self, external: Iterable[ir.Value]) -> bool:
        after: set[ir.Value] = set()
        for node in self.graph:
            if node in self.inside or any(value in after for value in self.reads[node]):
                after.update(node.outputs)
        own = {value for node in self.selection.nodes for value in node.outputs}
        return not any(value in after and value not in own for value in external)


def find_parts(selection: Selection) -> SubModelParts:
    """Find the inputs and outputs of a sub-model of the selected nodes."""
    return _Cutter(selection).run()


def inner(node: ir.Node) -> Iterator[ir.Node | ir.Graph]:
    """Yield all graphs and nodes in the subgraphs of a node, at any depth."""
    pending = bodies(node)
    while pending:
        graph = pending.pop()
        yield graph
        for one in graph:
            yield one
            pending.extend(bodies(one))


def deep(node: ir.Node) -> Iterator[ir.Node]:
    """Yield a node and those in its subgraphs, in file order."""
    yield node
    pending = [iter(graph) for graph in reversed(bodies(node))]
    while pending:
        one = next(pending[-1], None)
        if one is None:
            pending.pop()
            continue
        yield one
        pending.extend(iter(graph) for graph in reversed(bodies(one)))


def _reads(node: ir.Node, graph: ir.Graph) -> Iterator[ir.Value]:
    """Yield the values of ``graph`` or enclosing graphs that a node reads, subgraph captures included."""
    yield from (value for value in node.inputs if value is not None)
    parts = list(inner(node))
    own = {part for part in parts if isinstance(part, ir.Graph)}
    for part in parts:
        values = part.outputs if isinstance(part, ir.Graph) else part.inputs
        for value in values:
            if value is not None and _home(value) not in own:
                yield value


def _home(value: ir.Value) -> object:
    maker = value.producer()
    return value.graph if maker is None else maker.graph


def _random(node: ir.Node) -> bool:
    return any(one.op_type in RANDOM for one in deep(node))
