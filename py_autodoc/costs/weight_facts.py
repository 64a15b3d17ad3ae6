"""Facts of a graph that tell what its constants are: what is stored, trained, counted, a score.

A tensor is *stored* if it is computed from constants alone by operators that only prepare them: views, casts,
joins, arithmetic, dequantizers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.costs.front_end import front_end
from py_autodoc.costs.weight_slots import (
    CARRIERS,
    ELEMENTWISE,
    LEARNED,
    PRODUCTS,
    QUANTIZED,
    UNARY,
    VIEWS,
    is_dequantizer,
)
from py_autodoc.graph.ir.model import Model, Node, TensorKind, TypeTable

_INTEGERS = frozenset({2, 3, 4, 5, 6, 7, 9, 12, 13, 21, 22, 25, 26})
_QUANTIZED_TYPES = frozenset({2, 3, 4, 5, 6, 12, 21, 22, 25, 26})
"""Integers that may stand for weights: 2 to 16 bits, or 32 with several packed in one."""
MAX_STEPS = 64
_IMAGE_CHANNELS = 4
BITS = frozenset({"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
ALONG = VIEWS | {"Cast", "Add", "Sub", "Mul", "Div", "Where", "Clip", "Max", "Min", "Tanh", "Neg", "Expand"}
"""Operators between scores and their softmax, or between a layer and its bias."""


class ConstantFacts:
    """What surrounds the constants of a model. Linear in the graph."""

    def __init__(self, model: Model, types: TypeTable) -> None:
        self.model, self.types = model, types
        self.stored, self.integer = self._stored()
        self.widths: set[int] = set()
        """Sizes of the weights of layers: a vector of another length is none of their scales or biases."""
        self.trained_after, self.trained_before = self._trained()
        self.front_end = front_end(model)
        """Nodes whose filters are fixed, though they look like weights."""
        self._slots: dict[int, dict[int, list[int]]] = {}
        self._computed: dict[int, list[int]] = {}

    # ------------------------------------------------------------------ passes over the graph

    def _stored(self) -> tuple[set[int], set[int]]:
        """Return tensors computed from constants alone, and those of them that hold quantized integers."""
        model = self.model
        stored = {t.id for t in model.tensors if t.is_constant}
        integer = {t for t in stored if self._dtype(t) in _QUANTIZED_TYPES}
        for node in model.nodes:
            if node.subgraphs or not node.inputs or not node.outputs:
                continue
            data = [t for t in self._data_inputs(node) if t >= 0]
            if not data or not all(t in stored for t in data) or not self._prepares(node):
                continue
            if node.op_type == "Gather" and node.inputs[-1] not in stored:
                continue  # rows chosen by the data are activations
            stored.update(t for t in node.outputs if t >= 0)
            if any(t in integer for t in data):
                integer.update(t for t in node.outputs if t >= 0)
        return stored, integer

    def _trained(self) -> tuple[set[int], set[int]]:
        """Return the nodes from which a layer with weights can be reached, and those that one reaches."""
        model = self.model
        layers = [n.id for n in model.nodes if any(t in self.stored for t in self._weights(n))]
        for number in layers:
            for t in self._weights(model.nodes[number]):
                if t in self.stored:
                    self.widths.update(d for d in self.types.shapes[t] or () if isinstance(d, int))
        after: set[int] = set()
        before: set[int] = set()
        stack = list(layers)
        while stack:
            node = model.nodes[stack.pop()]
            parent = model.graphs[node.graph].parent_node
            producers = [model.tensors[t].producer for t in node.inputs if t >= 0]
            for number in (*producers, parent):
                if number >= 0 and number not in after:
                    after.add(number)
                    stack.append(number)
        stack = list(layers)
        while stack:
            node = model.nodes[stack.pop()]
            for t in node.outputs:
                for number in model.tensors[t].consumers if t >= 0 else ():
                    if number not in before:
                        before.add(number)
                        stack.append(number)
        return after | set(layers), before | set(layers)

    def _weights(self, node: Node) -> Iterable[int]:
        slots = (*LEARNED.get(node_key(node), ()), *QUANTIZED.get(node_key(node), ()))
        if is_dequantizer(node):
            return ()
        return [node.inputs[slot] for slot in slots if slot < len(node.inputs)]

    def _dtype(self, tensor: int) -> int:
        return self.types.dtypes[tensor] or self.model.tensors[tensor].dtype

    # ------------------------------------------------------------------ carriers

    def _prepares(self, node: Node) -> bool:
        """Return whether a node only prepares constants if all its data are constants."""
        return is_dequantizer(node) or (
            not node.domain and (node.op_type in CARRIERS or node.op_type in ELEMENTWISE | UNARY | BITS)
        )

    def _data_inputs(self, node: Node) -> Sequence[int]:
        """Return the inputs whose elements end in the output; the others are shapes, indices and scales."""
        if is_dequantizer(node):
            return node.inputs[:1]
        if not node.domain and node.op_type in CARRIERS and node.op_type != "Concat":
            return node.inputs[:1]
        return node.inputs

    def _carries(self, node: Node, tensor: int) -> bool:
        """Return whether ``node`` hands the elements of ``tensor`` on to its outputs."""
        if not node.outputs or not self._prepares(node):
            return False
        if is_dequantizer(node) or (node.op_type in CARRIERS and node.op_type != "Concat"):
            return tensor in self._data_inputs(node)
        return tensor in self._slots_of(node) and not self._computed_inputs(node)

    def _slots_of(self, node: Node) -> Mapping[int, Sequence[int]]:
        """Return tensor → positions among the inputs: a Sum of all weights has each of them as a reader."""
        slots = self._slots.get(node.id)
        if slots is None:
            slots = self._slots[node.id] = {}
            for position, tensor in enumerate(node.inputs):
                slots.setdefault(tensor, []).append(position)
        return slots

    def _computed_inputs(self, node: Node) -> Sequence[int]:
        """Return the inputs that do not come from constants alone."""
        found = self._computed.get(node.id)
        if found is None:
            found = self._computed[node.id] = [t for t in node.inputs if t >= 0 and t not in self.stored]
        return found

    def _next(self, tensor: int) -> list[int]:
        found = []
        for number in self.model.tensors[tensor].consumers:
            node = self.model.nodes[number]
            if self._carries(node, tensor):
                found += [t for t in node.outputs if t >= 0]
        return found

    # ------------------------------------------------------------------ what a constant meets

    def _rotates(self, node: Node, partners: Sequence[int]) -> bool:
        """Return whether the product is added to another product with a constant (rotary embedding)."""
        if any(self._transformed(t) for t in partners):
            return False
        for number in self._readers(node.outputs[0]):
            other = self.model.nodes[number]
            if other.domain or other.op_type not in ("Add", "Sub"):
                continue
            for t in other.inputs:
                producer = self._producer(self._source(t, VIEWS | {"Cast", "Neg"}))
                if producer is None or producer.id == node.id or producer.op_type != "Mul" or producer.domain:
                    continue
                if any(self._from_table(i) for i in producer.inputs):
                    return True
        return False

    def _from_table(self, tensor: int) -> bool:
        source = self._source(tensor, CARRIERS)
        axes = self._axes(tensor)
        return (source in self.stored or tensor in self.stored) and (axes is None or len(axes) > 1)

    def _transformed(self, tensor: int) -> bool:
        """Return whether the values come from a Fourier transform, whose filters are trained."""
        producer = self._producer(self._source(tensor, CARRIERS))
        return producer is not None and producer.op_type in ("DFT", "STFT", "Rfft", "Irfft")

    def _readers(self, tensor: int) -> Iterable[int]:
        stack, steps = [tensor], 0
        while stack and steps < MAX_STEPS:
            steps += 1
            for number in self.model.tensors[stack.pop()].consumers:
                node = self.model.nodes[number]
                yield number
                if not node.domain and node.op_type in VIEWS | {"Cast"} and node.outputs[0] >= 0:
                    stack.append(node.outputs[0])

    def _to_softmax(self, node: Node) -> bool:
        stack, steps = [node.outputs[0]], 0
        while stack and steps < MAX_STEPS:
            steps += 1
            for number in self.model.tensors[stack.pop()].consumers:
                other = self.model.nodes[number]
                if other.op_type in ("Softmax", "LogSoftmax"):
                    return True
                if other.op_type in ALONG and other.outputs[0] >= 0:
                    stack.append(other.outputs[0])
        return False

    def _source(self, tensor: int, through: frozenset[str] | None = None) -> int:
        """Return the tensor that views, casts and arithmetic with constants are applied to."""
        through = ALONG if through is None else through
        for _ in range(MAX_STEPS):
            node = self._producer(tensor)
            if node is None or node.domain or node.op_type not in through:
                return tensor
            data = [t for t in self._data_inputs(node) if t >= 0]
            moving = [t for t in data if t not in self.stored]
            if node.op_type == "Where":
                moving = [t for t in moving if t != node.inputs[0]]
            if len(moving) != 1 and len(data) != 1:
                scores = [t for t in moving if self._is_score(t)]
                if len(scores) != 1:
                    return tensor
                moving = scores
            tensor = (moving or data)[0]
        return tensor

    def _producer(self, tensor: int) -> Node | None:
        producer = self.model.tensors[tensor].producer if tensor >= 0 else -1
        return None if producer < 0 else self.model.nodes[producer]

    def _is_score(self, tensor: int) -> bool:
        """Return whether the tensor is a product of two activations."""
        node = self._producer(tensor)
        if node is None or node.op_type not in ("MatMul", "Einsum", "FusedMatMul", "MatMulInteger"):
            return False
        return len(node.inputs) > 1 and not any(self._is_fixed(t) for t in node.inputs[:2])

    def _is_beyond(self, node: Node) -> bool:
        """Return whether layers with weights come before the node and none after it."""
        return node.id in self.trained_before and node.id not in self.trained_after

    def _compares(self, node: Node) -> bool:
        """Return whether a scale or offset belongs to the products of two embeddings, past all layers.

        Not for attention, whose weights go through a softmax into another product.
        """
        if not self._is_beyond(node):
            return False
        sources = [self._source(t) for t in self._computed_inputs(node)]
        products = [p.id for s in sources if self._is_score(s) and (p := self._producer(s)) is not None]
        if node.op_type in ("Mul", "Div"):
            products += [
                number
                for number in self._readers(node.outputs[0])
                if self._is_score(next(iter(self.model.nodes[number].outputs), -1))
            ]
        return any(not self._to_softmax(self.model.nodes[number]) for number in products)

    def _is_fixed(self, tensor: int) -> bool:
        return tensor < 0 or tensor in self.stored

    def _is_layer(self, tensor: int) -> bool:
        """Return whether the tensor is the output of an operator with weights."""
        node = self._producer(tensor)
        return node is not None and any(t in self.stored for t in self._weights(node))

    def _rescales(self, tensor: int) -> bool:
        """Return whether the tensor is a product with integer weights, or the scale of a quantized input."""
        node = self._producer(tensor)
        if node is None:
            return False
        if node.op_type in ("MatMulInteger", "ConvInteger"):
            return True
        if node.op_type == "DynamicQuantizeLinear":
            return len(node.outputs) > 1 and node.outputs[1] == tensor
        return node.op_type in PRODUCTS and any(
            t in self.integer and t in self.stored and not self._is_dequantized(t) for t in node.inputs[:2]
        )

    def _is_dequantized(self, tensor: int) -> bool:
        """Return whether scales are already applied to an integer constant."""
        for _ in range(MAX_STEPS):
            node = self._producer(tensor)
            if node is None or node.op_type == "Constant":
                return False
            if is_dequantizer(node) or node.op_type in ("Mul", "Div"):
                return True
            data = self._data_inputs(node)
            if not data:
                return False
            tensor = data[0]
        return False

    def _counts(self, tensor: int) -> bool:
        """Return whether the values are integers by origin: positions, indices, masks, sizes."""
        if self._dtype(tensor) in _INTEGERS and self._dtype(tensor) not in (2, 3):
            return True
        node = self._producer(self._source(tensor, VIEWS | {"Expand", "Slice", "Concat", "Tile"}))
        if node is None or node.op_type not in ("Cast", "Range"):
            return False
        source = node.inputs[0] if node.inputs else -1
        return source >= 0 and self._dtype(source) in _INTEGERS and self._dtype(source) not in (2, 3, 6)

    def _is_image(self, tensor: int) -> bool:
        entry = self.model.tensors[tensor]
        shape = self.types.shapes[tensor]
        return entry.kind == TensorKind.INPUT and entry.graph == 0 and shape is not None and len(shape) == 4

    def _small(self, tensor: int) -> bool:
        count = self._count(tensor)
        return count is not None and count <= _IMAGE_CHANNELS

    def _is_pattern(self, tensor: int) -> bool:
        """Return whether known values are a unit matrix, or zeros and one other number over several axes."""
        value = self.types.values.get(tensor)
        value = self.model.constants.get(tensor) if value is None else value
        if value is None or value.ndim < 2 or value.dtype.kind != "f" or (value.size > 1 << 16):
            return False
        found: Any = np.unique(value)
        return len(found) == 2 and bool(found[0] == 0 or found[1] == 0) and len(self._axes(tensor) or ()) > 1

    def _axes(self, tensor: int) -> list[int] | None:
        """Return the axes, from the back, along which a tensor varies; None if the rank is unknown."""
        shape = self.types.shapes[tensor]
        if shape is None:
            return None
        return [i - len(shape) for i, d in enumerate(shape) if d != 1]

    def _width(self, tensor: int) -> int | None:
        shape = self.types.shapes[tensor]
        last = shape[-1] if shape else None
        return last if isinstance(last, int) else None

    def _count(self, tensor: int) -> int | None:
        shape = self.types.shapes[tensor]
        if shape is None:
            return None
        count = 1
        for d in shape:
            if not isinstance(d, int) or d < 0:
                return None
            count *= d
        return count


def node_key(node: Node) -> tuple[str, str]:
    """Return (domain, operator)."""
    return node.domain, node.op_type
