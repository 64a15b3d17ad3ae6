"""FLOPs of arithmetic other than multiply-accumulates, defined in one place.

One elementary operation on one element counts 1: ``+ - × ÷``, a comparison, min, max, a logical or
bitwise operation, rounding, and one call of a library function (exp, log, sqrt, pow, sin, erf, tanh,
sigmoid …), on integers as on floats. A composite operator counts the operations of its definition in
the ONNX operator specification, so that a fused operator and its decomposed form cost about the same.
Lower-order terms (one square root per row, a division by a constant) are omitted.
"""

from __future__ import annotations

_SINGLE = (
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp Floor IsInf IsNaN Log Neg Not "
    "Reciprocal Relu Round Sigmoid Sign Sin Sinh Sqrt Tan Tanh "
    "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual "
    "Mod Mul Or Pow Sub Xor"
)

PER_ELEMENT: dict[str, int] = {
    **dict.fromkeys(_SINGLE.split(), 1),
    "Clip": 2,  # max, min
    "LeakyRelu": 2,  # compare, ×
    "PRelu": 2,  # compare, ×
    "ThresholdedRelu": 1,  # compare
    "Shrink": 2,  # compare, ±
    "Swish": 2,  # sigmoid, × (alpha is folded)
    "SwiGLU": 3,  # swish, ×
    "Softplus": 3,  # exp, +, log
    "Softsign": 3,  # abs, +, ÷
    "Elu": 4,  # compare, exp, −, ×
    "Celu": 7,  # max(0, x) + min(0, α·(exp(x/α) − 1)): max, ÷, exp, −, ×, min, +
    "Selu": 5,  # compare, exp, −, ×, ×
    "HardSigmoid": 4,  # ×, +, max, min
    "HardSwish": 5,  # hard sigmoid, ×
    "Mish": 5,  # softplus, tanh, ×
}
"""Elementwise operators of ai.onnx: FLOPs per output element."""

GELU_ERF = 5
"""0.5·x·(1 + erf(x/√2)): ÷, erf, +, ×, ×."""
GELU_TANH = 8
"""0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))): ×, ×, ×, +, ×, tanh, +, × (constants folded)."""
QUICK_GELU = 3
"""x·sigmoid(α·x): ×, sigmoid, ×."""

ACTIVATION: dict[str, int] = {
    "Relu": 1, "Sigmoid": 1, "Tanh": 1, "LeakyRelu": 2, "Clip": 2, "HardSigmoid": 4, "HardSwish": 5,
    "Elu": 4, "Gelu": GELU_ERF, "FastGelu": GELU_TANH, "QuickGelu": QUICK_GELU, "Silu": 2, "Swish": 2,
}  # fmt: skip
"""Activations that fused operators name in an attribute."""

SOFTMAX = 5
"""Per element: max, −, exp, sum, ÷. LogSoftmax is the same with − instead of ÷."""
LAYER_NORM = 5
"""Per element, without the affine part: sum, −, square, sum, × 1/σ."""
RMS_NORM = 3
"""Per element, without the scale: square, sum, × 1/rms."""
BATCH_NORM = 2
"""Per element at inference: × and + (mean, variance, scale and bias folded into two numbers)."""
QUANTIZE = 5
"""Per element: ÷ scale, round, + zero point, max, min. Also for requantizing an accumulator."""
DEQUANTIZE = 2
"""Per element: − zero point, × scale."""
DYNAMIC_RANGE = 2
"""Per element: min and max over the tensor, before it is quantized."""
ROTARY = 3
"""Per rotated element: x·cos + x'·sin."""
IOU = 12
"""Intersection over union of two boxes: 4 min/max, 2 −, 2 max, ×, +, −, ÷."""


def interpolation(taps: int) -> int:
    """Return the FLOPs of a weighted sum of ``taps`` samples: taps × and taps − 1 +."""
    return 2 * taps - 1
