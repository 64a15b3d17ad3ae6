"""Operator inputs that hold trained weights, and operators that only prepare weights."""

from __future__ import annotations

from collections.abc import Mapping

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.operators.vendor_quantizers import ROUNDERS, twin

MS = "com.microsoft"

VIEWS = frozenset({"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose"})
"""Operators that change only shape or order of the elements."""

PASSES_ON = VIEWS | {"Cast", "DequantizeLinear", "QuantizeLinear"}
"""Operators that prepare a weight (their input 0) for the operator that uses it."""

CARRIERS = PASSES_ON | {
    "CastLike", "Gather", "GatherElements", "GatherND", "Slice", "Split", "Concat", "Expand", "Tile", "Pad",
    "DepthToSpace", "SpaceToDepth", "Compress", "Trilu", "Constant", "BitCast",
}  # fmt: skip
"""Operators whose outputs hold elements of their first input (Concat: of all inputs), as they are."""

ELEMENTWISE = frozenset(
    {"Add", "Sub", "Mul", "Div", "Sum", "Mean", "Max", "Min", "Pow", "Mod", "Equal", "Greater", "Less",
     "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor"}
)  # fmt: skip
"""Operators whose inputs have no order of rank: any of them may be a constant."""

UNARY = frozenset(
    {"Abs", "Neg", "Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tanh", "Sigmoid", "Softplus", "Relu",
     "Erf", "Floor", "Ceil", "Round", "Sign", "Softmax", "ReduceSum", "ReduceMean", "ReduceL2", "ReduceMax",
     "ReduceMin"}
)  # fmt: skip
"""Arithmetic on one tensor: a constant behind it is still one."""

PRODUCTS = frozenset(
    {"MatMul", "Gemm", "Einsum", "Conv", "ConvTranspose", "FusedMatMul", "FusedGemm", "FusedConv",
     "TransposeMatMul", "NhwcConv", "NhwcFusedConv", "GemmFloat8", "GemmFastGelu"}
)  # fmt: skip
"""Layers that multiply activations by a matrix or a kernel."""

LEARNED: Mapping[tuple[str, str], tuple[int, ...]] = {
    ("", "Conv"): (1, 2),
    ("", "ConvTranspose"): (1, 2),
    ("", "DeformConv"): (1, 3),
    ("", "CausalConvWithState"): (1, 2),
    ("", "Gemm"): (0, 1, 2),
    ("", "MatMul"): (0, 1),
    ("", "Einsum"): (0, 1, 2, 3),
    ("", "BatchNormalization"): (1, 2, 3, 4),
    ("", "InstanceNormalization"): (1, 2),
    ("", "GroupNormalization"): (1, 2),
    ("", "LayerNormalization"): (1, 2),
    ("", "RMSNormalization"): (1,),
    ("", "SimplifiedLayerNormalization"): (1,),
    ("", "PRelu"): (1,),
    ("", "LSTM"): (1, 2, 3, 7),
    ("", "GRU"): (1, 2, 3),
    ("", "RNN"): (1, 2, 3),
    ("", "Gather"): (0,),
    ("", "Scale"): (1,),
    **{
        (MS, name): slots
        for name, slots in {
            "Attention": (1, 2), "DecoderMaskedSelfAttention": (1, 2), "PackedAttention": (1, 2),
            "QAttention": (2,), "LongformerAttention": (1, 2, 4, 5), "DecoderAttention": (2, 3, 4),
            "MultiHeadAttention": (3,), "PackedMultiHeadAttention": (3,),
            "DecoderMaskedMultiHeadAttention": (10,), "GroupQueryAttention": (11, 14, 15),
            "PagedAttention": (11, 12, 13), "SparsePagedAttention": (16, 17, 18),
            "DynamicSparseAttention": (14, 15, 16), "SparseAttentionIndexer": (2, 3, 9, 10),
            "PackedSparseAttentionIndexer": (2, 3, 9, 10), "GatedRelativePositionBias": (1, 3, 4, 5),
            "RelativePositionBias": (0,), "GatedDeltaNet": (7, 8), "LinearAttentionGate": (1, 2),
            "CausalConvWithState": (1, 2), "VarlenCausalConvWithState": (1, 3),
            "FusedConv": (1, 2), "NhwcConv": (1, 2), "NhwcFusedConv": (1, 2),
            "ConvTransposeWithDynamicPads": (1, 3), "MaxpoolWithMask": (),
            "MatMul": (0, 1), "FusedMatMul": (0, 1), "TransposeMatMul": (0, 1),
            "FusedMatMulActivation": (0, 1), "FusedGemm": (0, 1, 2), "GemmFastGelu": (1, 2),
            "GemmFloat8": (0, 1, 2), "SparseToDenseMatMul": (0, 1), "CDist": (1,),
            "LayerNormalization": (1, 2), "SimplifiedLayerNormalization": (1,),
            "SkipLayerNormalization": (2, 3, 4), "SkipSimplifiedLayerNormalization": (2, 3),
            "GroupNorm": (1, 2), "SkipGroupNorm": (1, 2, 4), "GatedRMSNorm": (1,), "BranchwiseRMSNorm": (1,),
            "EngramGate": (3, 4, 5), "EmbedLayerNormalization": (2, 3, 4, 5, 6), "TorchEmbedding": (0,),
            "WordConvEmbedding": (1, 2, 3), "AttnLSTM": (1, 2, 3), "DynamicQuantizeLSTM": (3, 7),
            "BiasGelu": (1,), "FastGelu": (1,), "BiasAdd": (1,), "BiasSplitGelu": (1,), "BiasDropout": (1,),
            "BitmaskBiasDropout": (1,), "MoE": (2, 3, 4, 5, 6, 7), "QMoE": (2, 4, 5, 7, 8, 10),
            "MatMulNBits": (5,), "MatMulNBitsMlp": (2, 5, 8), "MatMulNBitsQkv": (2, 5, 8, 11),
            "MatMulBlockQuantizedFp4Weight": (5,), "MatMulBlockQuantizedFp8Weight": (1, 4),
            "DynamicQuantizeMatMul": (4,), "MatMulIntegerToFloat": (6,),
            "GatherBlockQuantized": (0,), "QOrderedMatMul": (5,), "QOrderedAttention": (11, 12, 13),
            "QOrderedLayerNormalization": (2, 3), "QOrderedLongformerAttention": (4, 10),
        }.items()
    },
    **{("com.microsoft.nchwc", name): (1, 2) for name in ("Conv",)},
    **{("com.ms.internal.nhwc", name): (1, 2) for name in ("Conv", "ConvTranspose", "InstanceNormalization")},
    ("com.ms.internal.nhwc", "BatchNormalization"): (1, 2, 3, 4),
}  # fmt: skip
"""Inputs that take trained numbers and nothing else. Elementwise operators have none (``weight_roles``)."""

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
    (MS, "MatMulNBitsMlp"): (3, 6),
    (MS, "MatMulNBitsQkv"): (3, 6, 9),
    (MS, "MatMulBlockQuantizedFp4Weight"): (1,),
    (MS, "MatMulBlockQuantizedFp8Weight"): (1,),
    (MS, "QOrderedMatMul"): (2,),
    (MS, "QOrderedAttention"): (5, 6, 7),
    (MS, "QOrderedLongformerAttention"): (2, 8),
    ("com.ms.internal.nhwc", "QLinearConv"): (0, 3, 8),
    ("com.ms.internal.nhwc", "QLinearConvTranspose"): (0, 3, 8),
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


_NBITS = frozenset({"MatMulNBits", "MatMulBnb4", "MatMulNBitsMlp", "MatMulNBitsQkv"})
_COLUMNS = {"MatMulNBitsQkv": {3: "Nq", 6: "Nkv", 9: "Nkv"}}
_EXPERTS = {2: "fc1", 5: "fc2", 8: "fc3"}


def is_dequantizer(node: Node) -> bool:
    """Return whether the node turns stored integers (input 0) into the numbers they stand for, or back."""
    key = twin(node.domain, node.op_type)
    return (key[1] in ("DequantizeLinear", "QuantizeLinear") and key[0] in ("", MS)) or key in ROUNDERS


def expert_bits(node: Node, slot: int) -> int | None:
    """Return the bits of a weight of QMoE at input ``slot``: 2, 4 or 8; None if they are none of these."""
    kind = node.attributes.get("quant_type", "int")
    if kind == "fp8":
        return 8
    if kind in ("fp4", "nvfp4", "wfp4afp8"):
        return 4
    shared = node.attributes.get("expert_weight_bits", 4)
    bits = node.attributes.get(f"{_EXPERTS.get(slot, 'fc1')}_expert_weight_bits", shared)
    return bits if bits in (2, 4, 8) else None


def packed_bits(node: Node, slot: int) -> int:
    """Return the bits per weight if ``packed_elements`` finds several per element, else 0."""
    if node.op_type in ("MatMulBnb4", "MatMulBlockQuantizedFp4Weight", "MatMulFpQ4"):
        return 4
    if node.op_type == "QMoE":
        bits = expert_bits(node, slot)
    else:
        bits = node.attributes.get("bits", 4) if node.op_type in _NBITS | {"GatherBlockQuantized"} else 0
    return int(bits) if bits in (2, 4) else 0


def packed_elements(node: Node, slot: int, stored: int) -> int:
    """Return the weights in ``stored`` elements of the quantized input ``slot``: a byte may hold several.

    The products of N bits hold K·N weights; QMoE, GatherBlockQuantized and the product with fp4 weights hold
    8 / bits per byte (GatherBlockQuantized only in uint8). With invalid attributes the stored count is
    returned.
    """
    attributes = node.attributes
    if node.op_type in _NBITS:
        k, n = attributes.get("K"), attributes.get(_COLUMNS.get(node.op_type, {}).get(slot, "N"))
        if isinstance(k, int) and isinstance(n, int) and k > 0 and n > 0 and k * n <= 8 * stored:
            return int(k * n)
    elif node.op_type in ("QMoE", "GatherBlockQuantized", "MatMulBlockQuantizedFp4Weight"):
        bits = packed_bits(node, slot)
        if bits:
            return stored * (8 // bits)
    return stored
