"""Operators that process each element separately."""

from __future__ import annotations

import numpy as np

from py_autodoc.graph.rebatch.layout import BatchBlocked
from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule

_BROADCAST = (
    "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "PRelu", "Pow", "Sub",
    "Sum", "Where", "Xor",
)  # fmt: skip
_SINGLE = (
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cast", "CastLike", "Ceil",
    "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity",
    "IsInf", "IsNaN", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu",
    "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh",
    "ThresholdedRelu",
)  # fmt: skip


@rule(*_BROADCAST)
@rule("BiasGelu", "BiasAdd", "BiasSplitGelu", domain="com.microsoft")
def broadcasting(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Inputs broadcast against each other."""
    if trace.opset < 7 and node.attr("broadcast", 0):
        return _old_broadcast(trace, node)
    layout = trace.broadcast(node)
    if node.op_type == "BiasSplitGelu" and layout and layout.axis == len(trace.shape(node.inputs[0])) - 1:
        raise BatchBlocked("the batch is on the axis that is split")
    return [layout] * len(node.outputs)


def _old_broadcast(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Before opset 7 the second input aligns with a range of the first input's axes."""
    trace.require_equal(node, 1)
    return [trace.layout(node, 0)]


@rule(*_SINGLE)
@rule("FastGelu", "Gelu", "QuickGelu", domain="com.microsoft")
def single(trace: BatchTrace, node: StructureNode) -> Layouts:
    """One data input; a second input, if any, is a type or a bias."""
    if node.op_type == "FastGelu":
        return [trace.broadcast(node)]
    return [trace.layout(node, 0)]


@rule("Clip")
def clip(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Bounds apply to all items."""
    trace.require_equal_from(node, 1)
    return [trace.layout(node, 0)]


@rule("Dropout")
@rule("BiasDropout", domain="com.microsoft")
def dropout(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Identity at inference; random in training mode."""
    if node.op_type == "BiasDropout":
        raise BatchBlocked("it is random")
    trace.require_equal_from(node, 1)
    if node.has(2) and ((mode := trace.const(node.inputs[2])) is None or bool(np.ravel(mode).any())):
        raise BatchBlocked("it is random in training mode")
    return [trace.layout(node, 0)] * len(node.outputs)
