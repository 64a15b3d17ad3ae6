"""Scales and zero points among the tensors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.operators.vendor_quantizers import twin

_MS = "com.microsoft"
_Q = ((1,), (2,))
_LINEAR = ((1, 4, 6), (2, 5, 7))
_INTEGER = ((), (2, 3))

PARAM_INPUTS: Mapping[tuple[str, str], tuple[tuple[int, ...], tuple[int, ...]]] = {
    ("", "QuantizeLinear"): _Q,
    ("", "DequantizeLinear"): _Q,
    ("", "QLinearConv"): _LINEAR,
    ("", "QLinearMatMul"): _LINEAR,
    ("", "ConvInteger"): _INTEGER,
    ("", "MatMulInteger"): _INTEGER,
    (_MS, "QuantizeLinear"): _Q,
    (_MS, "DequantizeLinear"): _Q,
    (_MS, "QLinearConv"): _LINEAR,
    (_MS, "QLinearAdd"): _LINEAR,
    (_MS, "QLinearMul"): _LINEAR,
    (_MS, "QLinearSigmoid"): ((1, 3), (2, 4)),
    (_MS, "QLinearLeakyRelu"): ((1, 3), (2, 4)),
    (_MS, "QLinearSoftmax"): ((1, 3), (2, 4)),
    (_MS, "QLinearAveragePool"): ((1, 3), (2, 4)),
    (_MS, "QLinearGlobalAveragePool"): ((1, 3), (2, 4)),
    (_MS, "QLinearReduceMean"): ((1, 3), (2, 4)),
    (_MS, "QLinearWhere"): ((2, 5, 7), (3, 6, 8)),
    (_MS, "QGemm"): ((1, 4, 7), (2, 5, 8)),
    (_MS, "MatMulInteger16"): _INTEGER,
    (_MS, "MatMulIntegerToFloat"): ((2, 3), (4, 5)),
    (_MS, "DynamicQuantizeMatMul"): ((2,), (3,)),
    (_MS, "MatMulNBits"): ((2,), (3,)),
    (_MS, "MatMulBnb4"): ((2,), ()),
    (_MS, "GatherBlockQuantized"): ((2,), (3,)),
    (_MS, "QAttention"): ((3, 4), (6, 7)),
    (_MS, "QMoE"): ((3, 6, 9, 15, 16, 17, 18, 19, 20), (11, 12, 13)),
    (_MS, "MatMulNBitsMlp"): ((4, 7), ()),
    (_MS, "MatMulNBitsQkv"): ((4, 7, 10), ()),
    (_MS, "MatMulBlockQuantizedFp4Weight"): ((2, 3, 4), ()),
    (_MS, "MatMulBlockQuantizedFp8Weight"): ((2, 3), ()),
    (_MS, "GroupQueryAttention"): ((12, 13), ()),
    (_MS, "PagedAttention"): ((14, 15), ()),
    (_MS, "DynamicQuantizeLSTM"): ((8, 10), (9, 11)),
    (_MS, "QEmbedLayerNormalization"): ((8, 9, 10, 11, 12), (13, 14, 15, 16, 17)),
}
"""Operator → input indices of scales and of zero points (onnx Operators.md, ORT ContribOperators.md)."""

VARIADIC = {(_MS, "QLinearConcat"): (0, 1)}
"""The same for operators with any number of triples: input indices modulo 3 (scale and zero point of the
output come first, then data, scale and zero point of each input)."""


def scales_and_zero_points(
    nodes: Sequence[Node],
    constants: Mapping[int, Any],
    notes: DiagnosticCollector,
    name: Callable[[int], str],
) -> frozenset[int]:
    """Return tensors used only as a scale or zero point. Adds a diagnostic for scales of 0."""
    param_inputs: set[int] = set()
    data_inputs: set[int] = set()
    for node in nodes:
        positions = param_positions(node)
        if positions is None:
            data_inputs.update(node.inputs)
            continue
        for position, tensor in enumerate(node.inputs):
            if position in positions[0]:
                param_inputs.add(tensor)
                value = constants.get(tensor)
                if value is not None and value.dtype.kind == "f" and np.any(value == 0):
                    notes.add("zero-scale", "A quantization scale is 0.", name(tensor), node.id, tensor)
            elif position in positions[1]:
                param_inputs.add(tensor)
            else:
                data_inputs.add(tensor)
    return frozenset(param_inputs - data_inputs - {-1})


def param_positions(node: Node) -> tuple[Collection[int], Collection[int]] | None:
    """Return the input indices of scales and of zero points; None if the operator has none."""
    kind = twin(node.domain, node.op_type)
    modulo = VARIADIC.get(kind)
    if modulo is None:
        return PARAM_INPUTS.get(kind)
    count = len(node.inputs)
    return range(modulo[0], count, 3), range(modulo[1], count, 3)
