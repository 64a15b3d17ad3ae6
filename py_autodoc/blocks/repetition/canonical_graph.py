"""Canonical form of a graph, independent of names and of the order of the node list.

The *canonical order* is a walk back from the outputs that puts inputs before their consumer, in the order
of the operator's inputs. Files that differ only in names and node order have the same canonical form. Nodes
that no output needs are omitted, as are Constant nodes and copies of constants: exporters duplicate shared
weights in some layers but not in others.

A *label* identifies all of a node except its neighbours: operator, domain, version, attributes,
subgraphs and constant inputs. A weight is identified by its element type and shape, a small constant that
acts as an attribute (axes, target shapes, an epsilon) by its value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

from py_autodoc.costs.weight_slots import LEARNED, QUANTIZED
from py_autodoc.graph.ir.model import ConstTensor, Model, Node, TensorKind, TypeTable

NO_TENSOR = -1
"""Code of an omitted input and of a constant whose value is in the label."""
_FLOATS = frozenset({1, 10, 11, 14, 15, 16, *range(17, 21), 23, 24})
"""TensorProto.DataType of the float and complex types."""
_IN_PROGRESS, _FINISHED = 1, 2
"""States of a node during the walk: entered, left."""
_OMITTED, _DATA = -1, -2
"""Codes in a label for inputs that are not constants."""
_SCALAR_TYPES = frozenset({int, float, str, bytes})
"""Attribute types that are hashable as they are."""
_SINGLE_RESULT_OPS = frozenset(
    {
        "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
        "LayerNormalization",
        "SimplifiedLayerNormalization",
        "Dropout",
    }
)
"""Operators whose result does not depend on the use of their optional outputs: the last layer of an
encoder does not use the sum."""
_BY_VALUE = frozenset({"Resize", "Upsample", "Range", "OneHot"})
"""Operators whose float inputs with several elements are parameters, not weights."""


class CanonicalGraph:
    """The nodes of one graph in canonical order; index = position in that order. Takes linear time to build.

    ``input_codes[i]`` has a code for each input of node i, followed by one for each outer tensor that its
    subgraphs read: ``position · stride + output`` if a node of this graph produces it, a value below -1 if it
    comes from elsewhere (equal for the same tensor), otherwise ``NO_TENSOR``.
    """

    def __init__(self, nodes: list[int], label: list[int], ins: list[tuple[int, ...]], stride: int) -> None:
        self.nodes = nodes
        self.label = label
        self.input_codes = ins
        self.stride = stride
        self.weighted_labels: set[int] = set()
        """Labels of nodes that have a weight."""
        self.layer_labels: set[int] = set()
        """Labels of nodes with a weight of at least two dimensions."""

    def producers(self, node: int) -> list[int]:
        """Return the nodes whose outputs a node reads."""
        stride = self.stride
        return [code // stride for code in self.input_codes[node] if code >= 0]

    @cached_property
    def readers_by_slot(self) -> list[dict[tuple[int, int, int], int]]:
        """For each node, (output, input index, label of the consumer) → consumer; -1 if there are several."""
        readers: list[dict[tuple[int, int, int], int]] = [{} for _ in self.nodes]
        shared_keys: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        for reader, codes in enumerate(self.input_codes):
            for slot, code in enumerate(codes):
                if code >= 0:
                    producer, output = divmod(code, self.stride)
                    key = (output, slot, self.label[reader])
                    key = shared_keys.setdefault(key, key)
                    readers[producer][key] = -1 if key in readers[producer] else reader
        return readers


class CanonicalGraphs:
    """The canonical graphs of a model, built for subgraphs before their parent graph.

    A file with a cycle also gets an order, which is arbitrary within the cycle.
    """

    def __init__(self, model: Model, types: TypeTable) -> None:
        self.model = model
        self.types = types
        self.label_ids: dict[Hashable, int] = {}
        self.learned_slots: dict[tuple[str, str], tuple[int, ...]] = {}
        self.by_value: dict[int, int] = {}
        self.by_shape: dict[int, int] = {}
        self.captured: list[list[int]] = [[] for _ in model.graphs]
        self.body: list[int] = [0] * len(model.graphs)
        self.weighted: set[int] = set()
        self.layers: set[int] = set()
        self.graphs: list[CanonicalGraph] = []
        self.producers = [-1 if t.kind == TensorKind.CONSTANT else t.producer for t in model.tensors]
        """Tensor → its producer; -1 for constants, tensors without a producer, and -1."""
        self.producers.append(-1)
        self.copied = self._copies()
        self.filled = self._filled()
        for tensor in (*self.copied, *self.filled):
            self.producers[tensor] = -1
        for graph in reversed(model.graphs):
            self.graphs.append(self._wire(graph.id))
        self.graphs.reverse()

    def _copies(self) -> dict[int, int]:
        """Map copies of constants to the constant. A copy that is a graph output counts as a node."""
        copies: dict[int, int] = {}
        tensors = self.model.tensors
        for node in (self.model.nodes[number] for graph in self.model.graphs for number in graph.nodes):
            if node.op_type != "Identity" or node.domain or len(node.inputs) != 1 or len(node.outputs) != 1:
                continue
            source, copy = copies.get(node.inputs[0], node.inputs[0]), node.outputs[0]
            if min(source, copy) >= 0 and not tensors[copy].is_output and tensors[source].is_constant:
                copies[copy] = source
        return copies

    def _filled(self) -> frozenset[int]:
        """Find weights of a file published without values: a shape filled with one value.

        They count as weights, so that their shapes distinguish layers.
        """
        fills = []
        tensors, nodes = self.model.tensors, self.model.nodes
        for node in (nodes[number] for graph in self.model.graphs for number in graph.nodes):
            if node.op_type != "ConstantOfShape" or node.domain or len(node.outputs) != 1:
                continue
            output = tensors[node.outputs[0]]
            if output.is_output or not output.consumers or not self._is_float(output.id):
                continue
            if tensors[node.inputs[0]].is_constant and all(map(self._learned(output.id), output.consumers)):
                fills.append(output.id)
        return frozenset(fills)

    def _learned(self, tensor: int) -> Callable[[int], bool]:
        """Return a predicate: whether a node reads the tensor at an input that only takes weights."""

        def reads(number: int) -> bool:
            node = self.model.nodes[number]
            slots = self._slots_of((node.domain, node.op_type))
            return all(slot in slots for slot, read in enumerate(node.inputs) if read == tensor)

        return reads

    def _id(self, key: Hashable) -> int:
        return self.label_ids.setdefault(key, len(self.label_ids))

    def _wire(self, graph: int) -> CanonicalGraph:
        """Compute codes, labels and order of a graph; its outer tensors are kept for the parent graph."""
        order = self._order(graph)
        nodes, tensors = self.model.nodes, self.model.tensors
        stride = max((len(nodes[number].outputs) for number in order), default=0) + 1
        code = {
            tensor: position * stride + output
            for position, number in enumerate(order)
            for output, tensor in enumerate(nodes[number].outputs)
        }
        code[NO_TENSOR] = NO_TENSOR
        labels, ins = [], []
        outside: dict[int, None] = {}
        for number in order:
            node = nodes[number]
            label, row = self._label(node, code)
            for _, body in node.subgraphs:  # outer tensors of its subgraphs
                row.extend([code.get(tensor, -2 - tensor) for tensor in self.captured[body]])
            for input_code in row if graph else ():
                info = tensors[-2 - input_code] if input_code < NO_TENSOR else None
                if info is not None and info.graph != graph and not info.is_constant:
                    outside[info.id] = None
            labels.append(label)
            ins.append(tuple(row))
        canonical = CanonicalGraph(order, labels, ins, stride)
        canonical.weighted_labels, canonical.layer_labels = self.weighted, self.layers
        self.captured[graph] = list(outside)
        if graph:
            results = tuple(code.get(t, NO_TENSOR) for t in self.model.graphs[graph].outputs)
            self.body[graph] = self._id(("body", signature(canonical, range(len(order))), results))
        return canonical

    def _order(self, graph: int) -> list[int]:
        """Return the nodes in canonical order, each after the nodes that it and its subgraphs read."""
        nodes, producers = self.model.nodes, self.producers
        order: list[int] = []
        state = bytearray(len(nodes) + 1)  # the last byte is for -1
        state[-1] = _FINISHED
        for result in self.model.graphs[graph].outputs:
            # The walk may be as deep as the graph, so its stack holds only integers.
            stack = [producers[result]]
            while stack:
                number = stack.pop()
                if state[number] == _IN_PROGRESS:
                    state[number] = _FINISHED
                    order.append(number)
                elif not state[number] and (node := nodes[number]).graph == graph:
                    state[number] = _IN_PROGRESS
                    stack.append(number)
                    for _, body in reversed(node.subgraphs):
                        stack += [
                            producers[t] for t in reversed(self.captured[body]) if not state[producers[t]]
                        ]
                    stack += [producers[t] for t in reversed(node.inputs) if not state[producers[t]]]
        return order

    # Labels

    def _label(self, node: Node, code: Mapping[int, int]) -> tuple[int, list[int]]:
        """Return the label of a node and the codes of its inputs."""
        row: list[int] = []
        kinds: list[int] = []
        weights: list[int] = []
        slots = None
        for slot, tensor in enumerate(node.inputs):
            if tensor in code:  # produced in this graph, or omitted
                input_code = code[tensor]
                kinds.append(_DATA if input_code != NO_TENSOR else _OMITTED)
                row.append(input_code)
                continue
            code_of, tensor = -2 - tensor, self.copied.get(tensor, tensor)
            info = self.model.tensors[tensor]
            if not info.is_constant and tensor not in self.filled:
                kinds.append(_DATA)
                row.append(code_of)
                continue
            if slots is None:
                slots = self._slots_of((node.domain, node.op_type))
            value = -1
            if info.quantized_scale or self._scales(node):
                value = self._shaped(tensor)
            elif slot not in slots:
                value = self._valued(tensor, node.op_type in _BY_VALUE)
            if value < 0:
                weights.append(tensor)
            kinds.append(self._shaped(tensor) if value < 0 else value)
            row.append(NO_TENSOR if value >= 0 else code_of)
        if node.op_type == "ConstantOfShape" and kinds and kinds[0] >= 0:
            weights.append(node.outputs[0])  # a weight of a file published without values
        bodies = tuple([(name, self.body[body]) for name, body in node.subgraphs]) if node.subgraphs else ()
        attributes = _attributes(node) if node.attributes else None
        results = 1 if node.op_type in _SINGLE_RESULT_OPS else len(node.outputs)
        key = (node.domain, node.op_type, node.opset, results, tuple(kinds), attributes, bodies)
        label = self._id(key)
        if weights and label not in self.weighted:
            self.weighted.add(label)
            if any(len(self.types.shapes[tensor] or ()) > 1 for tensor in weights if tensor >= 0):
                self.layers.add(label)
        return label, row

    def _scales(self, node: Node) -> bool:
        """True for a product of two scales: a stored one and that of a tensor quantized at run time."""
        producers = (self.producers[tensor] for tensor in node.inputs)
        return node.op_type == "Mul" and any(
            p >= 0 and self.model.nodes[p].op_type == "DynamicQuantizeLinear" for p in producers
        )

    def _slots_of(self, key: tuple[str, str]) -> tuple[int, ...]:
        """Return the inputs of an operator that are always weights."""
        slots = self.learned_slots.get(key)
        if slots is None:
            slots = self.learned_slots[key] = (*LEARNED.get(key, ()), *QUANTIZED.get(key, ()))
        return slots

    def _shaped(self, tensor: int) -> int:
        """Return an id for the element type and shape of a constant."""
        label = self.by_shape.get(tensor)
        if label is None:
            shape = self.types.shapes[tensor]
            info = self.model.tensors[tensor]
            key = ("type", self.types.dtypes[tensor] or info.dtype, info.shape if shape is None else shape)
            label = self.by_shape[tensor] = self._id(key)
        return label

    def _valued(self, tensor: int, always: bool) -> int:
        """Return an id for the type, shape and value of a constant; -1 if it is a weight.

        Integers are not weights, and neither is a single float, which is a factor or an epsilon.
        """
        label = None if always else self.by_value.get(tensor)
        if label is None:
            value = self.model.constants.get(tensor)
            label = -1
            if value is not None and (always or value.size == 1 or not self._is_float(tensor)):
                content = tuple(value.ravel().tolist()) if value.dtype.hasobject else value.tobytes()
                label = self._id(("value", self._shaped(tensor), content))
            elif value is None and not self._is_float(tensor):
                label = self._shaped(tensor)
            if not always:
                self.by_value[tensor] = label
        return label

    def _is_float(self, tensor: int) -> bool:
        return (self.types.dtypes[tensor] or self.model.tensors[tensor].dtype) in _FLOATS


def _attributes(node: Node) -> Hashable:
    """Return the attributes, without subgraphs, as one hashable value."""
    bodies = [name for name, _ in node.subgraphs]
    if len(node.attributes) == 1 and not bodies:
        ((name, value),) = node.attributes.items()
        return name, value if type(value) in _SCALAR_TYPES else _frozen(value)
    return frozenset(
        [
            (name, value if type(value) in _SCALAR_TYPES else _frozen(value))
            for name, value in node.attributes.items()
            if name not in bodies
        ]
    )


def _frozen(value: Any) -> Hashable:
    if isinstance(value, (int, float, str, bytes)):
        return value
    if isinstance(value, (list, tuple)):
        if not value or type(value[0]) in _SCALAR_TYPES:  # ONNX lists hold values of one type
            return tuple(value)
        return tuple(_frozen(item) for item in value)
    if isinstance(value, ConstTensor):
        content = None if value.values is None else value.values
        if content is not None:
            content = tuple(content.ravel().tolist()) if content.dtype.hasobject else content.tobytes()
        return (value.dtype, value.shape, content)
    return repr(value)


def signature(canonical: CanonicalGraph, part: Sequence[int]) -> tuple[int, ...]:
    """Return the identity of a part: the labels of its nodes and their edges, in the given order.

    Parts with equal signatures are isomorphic in that order. An outer input is identified by its first use,
    so parts must also share their inputs in the same way.
    """
    stride, label, ins = canonical.stride, canonical.label, canonical.input_codes
    position = {node: number for number, node in enumerate(part)}
    outside: dict[int, int] = {}
    codes: list[int] = []
    for node in part:
        codes.append(label[node])
        for code in ins[node]:
            if code >= 0:
                producer = code // stride
                if producer in position:  # its position in the part; the output stays
                    codes.append(code + (position[producer] - producer) * stride)
                    continue
            elif code == NO_TENSOR:
                codes.append(NO_TENSOR)
                continue
            codes.append(-2 - outside.setdefault(code, len(outside)))
    return tuple(codes)


def boundary_links(
    canonical: CanonicalGraph, first: Mapping[int, int], part: Sequence[int]
) -> tuple[tuple[int, int, int], ...]:
    """Return the links from the part before: (position in ``part``, input, position · stride + output).

    ``first`` maps the nodes of the part before to their positions.
    """
    stride = canonical.stride
    links = []
    for number, node in enumerate(part):
        for slot, code in enumerate(canonical.input_codes[node]):
            if code >= 0:
                position = first.get(code // stride)
                if position is not None:
                    links.append((number, slot, position * stride + code % stride))
    return tuple(links)
