"""Operator inputs that hold trained weights, and operators that only prepare weights."""

from __future__ import annotations

from collections.abc import Mapping

from py_autodoc.graph.ir.model import Node

MS = "com.microsoft"

VIEWS = frozenset({"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose"})
"""Operators that change only shape or order of the elements."""

PASSES_ON = VIEWS | {"Cast", "DequantizeLinear", "QuantizeLinear"}
"""Operators that prepare a weight (their input 0) for the operator that uses it."""

LEARNED: Mapping[tuple[str, str], tuple[int, ...]] = {
    ("", "Conv"): (1, 2),
    ("", "ConvTranspose"): (1, 2),
    ("", "DeformConv"): (1, 3),
    ("", "Gemm"): (1, 2),
    ("", "MatMul"): (0, 1),
    ("", "BatchNormalization"): (1, 2, 3, 4),
    ("", "InstanceNormalization"): (1, 2),
    ("", "GroupNormalization"): (1, 2),
    ("", "LayerNormalization"): (1, 2),
    ("", "RMSNormalization"): (1,),
    ("", "PRelu"): (1,),
    ("", "LSTM"): (1, 2, 3, 7),
    ("", "GRU"): (1, 2, 3),
    ("", "RNN"): (1, 2, 3),
    ("", "Gather"): (0,),
}
"""Weight inputs of float operators. Used only to distinguish a generated weight (ConstantOfShape)
from a generated mask or state; a stored float constant is a parameter wherever it is used."""

PER_CHANNEL = frozenset({"Add", "Sub", "Mul", "Div", "Sum"})
"""Operators with which a generated vector is a scale or bias."""

_LINEAR = (0, 3)
QUANTIZED: Mapping[tuple[str, str], tuple[int, ...]] = {
    ("", "DequantizeLinear"): (0,),
    (MS, "DequantizeLinear"): (0,),
    ("", "QLinearConv"): (0, 3, 8),
    (MS, "QLinearConv"): (0, 3, 8),
    ("", "QLinearMatMul"): _LINEAR,
    (MS, "QLinearAdd"): _LINEAR,
    (MS, "QLinearMul"): _LINEAR,
    ("", "MatMulInteger"): (0, 1),
    (MS, "MatMulInteger16"): (0, 1),
    ("", "ConvInteger"): (0, 1),
    (MS, "QGemm"): (0, 3, 6),
    (MS, "MatMulIntegerToFloat"): (0, 1),
    (MS, "DynamicQuantizeMatMul"): (1,),
    (MS, "DynamicQuantizeLSTM"): (1, 2),
    (MS, "QAttention"): (1,),
    (MS, "QEmbedLayerNormalization"): (2, 3, 4, 5, 6),
    (MS, "GatherBlockQuantized"): (0,),
    (MS, "MatMulNBits"): (1,),
    (MS, "MatMulBnb4"): (1,),
    (MS, "MatMulFpQ4"): (1,),
    (MS, "QMoE"): (2, 5, 8),
}
"""Inputs where an integer constant is a quantized weight."""

ML_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "LinearClassifier": ("coefficients", "intercepts"),
    "LinearRegressor": ("coefficients", "intercepts"),
    "SVMClassifier": ("coefficients", "support_vectors", "rho", "prob_a", "prob_b"),
    "SVMRegressor": ("coefficients", "support_vectors", "rho"),
    "Scaler": ("offset", "scale"),
    "TreeEnsembleClassifier": (
        "nodes_values", "nodes_values_as_tensor", "class_weights", "class_weights_as_tensor",
    ),
    "TreeEnsembleRegressor": (
        "nodes_values", "nodes_values_as_tensor", "target_weights", "target_weights_as_tensor",
    ),
    "TreeEnsemble": ("nodes_splits", "leaf_weights"),
}  # fmt: skip
"""Attributes of ai.onnx.ml with learned numbers."""


def packed_bits(node: Node, slot: int) -> int:
    """Return the bits per weight if ``packed_elements`` finds several per element, else 0."""
    if node.op_type == "MatMulBnb4":
        return 4
    if node.op_type in ("MatMulNBits", "QMoE", "GatherBlockQuantized"):
        name = "expert_weight_bits" if node.op_type == "QMoE" else "bits"
        bits = node.attributes.get(name, 4)
        if bits in (2, 4):
            return int(bits)
    return 0


def packed_elements(node: Node, slot: int, stored: int) -> int:
    """Return the weights in ``stored`` elements of the quantized input ``slot``: a byte may hold several.

    MatMulNBits and MatMulBnb4 hold K·N weights, QMoE and GatherBlockQuantized 8 / bits per byte (the
    latter only in uint8). With invalid attributes the stored count is returned.
    """
    attributes = node.attributes
    if node.op_type in ("MatMulNBits", "MatMulBnb4"):
        k, n = attributes.get("K"), attributes.get("N")
        if isinstance(k, int) and isinstance(n, int) and k > 0 and n > 0 and k * n <= 8 * stored:
            return int(k * n)
    elif node.op_type in ("QMoE", "GatherBlockQuantized"):
        name = "expert_weight_bits" if node.op_type == "QMoE" else "bits"
        bits = attributes.get(name, 4)
        if bits in (2, 4):
            return stored * (8 // int(bits))
    return stored
