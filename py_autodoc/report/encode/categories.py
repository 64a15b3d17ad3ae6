"""Categories of operators, which set the colour of their boxes.

The names are those common for network graphs: layer (weights times data), attention, activation,
normalization, pool, shape, transform, logic, quantization, control, data, dropout. Elementwise arithmetic is
``math``; operators in no table are ``custom``.
"""

from __future__ import annotations

from collections.abc import Mapping

from py_autodoc.graph.building.operator_docs import defined
from py_autodoc.graph.operators.aspects import Key, Link, answers, row_of
from py_autodoc.graph.operators.vendor_quantizers import ROUNDERS, TWINS

CATEGORIES = (
    "layer", "attention", "activation", "normalization", "pool", "math", "reduce", "shape", "transform",
    "logic", "quantization", "control", "sequence", "data", "dropout", "signal", "ml", "training", "custom",
)  # fmt: skip

_ONNX = {
    "attention": "Attention FlexAttention LinearAttention",
    "layer": (
        "CausalConvWithState Col2Im Conv ConvInteger ConvTranspose DeformConv Einsum "
        "Gemm GRU LSTM MatMul MatMulInteger RNN RotaryEmbedding"
    ),
    "activation": (
        "Celu ScaledTanh Clip Elu Gelu Hardmax HardSigmoid HardSwish LeakyRelu LogSoftmax Mish PRelu Relu "
        "Selu Shrink Sigmoid Softmax Softplus Softsign SwiGLU Swish Tanh ThresholdedRelu"
    ),
    "normalization": (
        "BatchNormalization GroupNormalization InstanceNormalization LayerNormalization LpNormalization "
        "LRN MeanVarianceNormalization RMSNormalization SimplifiedLayerNormalization"
    ),
    "pool": (
        "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool MaxUnpool "
        "RoiAlign"
    ),
    "math": (
        "Abs Acos Acosh Add Affine Asin Asinh Atan Atanh Ceil Cos Cosh CumProd CumSum Det Div Erf Exp "
        "Floor ImageScaler Log Max Mean Min Mod Mul Neg Pow Reciprocal Round Scale Sign Sin Sinh Sqrt Sub "
        "Sum Tan"
    ),
    "reduce": (
        "ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
        "ReduceProd ReduceSum ReduceSumSquare TopK"
    ),
    "shape": "Expand ExpandDims Flatten Reshape Shape Size Squeeze Unsqueeze",
    "transform": (
        "AffineGrid BitCast Cast CastLike CenterCropPad Compress Concat Crop DepthToSpace DynamicSlice "
        "Gather GatherElements "
        "GatherND GivenTensorFill GridSample ImageDecoder NonMaxSuppression NonZero OneHot Pad Resize "
        "ReverseSequence Scatter ScatterElements ScatterND Slice SpaceToDepth Split TensorScatter Tile "
        "Transpose Trilu Unique Upsample"
    ),
    "logic": (
        "And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Equal Greater GreaterOrEqual IsInf IsNaN "
        "Less LessOrEqual Not Or Where Xor"
    ),
    "quantization": ("DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear"),
    "control": "If Loop Scan SequenceMap",
    "sequence": (
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement RegexFullMatch SequenceAt "
        "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence "
        "StringConcat StringNormalizer StringSplit TfIdfVectorizer"
    ),
    "data": (
        "ATen Bernoulli Constant ConstantFill ConstantOfShape EyeLike Identity LoopIndexTensor "
        "Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range"
    ),
    "dropout": "Dropout",
    "signal": "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT",
    "training": (
        "Adagrad Adam Gradient GraphCall Momentum NegativeLogLikelihoodLoss ParametricSoftplus "
        "SoftmaxCrossEntropyLoss"
    ),
}

_MICROSOFT = {
    "attention": (
        "Attention DecoderAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention "
        "GroupQueryAttention LongformerAttention MultiHeadAttention PackedAttention PackedMultiHeadAttention "
        "GatedDeltaNet PagedAttention QAttention QLongformerAttention QOrderedAttention "
        "QOrderedLongformerAttention "
        "SparseAttention DynamicSparseAttention SparseAttentionIndexer PackedSparseAttentionIndexer "
        "SparsePagedAttention LinearAttentionGate"
    ),
    "layer": (
        "EmbedLayerNormalization FusedConv FusedGemm FusedMatMul FusedMatMulActivation "
        "GatedRelativePositionBias GemmaRotaryEmbedding GemmFastGelu GemmFloat8 "
        "Inverse MRotaryEmbedding MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight MatMulBnb4 "
        "MatMulFpQ4 MatMulNBits MatMulNBitsMlp MatMulNBitsQkv MoE NhwcConv "
        "NhwcFusedConv QMoE RelativePositionBias "
        "RotaryEmbedding SparseToDenseMatMul TransposeMatMul WordConvEmbedding "
        "ConvTransposeWithDynamicPads TorchEmbedding"
    ),
    "activation": "BiasGelu BiasSoftmax BiasSplitGelu FastGelu Gelu QuickGelu BiasDropout ScaledSiLU",
    "normalization": (
        "GroupNorm LayerNormalization SimplifiedLayerNormalization SkipGroupNorm SkipLayerNormalization "
        "SkipSimplifiedLayerNormalization GatedRMSNorm BranchwiseRMSNorm"
    ),
    "pool": "NhwcMaxPool MaxpoolWithMask CropAndResize",
    "math": (
        "BiasAdd EngramGate GatedAdd HyperConnectionPostMix HyperConnectionPreMix "
        "BifurcationDetector CDist ComplexMul ComplexMulConj DynamicTimeWarping IsAllFinite"
    ),
    "transform": (
        "ExpandDims GatherND GridSample Irfft NGramHashMapping NGramRepeatBlock Pad RemovePadding "
        "RestorePadding Rfft Tokenizer TransposeMatMul Trilu UnfoldTensor Unique"
    ),
    "quantization": (
        "DequantizeBFP DequantizeLinear DequantizeWithOrder DynamicQuantizeLSTM DynamicQuantizeMatMul "
        "GatherBlockQuantized MatMulInteger16 MatMulIntegerToFloat MulInteger "
        "QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool QLinearConcat "
        "QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearReduceMean "
        "QLinearSigmoid QLinearSoftmax QLinearWhere QOrderedGelu "
        "QOrderedLayerNormalization QOrderedMatMul QuantizeBFP QuantizeLinear "
        "QuantizeWithOrder ReduceSumInteger"
    ),
    "dropout": "BitmaskBiasDropout BitmaskDropout",
    "control": "BeamSearch GreedySearch Sampling WhisperBeamSearch",
}


def _table(rows: dict[str, str]) -> dict[str, str]:
    return {op: category for category, ops in rows.items() for op in ops.split()}


_BLOCKED = {"layer": "Conv", "pool": "AveragePool GlobalAveragePool GlobalMaxPool MaxPool",
            "transform": "ReorderInput ReorderOutput Upsample"}  # fmt: skip


_CHANNELS_LAST = {
    "layer": "Conv ConvTranspose QLinearConv QLinearConvTranspose",
    "pool": "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool",
    "normalization": "BatchNormalization InstanceNormalization LRN",
    "transform": "DepthToSpace GridSample Resize SpaceToDepth",
}


def _of_vendors() -> dict[str, dict[str, str]]:
    """Return the tables of the domains of vendors, which hold quantizers."""
    tables: dict[str, dict[str, str]] = {}
    for domain, op in (*TWINS, *ROUNDERS):
        tables.setdefault(domain, {})[op] = "quantization"
    return tables


_TABLES = {
    "": _table(_ONNX),
    "ai.onnx.preview": _table(_ONNX),
    "com.microsoft": {**_table(_ONNX), **_table(_MICROSOFT)},
    "com.microsoft.nchwc": _table(_BLOCKED),
    "com.ms.internal.nhwc": _table(_CHANNELS_LAST),
    **_of_vendors(),
}
_DOMAINS = {
    "ai.onnx.ml": "ml",
    "ai.onnx.training": "training",
    "ai.onnx.preview.training": "training",
}


def category_of(domain: str, op: str) -> str:
    """Return the category of an operator; ``domain`` is ``""`` for ai.onnx."""
    of_domain = _DOMAINS.get(domain)
    if of_domain is not None:
        return of_domain
    return _TABLES.get(domain, {}).get(op, "custom")


@answers("category")
def _links() -> Mapping[Key, Link]:
    tables = {(domain, op): category for domain, table in _TABLES.items() for op, category in table.items()}
    of_domains = {key: _DOMAINS[key[0]] for key in defined(deprecated=True) if key[0] in _DOMAINS}
    return {key: row_of(__name__, "_TABLES", category) for key, category in (tables | of_domains).items()}
