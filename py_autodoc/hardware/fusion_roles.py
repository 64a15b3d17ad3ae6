"""Roles of operators in a fusing runtime: one code per operator, looked up once per node."""

from __future__ import annotations

from collections.abc import Mapping

from py_autodoc.graph.operators.aspects import Key, Link, answers, row_of


class FusionRole:
    """How an operator takes part in kernels. Plain integers, as they are compared several times per node."""

    UNKNOWN = 0
    """No latency rule: decision trees, unknown operators."""
    VIEW = 1
    """Reinterprets the same memory with another shape or type: runs nothing."""
    SHAPE = 2
    """Depends on shapes only: computed before the run."""
    SLICE = 3
    """A part of a tensor that most consumers read in place (Slice, Split)."""
    POINTWISE = 4
    """Elementwise: fused into the kernel of its operand."""
    REDUCE = 5
    """A reduction over some axes."""
    NORM = 6
    """A normalization or Softmax: two reductions over the same axes."""
    MOVE = 7
    """Copies data: fused into memory-bound kernels, not into products."""
    GATHER = 8
    """Reads only as much of its first input as it writes (Gather)."""
    SEPARATE = 9
    """A separate kernel into which following pointwise operators are fused (pools, Resize)."""
    CONTROL = 10
    """Runs nothing itself, only its subgraphs."""
    PRODUCT = 11
    CONV = 12
    ATTENTION = 13
    RECURRENT = 14
    """Runs the sequence step by step."""
    EXPERTS = 15
    """A mixture of experts including its routing."""


_ONNX: dict[int, str] = {
    FusionRole.VIEW: (
        "Reshape Squeeze Unsqueeze Flatten Identity Dropout Expand ExpandDims DequantizeLinear "
        "OptionalGetElement BitCast"
    ),
    FusionRole.SHAPE: "Shape Size Constant ConstantOfShape ConstantFill EyeLike OptionalHasElement",
    FusionRole.SLICE: "Slice Split DynamicSlice Crop",
    FusionRole.POINTWISE: (
        "Abs Acos Acosh Add Affine And Asin Asinh Atan Atanh BatchNormalization BitShift BitwiseAnd "
        "BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Cos Cosh Div Elu Equal Erf Exp Floor "
        "Gelu Greater GreaterOrEqual HardSigmoid HardSwish ImageScaler IsInf IsNaN LeakyRelu Less "
        "LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu ParametricSoftplus Pow QuantizeLinear "
        "Reciprocal Relu RotaryEmbedding Round Scale ScaledTanh Selu Shrink Sigmoid Sign Sin Sinh Softplus "
        "Softsign Sqrt Sub Sum SwiGLU Swish Tan Tanh ThresholdedRelu Trilu Where Xor"
    ),
    FusionRole.REDUCE: (
        "ArgMax ArgMin DynamicQuantizeLinear GlobalAveragePool GlobalLpPool GlobalMaxPool ReduceL1 ReduceL2 "
        "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
    ),
    FusionRole.NORM: (
        "GroupNormalization Hardmax InstanceNormalization LayerNormalization LogSoftmax LpNormalization "
        "MeanVarianceNormalization RMSNormalization SimplifiedLayerNormalization Softmax"
    ),
    FusionRole.MOVE: (
        "CenterCropPad Concat DepthToSpace OneHot Pad ReverseSequence SpaceToDepth Tile Transpose Upsample"
    ),
    FusionRole.GATHER: "Gather GatherElements GatherND",
    FusionRole.SEPARATE: (
        "AffineGrid AveragePool Bernoulli BlackmanWindow Col2Im Compress CumProd CumSum DFT "
        "GridSample HammingWindow HannWindow LRN LpPool MaxPool MaxRoiPool MaxUnpool MelWeightMatrix "
        "Multinomial NegativeLogLikelihoodLoss NonZero RandomNormal RandomNormalLike RandomUniform "
        "RandomUniformLike Range Resize RoiAlign STFT Scatter ScatterElements ScatterND "
        "SoftmaxCrossEntropyLoss TensorScatter TopK Unique"
    ),
    FusionRole.CONTROL: "If Loop Scan",
    FusionRole.PRODUCT: "MatMul Gemm Einsum MatMulInteger QLinearMatMul",
    FusionRole.CONV: "Conv ConvInteger ConvTranspose QLinearConv",
    FusionRole.ATTENTION: "Attention",
    FusionRole.RECURRENT: "GRU LSTM RNN",
}
_MICROSOFT: dict[int, str] = {
    FusionRole.VIEW: "DequantizeLinear ExpandDims BitmaskDropout",
    FusionRole.POINTWISE: (
        "BiasAdd BiasDropout BiasGelu BiasSplitGelu ComplexMul ComplexMulConj FastGelu Gelu "
        "GemmaRotaryEmbedding QLinearAdd QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearWhere "
        "QuantizeLinear QuickGelu RotaryEmbedding Trilu"
    ),
    FusionRole.REDUCE: "QLinearGlobalAveragePool QLinearReduceMean ReduceSumInteger",
    FusionRole.NORM: (
        "BiasSoftmax EmbedLayerNormalization GroupNorm LayerNormalization QEmbedLayerNormalization "
        "QLinearSoftmax SimplifiedLayerNormalization SkipGroupNorm SkipLayerNormalization "
        "SkipSimplifiedLayerNormalization"
    ),
    FusionRole.MOVE: "Pad QLinearConcat RemovePadding RestorePadding",
    FusionRole.GATHER: "GatherBlockQuantized GatherND TorchEmbedding",
    FusionRole.SEPARATE: (
        "CropAndResize Irfft QLinearAveragePool Range RelativePositionBias Rfft Unique NhwcMaxPool"
    ),
    FusionRole.PRODUCT: (
        # Attention with its projections: most of its work is one product with weights.
        "Attention QAttention PackedAttention DecoderMaskedSelfAttention DynamicQuantizeMatMul FusedGemm "
        "FusedMatMul FusedMatMulActivation GemmFastGelu MatMul MatMulBnb4 MatMulFpQ4 MatMulInteger16 "
        "MatMulIntegerToFloat MatMulNBits QGemm TransposeMatMul"
    ),
    FusionRole.CONV: "ConvTransposeWithDynamicPads FusedConv NhwcConv NhwcFusedConv QLinearConv",
    FusionRole.ATTENTION: (
        "MultiHeadAttention GroupQueryAttention DecoderMaskedMultiHeadAttention PackedMultiHeadAttention"
    ),
    FusionRole.RECURRENT: "DynamicQuantizeLSTM",
    FusionRole.EXPERTS: "MoE QMoE",
}
PACKED = frozenset(
    [
        "Attention",
        "QAttention",
        "PackedAttention",
        "DecoderMaskedSelfAttention",
        "MatMulNBits",
        "MatMulBnb4",
        "MatMulFpQ4",
    ]
)
"""Operators of com.microsoft that multiply by weights, whatever their rank."""
COMPUTED = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
"""Operators whose output is never known before the run, whatever their inputs."""


def _table() -> dict[str, int]:
    table = {op: role for role, ops in _ONNX.items() for op in ops.split()}
    table |= {f"com.microsoft::{op}": role for role, ops in _MICROSOFT.items() for op in ops.split()}
    return table


ROLES = _table()
"""Operator (``com.microsoft::Name`` outside ai.onnx) → role; missing: ``UNKNOWN``."""


@answers("kernel")
def _links() -> Mapping[Key, Link]:
    names = {role: name.lower() for name, role in vars(FusionRole).items() if isinstance(role, int)}
    keys = {name: tuple(name.rpartition("::")[::2]) for name in ROLES}
    return {
        (domain, op): row_of(__name__, "_MICROSOFT" if domain else "_ONNX", names[ROLES[name]])
        for name, (domain, op) in keys.items()
    }
