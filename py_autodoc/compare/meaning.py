"""Operators by meaning: which pass their data on, and which are another form of a float operator."""

from __future__ import annotations

from typing import NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import COPIES, RESHAPES
from py_autodoc.blocks.dataflow.operator_queries import QUANTIZE

PASSED = COPIES | QUANTIZE
"""Operators that pass on their first input; skipped before anything is recognised."""
GLUE = PASSED | RESHAPES | {"ReorderInput", "ReorderOutput"}
"""Operators that move or convert values without computing; they belong to the producer of the values."""
RENAMED = {"Upsample": "Resize", "Scatter": "ScatterElements"}
"""Operator of older opsets → its name in newer ones."""
POOLS = {
    "AveragePool": "AveragePool", "GlobalAveragePool": "AveragePool", "ReduceMean": "AveragePool",
    "MaxPool": "MaxPool", "GlobalMaxPool": "MaxPool", "ReduceMax": "MaxPool",
}  # fmt: skip
"""Operator that can be a pool over whole images → its core."""
LAYOUTS = frozenset({"com.ms.internal.nhwc", "com.microsoft.nchwc"})
"""Domains of ONNX Runtime with ONNX operators on tensors in another axis order."""
COMMUTATIVE = frozenset({"Add", "Mul", "Max", "Min", "Sum", "Mean", "And", "Or", "Xor", "Equal"})
AFFINE = frozenset({"Add", "Sub", "Mul", "Div"})
"""With a constant after a product: a bias, a scale, or a stored normalization."""
PRODUCTS = frozenset({"Conv", "ConvTranspose", "MatMul"})
ACTIVATED = PRODUCTS | {"Add", "BatchNormalization", "Mul"}
"""Core operators that include the activation after them."""
WEIGHTED = PRODUCTS | {"Gather", "LSTM", "GRU", "RNN"}
"""Core operators whose stored matrices are part of their label."""

DATA: dict[str, tuple[int, ...]] = {
    "Reshape": (0,), "Expand": (0,), "Squeeze": (0,), "Unsqueeze": (0,), "Slice": (0,), "Resize": (0,),
    "Tile": (0,), "Upsample": (0,), "TopK": (0,), "OneHot": (0,), "Split": (0,), "Trilu": (0,), "Clip": (0,),
    "Pad": (0,), "Dropout": (0,), "QuantizeLinear": (0,), "DequantizeLinear": (0,), "CastLike": (0,),
    "ConstantOfShape": (), "Shape": (), "Size": (),
}  # fmt: skip
"""Operator → its data inputs; the others are indices or dimensions. Missing: all are data."""


class MeaningForm(NamedTuple):
    """Another form of a float operator: its name, the positions of its operands, and which are data."""

    core: str
    inputs: tuple[int, ...]


_LINEAR2 = (0, 3)
FORMS: dict[str, MeaningForm] = {
    "QLinearConv": MeaningForm("Conv", (0, 3, 8)),
    "QLinearConvTranspose": MeaningForm("ConvTranspose", (0, 3, 8)),
    "ConvInteger": MeaningForm("Conv", (0, 1)),
    "FusedConv": MeaningForm("Conv", (0, 1, 2, 3)),
    "NhwcConv": MeaningForm("Conv", (0, 1, 2)),
    "NhwcFusedConv": MeaningForm("Conv", (0, 1, 2, 3)),
    "QLinearMatMul": MeaningForm("MatMul", _LINEAR2),
    "MatMulInteger": MeaningForm("MatMul", (0, 1)),
    "MatMulInteger16": MeaningForm("MatMul", (0, 1)),
    "MatMulIntegerToFloat": MeaningForm("MatMul", (0, 1, 6)),
    "DynamicQuantizeMatMul": MeaningForm("MatMul", (0, 1, 4)),
    "QGemm": MeaningForm("MatMul", (0, 3, 6)),
    "Gemm": MeaningForm("MatMul", (0, 1, 2)),
    "FusedGemm": MeaningForm("MatMul", (0, 1, 2)),
    "GemmFloat8": MeaningForm("MatMul", (0, 1, 2)),
    "FusedMatMul": MeaningForm("MatMul", (0, 1)),
    "FusedMatMulActivation": MeaningForm("MatMul", (0, 1)),
    "TransposeMatMul": MeaningForm("MatMul", (0, 1)),
    "MatMulNBits": MeaningForm("MatMul", (0, 1, 5)),
    "MatMulBnb4": MeaningForm("MatMul", (0, 1)),
    "MatMulFpQ4": MeaningForm("MatMul", (0, 1)),
    "QLinearAdd": MeaningForm("Add", _LINEAR2),
    "QLinearMul": MeaningForm("Mul", _LINEAR2),
    "QLinearAveragePool": MeaningForm("AveragePool", (0,)),
    "QLinearGlobalAveragePool": MeaningForm("GlobalAveragePool", (0,)),
    "QLinearSoftmax": MeaningForm("Softmax", (0,)),
    "QLinearSigmoid": MeaningForm("Sigmoid", (0,)),
    "QLinearLeakyRelu": MeaningForm("LeakyRelu", (0,)),
    "QLinearReduceMean": MeaningForm("ReduceMean", (0,)),
    "QLinearWhere": MeaningForm("Where", (0, 1, 4)),
    "NhwcMaxPool": MeaningForm("MaxPool", (0,)),
    "GatherBlockQuantized": MeaningForm("Gather", (0, 1)),
    "DynamicQuantizeLSTM": MeaningForm("LSTM", (0, 1, 2, 3, 4, 5, 6, 7)),
    "BiasSoftmax": MeaningForm("Softmax", (0, 1)),
}
"""Operator of a known domain → the one that it represents."""
_PAIRS_OF_INPUTS = {"QLinearConcat": "Concat"}
QUANTIZED = frozenset(name for name in FORMS if name.startswith("Q") or "Integer" in name) | {
    "DynamicQuantizeMatMul",
    "QLinearConcat",
    "QAttention",
    "DynamicQuantizeLSTM",
}
"""Integer operators: their result is scaled and clamped, which can include an activation."""
MERGED = frozenset({
    "FusedConv", "NhwcFusedConv", "FusedGemm", "FusedMatMul", "FusedMatMulActivation", "BiasGelu",
    "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "EmbedLayerNormalization",
    "QEmbedLayerNormalization", "Attention", "QAttention", "MultiHeadAttention", "GroupQueryAttention",
    "PackedAttention", "PackedMultiHeadAttention", "DecoderMaskedSelfAttention",
    "DecoderMaskedMultiHeadAttention", "BiasSoftmax", "FastGelu", "QuickGelu",
})  # fmt: skip
"""Operators that do the work of several."""


def float_form(op: str, inputs: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Return the operator that ``op`` represents, and its operands (tensor ids, -1 for an omitted one)."""
    variant = FORMS.get(op)
    if variant is not None:
        return variant.core, tuple(inputs[position] for position in variant.inputs if position < len(inputs))
    if op in _PAIRS_OF_INPUTS:  # output scale and zero point, then (data, scale, zero point) repeated
        return _PAIRS_OF_INPUTS[op], inputs[2::3]
    return op, inputs
