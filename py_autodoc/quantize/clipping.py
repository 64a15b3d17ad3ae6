"""Pairs of weights whose products with unsigned activations can exceed 16 bits and saturate without VNNI."""

from __future__ import annotations

import msgspec
import numpy as np
import onnx
from onnx import numpy_helper

_WEIGHTED = {
    "Conv": 1, "Gemm": 1, "MatMul": 1, "QLinearConv": 3, "QLinearMatMul": 3, "QGemm": 3, "MatMulInteger": 1,
    "ConvInteger": 1,
}  # fmt: skip
_INT16_MAX = 32767
_DATA = 255


class ClippingPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs in all layers with signed 8-bit weights."""

    pairs: int
    clipping: int
    """Number of pairs with 255·(|a| + |b|) > 32767."""
    worst_layer: str
    worst_share: float

    @property
    def share(self) -> float:
        """Share of these pairs in all pairs."""
        return self.clipping / self.pairs if self.pairs else 0.0


def clipping_pairs(model: onnx.ModelProto) -> ClippingPairs:
    """Count pairs of neighbours in the order in which kernels add them: rows, columns, channels."""
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    read = {
        out: node for node in model.graph.node if node.op_type == "DequantizeLinear" for out in node.output
    }
    pairs = clipping = 0
    worst, name = 0.0, ""
    for node in model.graph.node:
        weight_index = _WEIGHTED.get(node.op_type)
        if weight_index is None or len(node.input) <= weight_index:
            continue
        source = node.input[weight_index]
        weight = initializers.get(read[source].input[0] if source in read else source)
        if weight is None or weight.data_type != onnx.TensorProto.INT8:
            continue
        rows = _rows(node, numpy_helper.to_array(weight))
        even = rows[:, : rows.shape[1] // 2 * 2].astype(np.int64)
        sums = _DATA * (np.abs(even[:, 0::2]) + np.abs(even[:, 1::2]))
        clipped = int((sums > _INT16_MAX).sum())
        pairs += sums.size
        clipping += clipped
        if sums.size and clipped / sums.size > worst:
            worst, name = clipped / sums.size, node.name
    return ClippingPairs(pairs=pairs, clipping=clipping, worst_layer=name, worst_share=worst)


def _rows(node: onnx.NodeProto, weight: np.ndarray) -> np.ndarray:
    """Return the weight with one row per output channel."""
    if weight.ndim == 4:
        return np.asarray(weight.transpose(0, 2, 3, 1).reshape(weight.shape[0], -1))
    if weight.ndim == 2:
        transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
        return np.asarray(weight if transposed else weight.T)
    return np.asarray(weight.reshape(weight.shape[0] if weight.ndim else 1, -1))
