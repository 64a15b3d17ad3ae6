"""Pairs of weights whose products with activations can exceed 16 bits and saturate without VNNI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.quantize.proto_graph import ProtoGraph
from py_autodoc.quantize.reference.arithmetic import Array
from py_autodoc.quantize.reference.saturation import (
    FACTORS,
    can_saturate,
    left_rows,
    saturates_pairs,
    weight_rows,
)
from py_autodoc.quantize.rewrites import becomes_unsigned

_QDQ = {"Conv": "QLinearConv", "MatMul": "QLinearMatMul", "Gemm": "QGemm"}
"""Float operators that become integer ones between Q and DQ."""
_TYPES = (TensorProto.UINT8, TensorProto.INT8)


class ClippingPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of constant weights in the products that ONNX Runtime computes in 16 bits without VNNI."""

    pairs: int
    clipping: int
    """Number of pairs whose sum of products exceeds 16 bits for some activations."""
    worst_layer: str
    worst_share: float

    @property
    def share(self) -> float:
        """Share of these pairs in all pairs."""
        return self.clipping / self.pairs if self.pairs else 0.0


def clipping_pairs(model: onnx.ModelProto) -> ClippingPairs:
    """Count the pairs of neighbours in the order in which kernels add them.

    Counted are products of u8 and s8 as the runtime computes them: operators of integers, and float operators
    between Q and DQ, whose signed activations it rewrites to unsigned ones. Depthwise convolutions are exact.
    Activations of an unknown type count as u8.
    """
    graph = _Graph(model)
    pairs = clipping = 0
    worst, name = 0.0, ""
    for node in model.graph.node:
        layer_pairs = layer_clipping = 0
        for rows, data in graph.products(node):
            even = rows.shape[1] // 2 * 2
            sums = can_saturate(rows[:, 0:even:2], rows[:, 1:even:2], data)
            layer_pairs += sums.size
            layer_clipping += int(sums.sum())
        pairs += layer_pairs
        clipping += layer_clipping
        if layer_pairs and layer_clipping / layer_pairs > worst:
            worst, name = layer_clipping / layer_pairs, node.name or node.output[0]
    return ClippingPairs(pairs=pairs, clipping=clipping, worst_layer=name, worst_share=worst)


class _Graph(ProtoGraph):
    """The main graph, with the element types that it declares."""

    def __init__(self, model: onnx.ModelProto) -> None:
        super().__init__(model)
        self.declared = {
            value.name: value.type.tensor_type.elem_type
            for values in (model.graph.input, model.graph.value_info, model.graph.output)
            for value in values
        }

    def products(self, node: onnx.NodeProto) -> list[tuple[Array, Any]]:
        """Return (rows of constant weights in the order of the sum, type of the data) that can saturate."""
        op_type, attributes = node.op_type, _attributes(node)
        if op_type in _QDQ:
            found = self._between_q_and_dq(node)
            return [] if found is None else self._rows(_QDQ[op_type], attributes, *found)
        rows = []
        for factors in FACTORS.get(op_type, ()):
            a, b = _at(node, factors.a), _at(node, factors.b)
            a_type = self._type(a, _at(node, factors.a_zero)) if factors.a_quantized else np.uint8
            rows += self._rows(op_type, attributes, a, a_type, b, self._type(b, _at(node, factors.b_zero)))
        return rows

    def _rows(
        self, op_type: str, attributes: Mapping[str, Any], a: str, a_type: Any, b: str, b_type: Any
    ) -> list[tuple[Array, Any]]:
        weight, left = self._constant(b), self._constant(a)
        shape = () if weight is None else weight.shape
        a_type = (np.uint8 if a_type is None else a_type) if left is None else left.dtype
        b_type = b_type if weight is None else weight.dtype
        group = int(attributes.get("group", 1))
        if b_type is None or not saturates_pairs(op_type, a_type, b_type, shape, group):
            return []
        if weight is not None:
            return [(weight_rows(op_type, weight, bool(attributes.get("transB"))), a_type)]
        if left is not None and op_type not in ("QLinearConv", "ConvInteger"):
            return [(left_rows(left, bool(attributes.get("transA"))), b_type)]
        return []

    def _constant(self, name: str) -> Array | None:
        tensor = self.constants.get(name)
        if tensor is None or tensor.data_type not in _TYPES:
            return None
        return np.asarray(numpy_helper.to_array(tensor))

    def _between_q_and_dq(self, node: onnx.NodeProto) -> tuple[str, Any, str, Any] | None:
        """Return both operands' codes and types in the integer kernel; None if it computes in float."""
        codes: list[Any] = []
        for name in node.input[:2]:
            dq = self.producers.get(name)
            if dq is None or dq.op_type != "DequantizeLinear":
                return None
            rewritten = becomes_unsigned(dq, self.constants, self.producers, self.readers, self.outputs)
            codes += [dq.input[0], np.uint8 if rewritten else self._type(dq.input[0], _at(dq, 2))]
        if len(codes) != 4 or (node.op_type == "Conv" and not self._quantized(node.output[0])):
            return None
        return codes[0], codes[1], codes[2], codes[3]

    def _quantized(self, name: str) -> bool:
        """Return whether Q reads a tensor, alone or after the clamp that it stands for."""
        for _ in range(2):
            readers = self.readers.get(name, [])
            if name in self.outputs or len(readers) != 1:
                return False
            if readers[0].op_type == "QuantizeLinear":
                return True
            if readers[0].op_type not in ("Relu", "Clip"):
                return False
            name = readers[0].output[0]
        return False

    def _type(self, name: str, zero: str = "") -> Any:
        """Return the type of codes by the tensor, its zero point or its quantizer; None if none tells it."""
        node = self.producers.get(name)
        quantizer = node if node is not None and node.op_type == "QuantizeLinear" else None
        for one in (name, zero, "" if quantizer is None else _at(quantizer, 2)):
            known = self.constants[one].data_type if one in self.constants else self.declared.get(one, 0)
            if one and known:
                return _dtype(known)
        if quantizer is not None:
            return _dtype(_attributes(quantizer).get("output_dtype", 0) or TensorProto.UINT8)
        return np.uint8 if node is not None and node.op_type == "DynamicQuantizeLinear" else None


def _dtype(element: int) -> Any:
    return helper.tensor_dtype_to_np_dtype(element)


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def _at(node: onnx.NodeProto, index: int | None) -> str:
    """Return the name of an input; empty if it is absent."""
    return node.input[index] if index is not None and index < len(node.input) else ""
