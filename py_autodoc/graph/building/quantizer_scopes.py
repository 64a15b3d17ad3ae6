"""Module scopes for the nodes that quantizers insert.

A quantizer replaces ``MatMul`` by other operators (MatMulNBits; or DynamicQuantizeLinear, MatMulInteger,
Cast and two Muls) and drops the module. The edges alone are misleading: such a layer reads from the module
before it and feeds the one after it. The scope is therefore inferred by these rules:

- a weight is named after its module (``model.layers.0.self_attn.q_proj.weight_Q4``);
- a bias is added in the layer's own module;
- no layer is in a module that only holds a normalization or an activation; a layer after a normalization is
    in the module of its consumer, one after an activation may be in the enclosing module;
- of two nested modules a layer is in the inner one; of two others, in the module of its consumer.

Nodes that convert the result back to float belong to the layer; nodes that quantize data belong to their
consumer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

from py_autodoc.graph.building.draft_graph import DraftTensor
from py_autodoc.graph.ir.model import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

Names = tuple[str, ...]

QUANTIZERS = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
_INTEGER = frozenset({"MatMulInteger", "ConvInteger", "MatMulInteger16"})
_LAYERS = _INTEGER | {
    "MatMulNBits", "MatMulBnb4", "MatMulFpQ4", "MatMulIntegerToFloat", "DynamicQuantizeMatMul",
    "QLinearMatMul", "QLinearConv", "QGemm",
}  # fmt: skip
_NORMS = frozenset({
    "LayerNormalization", "SimplifiedLayerNormalization", "SkipLayerNormalization", "RMSNormalization",
    "SkipSimplifiedLayerNormalization", "BatchNormalization", "GroupNormalization", "InstanceNormalization",
    "ReduceMean",
})  # fmt: skip
_AUXILIARY = _NORMS | {
    "Relu", "Gelu", "FastGelu", "QuickGelu", "Sigmoid", "Tanh", "Erf", "Softmax", "Clip", "LeakyRelu",
    "HardSwish", "HardSigmoid", "Elu", "Swish", "Softplus", "Pow", "Sqrt", "Reciprocal", "Add", "Sub", "Mul",
    "Div", "Cast", "Identity", "Dropout",
}  # fmt: skip
_WEIGHT = re.compile(r"(q?weight|kernel)(_|$)")
"""Start of the last component of a weight name."""
_MAX_NAME = 512


def quantizer_scopes(
    nodes: Sequence[Node], tensors: Sequence[DraftTensor], order: Sequence[int], unscoped: Iterable[int]
) -> dict[int, Names]:
    """Return node → scope for quantizers, and for nodes of ``unscoped`` that are layers or belong to one.

    ``order`` lists the nodes of one graph in execution order. A quantizer with a scope only from its name is
    placed again: tools name it after the tensor that it reads, whatever its purpose.
    """
    return _QuantizerScopes(nodes, tensors, order, unscoped).run()


class _QuantizerScopes:
    def __init__(
        self,
        nodes: Sequence[Node],
        tensors: Sequence[DraftTensor],
        order: Sequence[int],
        unscoped: Iterable[int],
    ) -> None:
        self.nodes = nodes
        self.tensors = tensors
        self.order = order
        self.unknown = set(unscoped)
        self.scopes: dict[int, Names] = {}
        self.quantizers: set[int] = set()
        for number in order:
            node = nodes[number]
            if node.op_type in QUANTIZERS and "scope" not in node.origins and "function" not in node.origins:
                self.quantizers.add(number)
            elif number not in self.unknown:
                self.scopes[number] = node.scope
        self.after: dict[int, int] = {}
        """Node that converts the result of an integer layer to float → the layer."""
        self.layers = [n for n in order if n in self.unknown and self._is_layer(nodes[n])]
        if self.layers or self.quantizers:
            self._find_quantizers()

    def run(self) -> dict[int, Names]:
        if not self.layers and not self.quantizers:
            return {}
        self.outside = common(self.scopes.values())
        self.auxiliary = self._auxiliary_scopes()
        self.norms = self.auxiliary & {
            names for number, names in self.scopes.items() if self.nodes[number].op_type in _NORMS
        }
        self.paths = self._paths()
        layer_scopes = {layer: self._layer(layer) for layer in self.layers}
        self.scopes |= {layer: names for layer, names in layer_scopes.items() if names is not None}
        for node, layer in self.after.items():
            if layer in self.scopes:
                self.scopes[node] = self.scopes[layer]
        self._place_quantizers()
        members = (*self.layers, *self.after, *self.quantizers)
        return {node: self.scopes[node] for node in members if node in self.scopes}

    def _is_layer(self, node: Node) -> bool:
        return node.op_type in _LAYERS and any(self._is_constant(t) for t in node.inputs)

    def _is_constant(self, tensor: int) -> bool:
        return tensor >= 0 and self.tensors[tensor].kind.is_constant

    def _find_quantizers(self) -> None:
        """Find Casts and Muls after integer layers, and Muls that only multiply scales."""
        integers = {n for n in self.order if self.nodes[n].op_type in _INTEGER}
        for number in self.order:
            node = self.nodes[number]
            if number not in self.unknown or node.op_type not in ("Cast", "Mul"):
                continue
            producers = [p for p in self._producers(number) if p >= 0]
            layer = next((self.after.get(p, p) for p in producers if p in integers or p in self.after), -1)
            if layer >= 0:
                self.after[number] = layer
            elif producers and all(p in self.quantizers for p in producers):
                self.quantizers.add(number)

    def _layer(self, layer: int) -> Names | None:
        """Return the scope of a layer; None if no neighbour has a scope."""
        named = self._named(layer)
        if named is not None:
            return named
        read = list(self._float_consumers(layer))
        if len(read) == 1 and self._adds_bias(read[0]):
            return self.scopes[read[0]]
        results = [self.scopes[n] for n in read if n in self.scopes]
        producers = [self.scopes[n] for n in self._data_producers(layer) if n in self.scopes]
        if self._produces_output(layer):
            results.append(self.outside)
        consumer_scope = self._innermost_layer_scope(common(results)) if results else None
        producer_scope = common(producers) if producers else None
        if producer_scope is None or consumer_scope is None:
            return consumer_scope if producer_scope is None else self._innermost_layer_scope(producer_scope)
        return (
            consumer_scope
            if producer_scope in self.norms
            else _inner(consumer_scope, self._innermost_layer_scope(producer_scope))
        )

    def _named(self, layer: int) -> Names | None:
        """Return the module in the name of a weight, even if no other node is in it."""
        for tensor in self.nodes[layer].inputs:
            name = self.tensors[tensor].name[:_MAX_NAME] if self._is_constant(tensor) else ""
            path, _, last = name.rpartition(".")
            if not path or not _WEIGHT.match(last):
                continue
            parts = path.split(".")
            for size in range(len(parts), 0, -1):
                names = self.paths.get(".".join(parts[:size]))
                if names is not None:
                    return (*names, ".".join(parts[size:])) if size < len(parts) else names
            if self.paths:
                return (*self.outside, path)
        return None

    def _paths(self) -> dict[str, Names]:
        """Return module path → scope, as PyTorch names parameters, with and without common outer levels."""
        paths: dict[str, Names] = {}
        for names in set(self.scopes.values()):
            for size in range(1, len(names) + 1):
                for first in range(min(len(self.outside), size - 1) + 1):
                    paths.setdefault(".".join(names[first:size]), names[:size])
        return paths

    def _adds_bias(self, number: int) -> bool:
        node = self.nodes[number]
        return (
            node.op_type == "Add" and number in self.scopes and any(self._is_vector(t) for t in node.inputs)
        )

    def _is_vector(self, tensor: int) -> bool:
        """True for a constant with several elements, or one renamed or packed from it in one step."""
        producer = self.tensors[tensor].producer if tensor >= 0 else -1
        inputs = self.nodes[producer].inputs if producer >= 0 else ()
        fixed = [tensor] if self._is_constant(tensor) else inputs
        return any(self._elements(t) > 1 for t in fixed) and all(t < 0 or self._is_constant(t) for t in fixed)

    def _elements(self, tensor: int) -> int:
        shape = self.tensors[tensor].shape if tensor >= 0 else None
        return prod(dim for dim in shape if isinstance(dim, int)) if shape is not None else 0

    def _float_consumers(self, number: int) -> Iterator[int]:
        """Yield the consumers of a result, past nodes that convert it to float."""
        stack = [number]
        seen = {number}
        while stack:
            for reader in self._consumers(stack.pop()):
                if reader in seen:
                    continue
                seen.add(reader)
                if reader in self.after or (reader in self.quantizers and number not in self.quantizers):
                    stack.append(reader)
                else:
                    yield reader

    def _data_producers(self, number: int) -> Iterator[int]:
        """Yield the producers of a node's data, before nodes that quantize it."""
        stack = [number]
        seen = {number}
        while stack:
            for producer in self._producers(stack.pop()):
                if producer < 0 or producer in seen:
                    continue
                seen.add(producer)
                if producer in self.quantizers:
                    stack.append(producer)
                else:
                    yield producer

    def _place_quantizers(self) -> None:
        """Place quantizers with their consumers, or with the producers of their data if that scope is inside.

        Other nodes without a scope, such as an inserted Reshape, are passed.
        """
        upstream = dict(self.scopes)
        for number in self.order:
            producer_scopes = [upstream[p] for p in self._producers(number) if p in upstream]
            if number not in upstream and producer_scopes:
                upstream[number] = common(producer_scopes)
        downstream = dict(self.scopes)
        for number in reversed(self.order):
            if number in downstream:
                continue
            consumer_scopes = [downstream[r] for r in self._consumers(number) if r in downstream]
            if self._produces_output(number):
                consumer_scopes.append(self.outside)
            if number in self.quantizers:
                names = self._quantizer_scope(
                    number, upstream.get(number), common(consumer_scopes) if consumer_scopes else None
                )
                if names is not None:
                    self.scopes[number] = downstream[number] = names
            elif consumer_scopes:
                downstream[number] = common(consumer_scopes)

    def _quantizer_scope(
        self, number: int, producer_scope: Names | None, consumer_scope: Names | None
    ) -> Names | None:
        if producer_scope is None or consumer_scope is None:
            return consumer_scope if producer_scope is None else producer_scope
        a_scale = self.nodes[number].op_type == "Mul"  # all scales of one layer
        return producer_scope if not a_scale and _within(producer_scope, consumer_scope) else consumer_scope

    def _auxiliary_scopes(self) -> set[Names]:
        """Return scopes that hold only a normalization or an activation."""
        others: set[Names] = set()
        for number, names in self.scopes.items():
            if self.nodes[number].op_type not in _AUXILIARY or self._adds_bias(number):
                others.update(names[:size] for size in range(len(names) + 1))
            else:
                others.update(names[:size] for size in range(len(names)))
        return set(self.scopes.values()) - others

    def _innermost_layer_scope(self, names: Names) -> Names:
        """Return the innermost enclosing scope that can hold a layer."""
        while names and names in self.auxiliary:
            names = names[:-1]
        return names

    def _produces_output(self, number: int) -> bool:
        return any(t >= 0 and self.tensors[t].is_output for t in self.nodes[number].outputs)

    def _producers(self, number: int) -> list[int]:
        return [
            self.tensors[t].producer for t in self.nodes[number].inputs if t >= 0 and not self._is_constant(t)
        ]

    def _consumers(self, number: int) -> list[int]:
        graph = self.nodes[number].graph
        read = [r for t in self.nodes[number].outputs if t >= 0 for r in self.tensors[t].consumers]
        return [reader for reader in read if self.nodes[reader].graph == graph]


def common(scopes: Iterable[Names]) -> Names:
    """Return the innermost scope that contains all of them; the root if there are none."""
    ordered = sorted(set(scopes))
    if not ordered:
        return ()
    first, last = ordered[0], ordered[-1]
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    return first[:length]


def _within(names: Names, outer: Names) -> bool:
    return names[: len(outer)] == outer


def _inner(consumer_scope: Names, producer_scope: Names) -> Names:
    """Return the inner of two nested scopes; otherwise the first."""
    return producer_scope if _within(producer_scope, consumer_scope) else consumer_scope
