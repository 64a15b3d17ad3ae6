"""Operators whose sums saturate without VNNI, in a graph as it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

U8, S8 = TensorProto.UINT8, TensorProto.INT8
_NEVER = 64
"""Weights up to this size cannot saturate: 255·(64 + 64) < 2^15."""


@dataclass(frozen=True, slots=True)
class Operands:
    """Positions of an operator's factors among its inputs; the left one must be u8 and the right one s8."""

    left: int
    right: int
    left_zero: int
    right_zero: int
    quantizes_left: bool = False
    """The left operand is float and is quantized to u8 by the operator."""


OPERANDS: Final[Mapping[str, Operands]] = {
    "QLinearConv": Operands(0, 3, 2, 5),
    "QLinearMatMul": Operands(0, 3, 2, 5),
    "QGemm": Operands(0, 3, 2, 5),
    "MatMulInteger": Operands(0, 1, 2, 3),
    "ConvInteger": Operands(1, 0, 3, 2),
    "MatMulIntegerToFloat": Operands(0, 1, 4, 5),
    "DynamicQuantizeMatMul": Operands(0, 1, 0, 3, quantizes_left=True),
    "QAttention": Operands(0, 1, 6, 7),
    "DynamicQuantizeLSTM": Operands(0, 1, 0, 9, quantizes_left=True),
}
"""Operator type → its factors. Convolutions of integers multiply the filter from the left."""
_UNSIGNED: Final = OPERANDS.keys() - {"ConvInteger", "DynamicQuantizeLSTM"}
"""Operators that take u8 weights instead of s8 ones; the factors of a ConvInteger are the other way round."""
QUANTIZED: Final = frozenset({*OPERANDS, "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
"""A model with none of these has no integer products."""


def has_integer_products(model: onnx.ModelProto) -> bool:
    """Return whether ONNX Runtime may run integer kernels for the model."""
    graphs: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    while graphs:
        for node in graphs.pop().node:
            if node.op_type in QUANTIZED:
                return True
            graphs.extend(attribute.g for attribute in node.attribute if attribute.HasField("g"))
    return False


def saturating_nodes(model: onnx.ModelProto) -> tuple[list[int], bool]:
    """Return the positions of nodes whose sums can saturate, and whether subgraphs have more of them.

    Operators with unknown types count. Those with small weights, and depthwise convolutions, do not.
    """
    types = _types(model.graph)
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    positions = [
        position for position, node in enumerate(model.graph.node) if _can_saturate(node, types, weights)
    ]
    inside = any(
        attribute.HasField("g") and _products_inside(attribute.g)
        for node in model.graph.node
        for attribute in node.attribute
    )
    return positions, inside


def _products_inside(graph: onnx.GraphProto) -> bool:
    return any(
        node.op_type in OPERANDS
        or any(attribute.HasField("g") and _products_inside(attribute.g) for attribute in node.attribute)
        for node in graph.node
    )


def _types(graph: onnx.GraphProto) -> dict[str, int]:
    """Return the known element types of tensors by name."""
    types = {tensor.name: tensor.data_type for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info):
        types.setdefault(value.name, value.type.tensor_type.elem_type)
    for node in graph.node:
        if node.op_type == "DynamicQuantizeLinear":
            types.update({node.output[0]: U8, node.output[2]: U8})
        elif node.op_type == "QuantizeLinear":
            zero = node.input[2] if len(node.input) > 2 else ""
            types[node.output[0]] = types.get(zero, U8 if not zero else 0)
    return types


def _can_saturate(
    node: onnx.NodeProto, types: Mapping[str, int], weights: Mapping[str, onnx.TensorProto]
) -> bool:
    operands = OPERANDS.get(node.op_type)
    if operands is None:
        return False

    def kind(position: int, zero: int) -> int:
        for at in (position, zero):
            name = node.input[at] if at < len(node.input) else ""
            if types.get(name):
                return types[name]
        return 0

    left = U8 if operands.quantizes_left else kind(operands.left, operands.left_zero)
    if left not in (0, U8) or kind(operands.right, operands.right_zero) not in (0, S8):
        return False
    weight = weights.get(node.input[operands.right])
    if weight is None:
        return True
    if node.op_type == "QLinearConv" and _depthwise(node, weight):
        return False
    if node.op_type == "DynamicQuantizeLSTM":  # its second weight multiplies as well
        return True
    return int(np.abs(numpy_helper.to_array(weight).astype(np.int16)).max(initial=0)) > _NEVER


def _depthwise(node: onnx.NodeProto, weight: onnx.TensorProto) -> bool:
    """Return whether the convolution has one input and one output channel in each group."""
    attributes = {attribute.name: attribute for attribute in node.attribute}
    group = attributes["group"].i if "group" in attributes else 1
    return len(weight.dims) > 2 and weight.dims[1] == 1 and weight.dims[0] == group


def with_unsigned_weights(
    model: onnx.ModelProto, positions: Sequence[int]
) -> tuple[onnx.ModelProto, list[int]]:
    """Return the model with u8 instead of s8 weights in these nodes, and the nodes where that is impossible.

    128 is added to weights and zero points, so the numbers stay the same, and no sums saturate. A weight that
    is computed cannot be changed.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    unsigned: dict[str, str] = {}
    left = []
    for position in positions:
        node = graph.node[position]
        operands = OPERANDS[node.op_type]
        node.input.extend([""] * (operands.right_zero + 1 - len(node.input)))
        names = [node.input[at] for at in (operands.right, operands.right_zero)]
        stored = all(not name or (name in weights and weights[name].data_type == S8) for name in names)
        if node.op_type not in _UNSIGNED or not stored:
            left.append(position)
            continue
        for at, name in zip((operands.right, operands.right_zero), names, strict=True):
            if name not in unsigned:
                codes = numpy_helper.to_array(weights[name]) if name else np.zeros((), np.int8)
                unsigned[name] = f"{name}_unsigned_{len(unsigned)}"
                shifted = np.asarray(codes.astype(np.int16) + 128, np.uint8, order="C")
                graph.initializer.append(numpy_helper.from_array(shifted, unsigned[name]))
            node.input[at] = unsigned[name]
    return copy, left


def attributes_of(node: onnx.NodeProto) -> dict[str, object]:
    """Return the attributes of a node as the reference reads them."""
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
