"""Operators whose sums saturate without VNNI, in a graph as it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.quantize.reference.saturation import (
    FACTORS,
    Factors,
    can_saturate,
    saturates_pairs,
    weight_rows,
)

_UNSIGNED: Final = FACTORS.keys() - {"ConvInteger", "DynamicQuantizeLSTM"}
"""Operators that take u8 weights instead of s8 ones; the factors of a ConvInteger are the other way round."""
_QUANTIZED: Final = frozenset({*FACTORS, "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
"""A model with none of these has no integer products."""


def has_integer_products(model: onnx.ModelProto) -> bool:
    """Return whether ONNX Runtime may run integer kernels for the model."""
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    return any(inner.op_type in _QUANTIZED for node in nodes for inner in _with_inner(node))


def saturating_nodes(model: onnx.ModelProto) -> tuple[list[int], bool]:
    """Return the positions of nodes whose sums can saturate, and whether subgraphs may have more of them.

    Operators with unknown types count. Those whose weights are too small do not.
    """
    types = _types(model.graph)
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    positions = [
        position
        for position, node in enumerate(model.graph.node)
        if any(_can_saturate(node, factors, types, weights) for factors in FACTORS.get(node.op_type, ()))
    ]
    inside = any(
        inner.op_type in FACTORS
        for node in model.graph.node
        for inner in _with_inner(node)
        if inner is not node
    )
    return positions, inside


def _with_inner(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """Yield the node and those in its subgraphs."""
    yield node
    for attribute in node.attribute:
        if attribute.HasField("g"):
            for inner in attribute.g.node:
                yield from _with_inner(inner)


def _types(graph: onnx.GraphProto) -> dict[str, int]:
    """Return the known element types of tensors by name."""
    types = {tensor.name: tensor.data_type for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info):
        types.setdefault(value.name, value.type.tensor_type.elem_type)
    for node in graph.node:
        if node.op_type == "DynamicQuantizeLinear":
            types.update({node.output[0]: TensorProto.UINT8, node.output[2]: TensorProto.UINT8})
        elif node.op_type == "QuantizeLinear":
            zero = input_name(node, 2)
            types[node.output[0]] = types.get(zero, 0) if zero else TensorProto.UINT8
    return types


def _can_saturate(
    node: onnx.NodeProto,
    factors: Factors,
    types: Mapping[str, int],
    weights: Mapping[str, onnx.TensorProto],
) -> bool:
    def dtype(at: int, zero: int | None, unknown: Any) -> Any:
        names = (input_name(node, at), input_name(node, zero))
        known = next((types[name] for name in names if types.get(name)), 0)
        return helper.tensor_dtype_to_np_dtype(known) if known else unknown

    right_is_filter = node.op_type != "ConvInteger"
    unknown = (np.uint8, np.int8) if right_is_filter else (np.int8, np.uint8)
    a = dtype(factors.a, factors.a_zero, unknown[0]) if factors.a_quantized else np.uint8
    b = dtype(factors.b, factors.b_zero, unknown[1])
    weight = weights.get(input_name(node, factors.b))
    attributes = attributes_of(node)
    shape = (0, 0) if weight is None else tuple(weight.dims)
    if not saturates_pairs(node.op_type, a, b, shape, int(attributes.get("group", 1))):
        return False
    if weight is None or node.op_type == "DynamicQuantizeLSTM":  # its weights have an axis of directions
        return True
    rows = weight_rows(node.op_type, numpy_helper.to_array(weight), bool(attributes.get("transB")))
    even = rows.shape[1] // 2 * 2
    return bool(can_saturate(rows[:, 0:even:2], rows[:, 1:even:2], a).any())


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
        factors = FACTORS[node.op_type][0]
        zero = factors.b_zero
        names = [input_name(node, factors.b), input_name(node, zero)]
        stored = names[0] in weights and all(
            not name or (name in weights and weights[name].data_type == TensorProto.INT8) for name in names
        )
        if node.op_type not in _UNSIGNED or not stored or zero is None:
            left.append(position)
            continue
        node.input.extend([""] * (zero + 1 - len(node.input)))
        for at, name in zip((factors.b, zero), names, strict=True):
            if name not in unsigned:
                codes = numpy_helper.to_array(weights[name]) if name else np.zeros((), np.int8)
                unsigned[name] = f"{name}_unsigned_{len(unsigned)}"
                shifted = np.asarray(codes.astype(np.int16) + 128, np.uint8, order="C")
                graph.initializer.append(numpy_helper.from_array(shifted, unsigned[name]))
            node.input[at] = unsigned[name]
    return copy, left


def input_name(node: onnx.NodeProto, index: int | None) -> str:
    """Return the name of an input; empty if it is absent."""
    return str(node.input[index]) if index is not None and index < len(node.input) else ""


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    """Return the attributes of a node as the reference reads them."""
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
