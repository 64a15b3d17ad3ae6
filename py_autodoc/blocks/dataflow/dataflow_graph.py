"""Dataflow of one graph for the recognisers: separates constants from data, looks through copies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial, wraps
from typing import Any, Protocol, TypeVar

from py_autodoc.graph.ir.model import Model, Node, Shape, Tensor, TypeTable
from py_autodoc.graph.operators.vendor_quantizers import twin

COPIES = frozenset({"Identity", "Dropout", "Cast", "CastLike"})
"""Operators that pass their first input on."""
RESHAPES = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Transpose"})
"""Operators that move values without computing."""
KNOWN_DOMAINS = frozenset({"", "com.microsoft", "com.ms.internal.nhwc"})
"""Domains whose operators are identified by their type alone."""
_MAX_CHAIN = 64
"""Maximum length of a chain of copies that is followed."""
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class NodeTable(Protocol[T_co]):
    """A lookup by node or tensor id. Each table documents its value for -1."""

    def __getitem__(self, id: int, /) -> T_co: ...


class LazyTable(dict[int, T]):
    """A table whose entries are computed on first access."""

    def __init__(self, compute: Callable[[int], T]) -> None:
        super().__init__()
        self.compute = compute

    def __missing__(self, id: int) -> T:
        value = self[id] = self.compute(id)
        return value


class DataflowGraph:
    """The nodes of one graph (``order``, without Constant nodes) and the edges between them.

    Outer tensors that a subgraph reads count as activations without a producer. Takes linear time to build.
    The tables hold the same data as the methods, for loops over many nodes; treat them as read-only.
    """

    qualified_op_types: NodeTable[str]
    """Node → operator type, ``domain::Op`` outside ai.onnx; -1: empty."""
    op_types: NodeTable[str]
    """The same without the domains in ``KNOWN_DOMAINS``."""
    data_inputs: NodeTable[tuple[int, ...]]
    """Node → its non-constant inputs, in order; -1: none."""
    producers: NodeTable[int]
    """Tensor → its producer in this graph; -1 for inputs, constants, outer tensors and -1."""
    constants: NodeTable[bool]
    """Tensor → whether it is a weight, a constant or computed only from these; -1: False."""
    shapes: NodeTable[Shape | None]
    """Tensor → its shape; None if the rank is unknown, and for -1."""
    readers: NodeTable[tuple[int, ...]]
    """Tensor → its consumers in this graph, ascending; -1: none."""
    first_outputs: NodeTable[int]
    """Node → its first output; -1 if it has none, and for -1."""

    def __init__(self, model: Model, types: TypeTable, graph: int = 0) -> None:
        self.model = model
        self.types = types
        self.graph = graph
        self.nodes = nodes = model.nodes
        self.order: list[int] = [
            number
            for number in model.graphs[graph].nodes
            if nodes[number].op_type != "Constant" or nodes[number].domain
        ]
        self.position: dict[int, int] = dict(zip(self.order, range(len(self.order)), strict=True))
        self.graph_outputs = frozenset(model.graphs[graph].outputs)
        """Output tensors of this graph."""
        self.incomplete: set[str] = set()
        """Recognisers that hit their limit on this graph and may have missed something."""
        self.runs = 1
        """Executions of this graph per inference; 0 for a branch of an If that does not count."""
        self.memo: dict[Any, Any] = {}
        """Memoised results by function; see ``memoised_on_graph``."""
        if graph:
            self._open_body()
        else:
            self._open_main()
        # These functions hold the tables but not this object, so that it is freed without a reference cycle.
        self.constant_inputs: NodeTable[list[int]] = LazyTable(partial(_weights, nodes, self.constants))
        """Node → its constant inputs, in order; -1: none."""
        self.sole_consumers: NodeTable[int] = LazyTable(
            partial(_sole, model.tensors, self.graph_outputs, self.position)
        )
        """Tensor → its only consumer if it is not a graph output; -1 otherwise, and for -1."""

    def _open_main(self) -> None:
        """Build the tables over the whole model, since nearly all of it is the main graph."""
        nodes, tensors = self.model.nodes, self.model.tensors
        producers = [-1] * (len(tensors) + 1)
        constants = [tensor.is_constant for tensor in tensors]
        constants.append(False)
        reads: list[tuple[int, ...]] = [()] * (len(nodes) + 1)
        self.producers, self.constants, self.data_inputs = producers, constants, reads
        self._connect(producers, constants, reads)
        producers[-1], constants[-1] = -1, False
        self.shapes = [*self.types.shapes, None]
        names = op_types = [*(node.op_type for node in nodes), ""]
        foreign = [node for node in nodes if node.domain]
        if foreign:
            names, op_types = names.copy(), names.copy()
        for node in foreign:
            names[node.id], op_types[node.id] = _name(node), _op_type(node)
        self.qualified_op_types, self.op_types = names, op_types
        self.first_outputs = [*(node.outputs[0] if node.outputs else -1 for node in nodes), -1]
        outside = [node for node in nodes if node.id not in self.position and node.inputs]
        for node in outside:
            reads[node.id] = _data(nodes, constants, node.id)
        # Consumers in subgraphs do not belong to this graph.
        self.readers = (
            LazyTable(partial(_readers, tensors, self.position))
            if outside
            else [*(tensor.consumers for tensor in tensors), ()]
        )

    def _open_body(self) -> None:
        """Build tables for the subgraph only; a model may have thousands of subgraphs."""
        nodes, tensors, shapes = self.model.nodes, self.model.tensors, self.types.shapes
        producers: LazyTable[int] = LazyTable(lambda tensor: -1)
        constants: LazyTable[bool] = LazyTable(lambda tensor: tensors[tensor].is_constant)
        reads: LazyTable[tuple[int, ...]] = LazyTable(partial(_data, nodes, constants))
        self.producers, self.constants, self.data_inputs = producers, constants, reads
        self._connect(producers, constants, reads)
        producers[-1], constants[-1], reads[-1] = -1, False, ()
        self.shapes = LazyTable(lambda tensor: shapes[tensor] if tensor >= 0 else None)
        self.qualified_op_types = LazyTable(lambda number: _name(nodes[number]) if number >= 0 else "")
        self.op_types = LazyTable(lambda number: _op_type(nodes[number]) if number >= 0 else "")
        self.first_outputs = LazyTable(partial(_first, nodes))
        self.readers = LazyTable(partial(_readers, tensors, self.position))

    def _connect(
        self,
        producers: list[int] | LazyTable[int],
        constants: list[bool] | LazyTable[bool],
        reads: list[tuple[int, ...]] | LazyTable[tuple[int, ...]],
    ) -> None:
        """Fill the tables node by node, in execution order."""
        nodes = self.model.nodes
        for number in self.order:
            node = nodes[number]
            reads[number] = data = _live(node, constants)
            for tensor in node.outputs:
                producers[tensor] = number
            if not data and node.inputs and not node.subgraphs:
                for tensor in node.outputs:
                    constants[tensor] = True

    @cached_property
    def by_op(self) -> dict[str, list[int]]:
        """``op_types`` entry → its nodes, in execution order."""
        return _grouped(self.order, self.op_types)

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """``qualified_op_types`` entry → its nodes, in execution order."""
        return (
            self.by_op
            if self.qualified_op_types is self.op_types
            else _grouped(self.order, self.qualified_op_types)
        )

    def of(self, ops: Collection[str]) -> list[int]:
        """Return the nodes whose ``op_types`` entry is in ``ops``, in execution order."""
        return self._among(self.by_op, ops)

    def named(self, ops: Collection[str]) -> list[int]:
        """Return the nodes whose ``qualified_op_types`` entry is in ``ops``, in execution order."""
        return self._among(self.by_name, ops)

    def _among(self, groups: dict[str, list[int]], ops: Collection[str]) -> list[int]:
        kinds = [op for op in groups if op in ops]
        if len(kinds) == 1:
            return groups[kinds[0]]
        return sorted((n for op in kinds for n in groups[op]), key=self.position.__getitem__)

    @cached_property
    def prepared(self) -> frozenset[int]:
        """Nodes with a constant input that another node of this graph computes from constants."""
        nodes, constants, readers = self.model.nodes, self.constants, self.readers
        return frozenset(
            reader
            for number in self.order
            for tensor in nodes[number].outputs
            if constants[tensor]
            for reader in readers[tensor]
        )

    def node(self, number: int) -> Node:
        """Return the node with this id."""
        return self.model.nodes[number]

    def op(self, number: int) -> str:
        """Return the operator type, ``domain::Op`` outside ai.onnx; empty for -1."""
        return self.qualified_op_types[number]

    def constant(self, tensor: int) -> bool:
        """True for weights, constants and tensors computed only from these."""
        return self.constants[tensor]

    def data(self, number: int) -> tuple[int, ...]:
        """Return the non-constant inputs of a node, in order."""
        return self.data_inputs[number]

    def weights(self, number: int) -> list[int]:
        """Return the constant inputs of a node, in order. Do not modify the list."""
        return self.constant_inputs[number]

    def producer(self, tensor: int) -> int:
        """Return the producer of ``tensor`` in this graph; -1 for inputs, constants and outer tensors."""
        return self.producers[tensor]

    def consumers(self, tensor: int) -> tuple[int, ...]:
        """Return the direct consumers of ``tensor`` in this graph, ascending."""
        return self.readers[tensor]

    def only_consumer(self, tensor: int) -> int:
        """Return the only consumer of a tensor that is not a graph output; -1 otherwise."""
        return self.sole_consumers[tensor]

    def predecessors(self, number: int) -> list[int]:
        """Return the producers of a node's inputs, each once."""
        return list(dict.fromkeys(p for t in self.data_inputs[number] if (p := self.producers[t]) >= 0))

    def successors(self, number: int) -> list[int]:
        """Return the consumers of a node's outputs, each once."""
        outputs = (t for t in self.model.nodes[number].outputs if t >= 0)
        return list(dict.fromkeys(c for t in outputs for c in self.readers[t]))

    def shape(self, tensor: int) -> Shape | None:
        """Return the shape, symbols kept; None if the rank is unknown."""
        return self.shapes[tensor]

    def value(self, tensor: int) -> Any | None:
        """Return the numpy array of a small tensor whose value is known, else None."""
        if tensor < 0:
            return None
        value = self.types.values.get(tensor)
        if value is None:
            value = self.model.constants.get(tensor)
        # numpy lacks bfloat16 and its kind: comparisons, and checks for floats, fail on them.
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        return value.astype("float32") if value is not None and kind == "V" else value

    def back(self, tensor: int, through: frozenset[str] = COPIES) -> int:
        """Return the tensor behind ``tensor``, past operators in ``through`` along their first input."""
        producers, names, nodes = self.producers, self.qualified_op_types, self.model.nodes
        for _ in range(_MAX_CHAIN):
            number = producers[tensor]
            if number < 0 or names[number] not in through:
                return tensor
            node = nodes[number]
            if node.domain or not node.inputs or node.inputs[0] < 0:
                return tensor
            tensor = node.inputs[0]
        return tensor

    def chain_back(self, tensor: int, through: frozenset[str]) -> list[int]:
        """Return the nodes that ``back`` looks through, nearest first."""
        producers, names, nodes = self.producers, self.qualified_op_types, self.model.nodes
        passed: list[int] = []
        for _ in range(_MAX_CHAIN):
            number = producers[tensor]
            if number < 0 or names[number] not in through:
                break
            node = nodes[number]
            if node.domain or not node.inputs or node.inputs[0] < 0:
                break
            passed.append(number)
            tensor = node.inputs[0]
        return passed


class DataflowGraphs:
    """The dataflow graphs of a model, each built on first use."""

    def __init__(self, model: Model, types: TypeTable, runs: Mapping[int, int] | None = None) -> None:
        """``runs``: graph → executions per inference, as the totals count them; 1 where it has none."""
        self.model = model
        self.types = types
        self.runs = runs or {}
        self._flows: dict[int, DataflowGraph] = {}

    def of(self, graph: int) -> DataflowGraph:
        """Return the dataflow graph of one graph."""
        flow = self._flows.get(graph)
        if flow is None:
            flow = self._flows[graph] = DataflowGraph(self.model, self.types, graph)
            flow.runs = self.runs.get(graph, 1)
        return flow

    def all(self) -> list[DataflowGraph]:
        """Return the dataflow graphs of all graphs, the main graph first."""
        return [self.of(graph.id) for graph in self.model.graphs]


def memoised_on_graph(work: Callable[[DataflowGraph, int], T]) -> Callable[[DataflowGraph, int], T]:
    """Memoise a function of a dataflow graph and a node or tensor id."""

    @wraps(work)
    def lookup(flow: DataflowGraph, id: int) -> T:
        cache = flow.memo.get(work)
        if cache is None:
            cache = flow.memo[work] = {}
        value: T
        if id in cache:
            value = cache[id]
        else:
            value = cache[id] = work(flow, id)
        return value

    return lookup


def _grouped(order: Sequence[int], names: NodeTable[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number in order:
        name = names[number]
        if name in groups:
            groups[name].append(number)
        else:
            groups[name] = [number]
    return groups


def _name(node: Node) -> str:
    domain, op = twin(node.domain, node.op_type)
    return f"{domain}::{op}" if domain else op


def _op_type(node: Node) -> str:
    domain, op = twin(node.domain, node.op_type)
    return op if domain in KNOWN_DOMAINS else f"{domain}::{op}"


def _first(nodes: Sequence[Node], number: int) -> int:
    return nodes[number].outputs[0] if number >= 0 and nodes[number].outputs else -1


def _data(nodes: Sequence[Node], constants: NodeTable[bool], number: int) -> tuple[int, ...]:
    return _live(nodes[number], constants)


def _live(node: Node, constants: NodeTable[bool]) -> tuple[int, ...]:
    """Return the non-constant inputs of a node; the node's own tuple if none is constant."""
    data = [t for t in node.inputs if t >= 0 and not constants[t]]
    return node.inputs if len(data) == len(node.inputs) else tuple(data)


def _weights(nodes: Sequence[Node], constants: NodeTable[bool], number: int) -> list[int]:
    return [t for t in nodes[number].inputs if t >= 0 and constants[t]] if number >= 0 else []


def _readers(tensors: Sequence[Tensor], position: Collection[int], tensor: int) -> tuple[int, ...]:
    return tuple(n for n in tensors[tensor].consumers if n in position) if tensor >= 0 else ()


def _sole(tensors: Sequence[Tensor], results: Collection[int], position: Collection[int], tensor: int) -> int:
    if tensor < 0:
        return -1
    entry = tensors[tensor]
    if entry.is_output or len(entry.consumers) != 1 or tensor in results:
        return -1
    return entry.consumers[0] if entry.consumers[0] in position else -1
