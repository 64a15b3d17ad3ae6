"""What a quantized file has, read from the file and not from the request."""

from __future__ import annotations

from collections import Counter

import msgspec
import onnx
from onnx import TensorProto

from py_autodoc.float_models import PRODUCTS
from py_autodoc.quantize.out_of_reach import out_of_reach

_MAX_NAMES = 200
_8_BITS = (TensorProto.INT8, TensorProto.UINT8)
_INTEGER_PRODUCTS = {
    "QLinearConv": "Conv",
    "QLinearMatMul": "MatMul",
    "QGemm": "Gemm",
    "ConvInteger": "Conv",
    "MatMulInteger": "MatMul",
    "MatMulNBits": "MatMul",
    "DynamicQuantizeMatMul": "MatMul",
    "MatMulIntegerToFloat": "MatMul",
}


class WrittenForm(msgspec.Struct, frozen=True, kw_only=True):
    """Scales of 8-bit weights and quantized products in a file."""

    weights_per_channel: int
    """Number of 8-bit weights with one scale per output channel."""
    weights_per_tensor: int
    """Number of 8-bit weights with one scale."""
    quantized: dict[str, int]
    """Number of products with integer operands by type, named as in float: ``Conv`` for QLinearConv."""
    float_products: dict[str, int]
    """Number of products of the main graph that stay in float, by type."""
    outside: dict[str, int]
    """Number of products outside the main graph, which stay in float, as ``MatMul in a branch``."""
    float_names: list[str]
    """Nodes of all these products that stay in float, or their outputs; at most 200."""


def written_form(model: onnx.ModelProto) -> WrittenForm:
    """Return what a quantized model has: scales and products of its main graph, float products outside."""
    graph = model.graph
    stored = {tensor.name: tensor for tensor in graph.initializer}
    producers = {output: node.op_type for node in graph.node for output in node.output}
    scales: dict[str, bool] = {}
    quantized, in_float, names = Counter[str](), Counter[str](), list[str]()
    for node in graph.node:
        for weight, scale in zip(node.input, node.input[1:], strict=False):
            known = stored.get(weight), stored.get(scale)
            if (
                known[0] is not None
                and known[1] is not None
                and known[0].data_type in _8_BITS
                and len(known[0].dims) > 1
            ):
                scales.setdefault(weight, bool(known[1].dims) and scale != node.input[0])
        if node.op_type in _INTEGER_PRODUCTS:
            quantized[_INTEGER_PRODUCTS[node.op_type]] += 1
        elif node.op_type in PRODUCTS:
            integers = all(producers.get(name) == "DequantizeLinear" for name in node.input[:2])
            (quantized if integers else in_float)[node.op_type] += 1
            names += [] if integers else [node.name or node.output[0]]
    # The products of dynamic quantization have their scales in a Mul behind them.
    for node in graph.node:
        if node.op_type in ("MatMulInteger", "ConvInteger"):
            scale = stored.get(f"{node.input[1].removesuffix('_quantized')}_scale")
            if scale is not None:
                scales[node.input[1]] = bool(scale.dims) and scale.dims[0] > 1
    outside = Counter[str]()
    for op_type, place, name in out_of_reach(model):
        outside[f"{op_type} in {place}"] += 1
        names.append(name)
    per_channel = sum(scales.values())
    return WrittenForm(
        weights_per_channel=per_channel,
        weights_per_tensor=len(scales) - per_channel,
        quantized=dict(quantized.most_common()),
        float_products=dict(in_float.most_common()),
        outside=dict(outside.most_common()),
        float_names=names[:_MAX_NAMES],
    )
