"""What a product computes with the constants after it folded in, as converters and optimizers fold them.

A convolution with its BatchNormalization, or a MatMul with an Add, is one product: each output channel has a
factor for its weights, and a bias. Two models that differ only in what is folded have the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from py_autodoc.compare.meaning import AFFINE
from py_autodoc.compare.stored_weights import ModelWeights, Scaling, StoredWeight
from py_autodoc.compare.units import Unit
from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.tensor_data.tensor_bytes import UnreadableTensor

NORMALIZATION = "BatchNormalization"
_IMAGES = frozenset({"Conv", "ConvTranspose"})
"""Products with their channels on axis 1 of the result; others have them on the last axis."""


class Folded(NamedTuple):
    """A product with what follows it."""

    scaling: Scaling | None
    """Factor of each output channel's weights; None if they stay as they are."""
    bias: Any
    """Bias of each output channel; one value if all have the same."""


def chain(side: ModelWeights, unit: Unit) -> list[Node]:
    """Return the product of a unit and the operators with constants right after it."""
    product, *following = (side.model.nodes[number] for number in unit.nodes[: unit.work])
    nodes = [product]
    for node in following:
        if node.op_type not in AFFINE and node.op_type != NORMALIZATION:
            break
        nodes.append(node)
    return nodes


def folded(side: ModelWeights, unit: Unit, weight: StoredWeight) -> Folded | None:
    """Return the product of a unit with the constants after it folded in; None if they cannot be.

    Raises: UnreadableTensor if one of the constants cannot be read.
    """
    product, *following = chain(side, unit)
    axis = _channel_axis(side, product, weight)
    shape = side.analysis.types.shapes[product.outputs[0]] if axis is not None else None
    if axis is None or shape is None:
        return None
    fold = _Fold(side, len(shape), 1 if product.op_type in _IMAGES else len(shape) - 1, weight.shape[axis])
    if not fold.start(product):
        return None
    result = product.outputs[0]
    for node in following:
        if result not in node.inputs or not fold.add(node, result):
            return None
        result = node.outputs[0]
    stays = fold.factor.size == 1 and fold.factor[0] == 1
    return Folded(None if stays else (fold.factor, np.zeros(1), axis), fold.bias)


def _channel_axis(side: ModelWeights, product: Node, weight: StoredWeight) -> int | None:
    """Return the axis of a stored weight with an entry for each output channel; None if there is none."""
    if product.op_type == "Conv":
        return 0
    if product.op_type == "ConvTranspose":  # a channel of a group reads the weights of that group only
        return 1 if product.attributes.get("group", 1) == 1 else None
    first = product.inputs[0] if product.inputs else -1
    if product.op_type not in ("MatMul", "Gemm") or first < 0 or side.model.tensors[first].is_constant:
        return None
    return (0 if weight.transposed else 1) if len(weight.shape) == 2 else None


class _Fold:
    """Factors and biases of a product, after each operator that follows it."""

    def __init__(self, side: ModelWeights, rank: int, axis: int, channels: int) -> None:
        self.side = side
        self.rank = rank
        self.axis = axis
        self.channels = channels
        self.factor: Any = np.ones(1)
        self.bias: Any = np.zeros(1)

    def start(self, product: Node) -> bool:
        """Take the factors and the bias of the product itself."""
        given = len(product.inputs) > 2 and product.inputs[2] >= 0
        if product.op_type == "MatMul":
            return True
        if product.op_type != "Gemm":
            bias = self.side.read_vector(product.inputs[2]) if given else np.zeros(1)
            self.bias = bias
            return bias.size in (1, self.channels)
        alpha, beta = (product.attributes.get(name, 1.0) for name in ("alpha", "beta"))
        values = self._by_channel(product.inputs[2]) if given else np.zeros(1)
        if values is None or not isinstance(alpha, (int, float)) or not isinstance(beta, (int, float)):
            return False
        self.factor, self.bias = np.full(1, float(alpha)), values * beta
        return True

    def add(self, node: Node, data: int) -> bool:
        """Fold in one operator that reads ``data``; False if it is not the same for a whole channel."""
        if node.op_type == NORMALIZATION:
            return self._normalize(node)
        others = [tensor for tensor in node.inputs if tensor != data]
        values = self._by_channel(others[0]) if len(others) == 1 and others[0] >= 0 else None
        if values is None:
            return False
        is_first = node.inputs[0] == data
        if node.op_type == "Mul" or (node.op_type == "Div" and is_first):
            with np.errstate(divide="ignore", invalid="ignore"):
                by = values if node.op_type == "Mul" else 1 / values
            self.factor, self.bias = self.factor * by, self.bias * by
        elif node.op_type == "Add":
            self.bias = self.bias + values
        elif node.op_type == "Sub":
            sign = 1 if is_first else -1
            self.factor, self.bias = sign * self.factor, sign * (self.bias - values)
        else:
            return False
        return True

    def _normalize(self, node: Node) -> bool:
        epsilon = node.attributes.get("epsilon", 1e-5)
        if self.axis != 1 or len(node.inputs) < 5 or not isinstance(epsilon, (int, float)):
            return False
        gamma, beta, mean, variance = (self.side.read_vector(tensor) for tensor in node.inputs[1:5])
        if not gamma.size == beta.size == mean.size == variance.size == self.channels:
            return False
        by = gamma / np.sqrt(variance + epsilon)
        self.factor, self.bias = self.factor * by, beta + (self.bias - mean) * by
        return True

    def _by_channel(self, tensor: int) -> Any:
        """Return a constant as one value per channel, or one for all; None if it has others."""
        shape = self.side.analysis.types.shapes[tensor]
        if shape is None or len(shape) > self.rank:
            return None
        aligned = (*[1] * (self.rank - len(shape)), *shape)
        if any(size != 1 for axis, size in enumerate(aligned) if axis != self.axis):
            return None
        if aligned[self.axis] not in (1, self.channels):
            return None
        values = self.side.read_vector(tensor)
        if values.size != aligned[self.axis]:
            raise UnreadableTensor("a constant has another number of values than its shape")
        return values
