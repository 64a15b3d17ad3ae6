"""Layers that can be quantized: products and convolutions of computed values with a stored weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from py_autodoc.errors import InputError
from py_autodoc.ort import stored_array

_OPS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_QUANTIZED = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulNBits"})
MIN_OPSET = 10
"""First opset with QuantizeLinear."""
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class QuantizableLayer:
    """A node whose input and weight can be quantized."""

    index: int
    """Index among the nodes of the file."""
    op: str
    data: str
    """Input tensor."""
    weight: str
    """Initializer of the weight."""
    output: str
    axis: int
    """Axis of the weight with the output channels."""
    size: int
    """Number of elements of the weight."""


def layers_of(model: onnx.ModelProto, name: str) -> list[QuantizableLayer]:
    """Return the layers of the main graph with float32 weights, in the file's order.

    Raises: InputError: the model is already quantized, its operators are too old, or it has no such layer.
    """
    # Names that are not UTF-8 are read as bytes.
    ops = {str(node.op_type) for node in model.graph.node}
    if ops & _QUANTIZED or any(operator.startswith(("QLinear", "QGemm")) for operator in ops):
        raise InputError(
            "already-quantized", f"{name} is already quantized.", "Pass the original float model."
        )
    opset = max((opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")), default=0)
    if opset < MIN_OPSET:
        raise InputError(
            "opset-too-old",
            f"{name} has opset {opset}, which cannot be converted; quantization needs {MIN_OPSET}.",
            "Export it again with opset 17 or newer.",
        )
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    layers = []
    for index, node in enumerate(model.graph.node):
        if (
            node.op_type not in _OPS
            or node.domain not in ("", "ai.onnx")
            or len(node.input) < 2
            or not node.output
        ):
            continue
        weight = initializers.get(node.input[1])
        if weight is None or weight.data_type != onnx.TensorProto.FLOAT or node.input[0] in initializers:
            continue
        if len(weight.dims) < 2 or not node.output[0]:
            continue
        size = int(np.prod(weight.dims))
        layers.append(
            QuantizableLayer(
                index, node.op_type, node.input[0], weight.name, node.output[0], _axis(node, weight), size
            )
        )
    if not layers:
        raise InputError("nothing-to-quantize", f"{name} has no convolution or product with float32 weights.")
    return layers


def _axis(node: onnx.NodeProto, weight: onnx.TensorProto) -> int:
    if node.op_type == "Conv":
        return 0
    if node.op_type == "ConvTranspose":
        return 1
    transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
    return 0 if node.op_type == "Gemm" and transposed else len(weight.dims) - 1


def weights_of(model: onnx.ModelProto, layers: list[QuantizableLayer], name: str) -> Mapping[str, Array]:
    """Return the values of the layers' weights by name. Raises: InputError if data and shape do not fit."""
    names = {layer.weight for layer in layers}
    return {
        tensor.name: stored_array(tensor, name) for tensor in model.graph.initializer if tensor.name in names
    }


@dataclass(frozen=True, slots=True)
class Scheme:
    """Quantization of weights and activations."""

    activations: str = "u8"
    """``u8`` (asymmetric) or ``s8`` (symmetric)."""
    weights: str = "s8"
    """``s8``, ``s7`` (within ±63) or ``s4``, symmetric."""
    per_channel: bool = True

    @property
    def bits(self) -> int:
        """Stored bits of a weight."""
        return 4 if self.weights == "s4" else 8


_MIN_SCALE = float(np.finfo(np.float32).tiny)
_MAX_VALUE = {"s8": 127, "s7": 63, "s4": 7}


def quantized_weight(weight: Array, axis: int, scheme: Scheme) -> Array:
    """Return the weight after quantization: symmetric, rounded half to even."""
    limit = _MAX_VALUE[scheme.weights]
    along = tuple(dim for dim in range(weight.ndim) if dim != axis) if scheme.per_channel else None
    peak = np.abs(weight).max(axis=along, keepdims=True)
    scale = np.maximum(peak / limit, _MIN_SCALE).astype(np.float32)
    return np.asarray(np.clip(np.round(weight / scale), -limit, limit) * scale, np.float32)


def activation_scale(low: float, high: float, scheme: Scheme) -> tuple[Array, Array]:
    """Return scale and zero point for a range, which is extended to include 0."""
    low, high = min(low, 0.0), max(high, 0.0)
    if scheme.activations == "s8":
        peak = max(-low, high)
        return _positive(peak / 127), np.array(0, np.int8)
    scale = _positive((high - low) / 255)
    return scale, np.array(np.clip(np.round(-low / scale), 0, 255), np.uint8)


def _positive(scale: float) -> Array:
    """Return the scale, or the smallest one by which float32 can divide."""
    return np.array(max(scale, _MIN_SCALE), np.float32)
