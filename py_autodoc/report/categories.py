"""What kind of thing an operator is: the colour of its card.

The vocabulary is the one readers of network graphs know: layer (weights times data), activation,
normalization, pool, shape, transform, tensor (elementwise arithmetic has none of its own and is
``math``), logic, quantization, control, data, dropout; ``custom`` is what no table knows.
"""

from __future__ import annotations

CATEGORIES = (
    "layer", "activation", "normalization", "pool", "math", "reduce", "shape", "transform", "logic",
    "quantization", "control", "sequence", "data", "dropout", "signal", "ml", "training", "custom",
)  # fmt: skip

_ONNX = {
    "layer": (
        "Attention CausalConvWithState Col2Im Conv ConvInteger ConvTranspose DeformConv Einsum "
        "FlexAttention Gemm GRU LinearAttention LSTM MatMul MatMulInteger RNN RotaryEmbedding"
    ),
    "activation": (
        "Celu Clip Elu Gelu Hardmax HardSigmoid HardSwish LeakyRelu LogSoftmax Mish PRelu Relu Selu "
        "Shrink Sigmoid Softmax Softplus Softsign SwiGLU Swish Tanh ThresholdedRelu"
    ),
    "normalization": (
        "BatchNormalization GroupNormalization InstanceNormalization LayerNormalization LpNormalization "
        "LRN MeanVarianceNormalization RMSNormalization"
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
        "AffineGrid CenterCropPad Compress Concat Crop DepthToSpace Gather GatherElements GatherND "
        "GivenTensorFill GridSample ImageDecoder NonMaxSuppression NonZero OneHot Pad Resize "
        "ReverseSequence Scatter ScatterElements ScatterND Slice SpaceToDepth Split TensorScatter Tile "
        "Transpose Trilu Unique Upsample"
    ),
    "logic": (
        "And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Equal Greater GreaterOrEqual IsInf IsNaN "
        "Less LessOrEqual Not Or Where Xor"
    ),
    "quantization": (
        "BitCast Cast CastLike DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul "
        "QuantizeLinear"
    ),
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
    "layer": (
        "Attention DecoderAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention "
        "EmbedLayerNormalization FusedConv FusedGemm FusedMatMul FusedMatMulActivation "
        "GatedRelativePositionBias GemmaRotaryEmbedding GemmFastGelu GemmFloat8 GroupQueryAttention "
        "Inverse LongformerAttention MatMulBnb4 MatMulFpQ4 MatMulNBits MoE MultiHeadAttention NhwcConv "
        "NhwcFusedConv PackedAttention PackedMultiHeadAttention PagedAttention QMoE RelativePositionBias "
        "RotaryEmbedding SparseAttention SparseToDenseMatMul TransposeMatMul WordConvEmbedding"
    ),
    "activation": "BiasGelu BiasSoftmax BiasSplitGelu FastGelu Gelu QuickGelu BiasDropout",
    "normalization": (
        "GroupNorm LayerNormalization SimplifiedLayerNormalization SkipGroupNorm SkipLayerNormalization "
        "SkipSimplifiedLayerNormalization"
    ),
    "pool": "NhwcMaxPool MaxpoolWithMask CropAndResize",
    "math": "BiasAdd BifurcationDetector CDist ComplexMul ComplexMulConj",
    "transform": (
        "ExpandDims GatherND GridSample Irfft NGramRepeatBlock Pad RemovePadding RestorePadding Rfft "
        "Tokenizer TransposeMatMul Trilu UnfoldTensor Unique"
    ),
    "quantization": (
        "DequantizeBFP DequantizeLinear DequantizeWithOrder DynamicQuantizeLSTM DynamicQuantizeMatMul "
        "DynamicTimeWarping GatherBlockQuantized MatMulInteger16 MatMulIntegerToFloat MulInteger "
        "QAttention QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool QLinearConcat "
        "QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearReduceMean "
        "QLinearSigmoid QLinearSoftmax QLinearWhere QOrderedAttention QOrderedGelu "
        "QOrderedLayerNormalization QOrderedLongformerAttention QOrderedMatMul QuantizeBFP QuantizeLinear "
        "QuantizeWithOrder ReduceSumInteger"
    ),
    "control": "BeamSearch GreedySearch Sampling WhisperBeamSearch",
}


def _table(rows: dict[str, str]) -> dict[str, str]:
    return {op: category for category, ops in rows.items() for op in ops.split()}


_TABLES = {"": _table(_ONNX), "com.microsoft": {**_table(_ONNX), **_table(_MICROSOFT)}}
_DOMAINS = {
    "ai.onnx.ml": "ml",
    "ai.onnx.training": "training",
    "ai.onnx.preview.training": "training",
}


def category_of(domain: str, op: str) -> str:
    """Category of an operator; ``domain`` is ``""`` for ai.onnx."""
    whole = _DOMAINS.get(domain)
    if whole is not None:
        return whole
    return _TABLES.get(domain, {}).get(op, "custom")
