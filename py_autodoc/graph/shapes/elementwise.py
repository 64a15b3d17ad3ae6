"""Elementwise operators, whose output has the (broadcast) input shape."""

from __future__ import annotations

import onnx

from py_autodoc.graph.shapes import value_propagation
from py_autodoc.graph.shapes.shape_context import (
    BOOL,
    FLOAT,
    INT64,
    MS,
    InvalidNode,
    ShapeContext,
    broadcast,
    rule,
)

UNARY = (
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Clip", "Cos",
    "Cosh", "CumSum", "CumProd", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish",
    "Hardmax", "Identity", "InstanceNormalization", "LRN", "LeakyRelu", "Log", "LogSoftmax",
    "LpNormalization", "MeanVarianceNormalization", "Mish", "Neg", "Not", "Reciprocal", "Relu",
    "ReverseSequence", "RMSNormalization", "Round", "Scatter", "ScatterElements", "ScatterND", "Selu",
    "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Swish", "Tan",
    "Tanh", "ThresholdedRelu", "Trilu", "GroupNormalization", "TensorScatter",
)  # fmt: skip
_ALONG_AXIS = frozenset({"Hardmax", "LogSoftmax", "LpNormalization", "RMSNormalization", "Softmax"})
"""Operators with an axis attribute."""
_COMPARE = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_LOGIC = ("And", "Or", "Xor")
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Mod", "Pow", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor")


@rule(*UNARY, folds=value_propagation.FOLDED_UNARY)
def unary(op: ShapeContext) -> None:
    """Same type and shape as the first input. Raises: InvalidNode for an invalid axis."""
    op.same()
    shape = op.shape(0)
    if shape is not None and op.node.op_type in _ALONG_AXIS and op.attrs.get("axis") is not None:
        op.axis(len(shape))
    if op.inputs and op.inputs[0] in op.state.values:
        op.set_value(0, value_propagation.unary(op))


def _binary(op: ShapeContext, dtype: int) -> None:
    legacy = op.opset < 7
    try:
        shape = op.shape(0) if legacy else broadcast(op.shape(0), op.shape(1))
    except InvalidNode as e:
        op.set(0, None, dtype)
        raise InvalidNode(e.code, f"{op.shape(0)} and {op.shape(1)}: {e.message}") from e
    op.set(0, shape, dtype)
    live = op.state.values
    if len(op.inputs) > 1 and op.inputs[0] in live and op.inputs[1] in live and not legacy:
        op.set_value(0, value_propagation.binary(op))


@rule(*_ARITHMETIC, "PRelu", folds=value_propagation.FOLDED_BINARY)
def arithmetic(op: ShapeContext) -> None:
    """Broadcast; before opset 7 the second input is stretched to the first."""
    _binary(op, op.dtype(0))


@rule(*_COMPARE, *_LOGIC, folds=value_propagation.FOLDED_BINARY)
def compare(op: ShapeContext) -> None:
    """Broadcast to booleans."""
    _binary(op, BOOL)


@rule("Max", "Min", "Sum", "Mean", folds=value_propagation.FOLDED_VARIADIC)
def variadic(op: ShapeContext) -> None:
    """Broadcast of all inputs."""
    shape = op.shape(0)
    op.set(0, None, op.dtype(0))
    for i in range(1, len(op.inputs)):
        shape = broadcast(shape, op.shape(i))
    op.set(0, shape)
    op.set_value(0, value_propagation.variadic(op))


@rule("Where", folds=True)
def where(op: ShapeContext) -> None:
    """Broadcast of condition and both choices."""
    op.set(0, None, op.dtype(1) or op.dtype(2))
    op.set(0, broadcast(broadcast(op.shape(0), op.shape(1)), op.shape(2)))
    op.set_value(0, value_propagation.where(op))


@rule("IsInf", "IsNaN", "RegexFullMatch")
def is_special(op: ShapeContext) -> None:
    """One boolean per element."""
    op.set(0, op.shape(0), BOOL)


def _type_number(name: str) -> int:
    """Return the element type of a name such as ``FLOAT``, 0 if there is none."""
    try:
        return int(onnx.TensorProto.DataType.Value(name.upper()))
    except ValueError:
        return 0


@rule("Cast", folds=True)
def cast(op: ShapeContext) -> None:
    """Another element type. ``to`` is an enum number, before opset 6 its name."""
    named = op.text_attr("to", "") if isinstance(op.attr("to", 0), str) else ""
    to = _type_number(named) if named else op.int_attr("to", 0)
    op.set(0, op.shape(0), to)
    if op.has(0) and op.inputs[0] in op.state.values:
        op.set_value(0, value_propagation.cast(op, to))


@rule("CastLike", folds=True)
def cast_like(op: ShapeContext) -> None:
    """Element type of the second input."""
    op.set(0, op.shape(0), op.dtype(1))
    if op.has(0) and op.inputs[0] in op.state.values:
        op.set_value(0, value_propagation.cast(op, op.dtype(1)))


@rule("Dropout")
def dropout(op: ShapeContext) -> None:
    """The second output is the mask (boolean from opset 10)."""
    op.same()
    op.set(1, op.shape(0), BOOL if op.opset >= 10 else op.dtype(0))


@rule("BatchNormalization")
def batch_norm(op: ShapeContext) -> None:
    """Running statistics have the shape of the scale."""
    op.same()
    stats = op.shape(3) or op.shape(1)
    for i in range(1, len(op.outputs)):
        op.set(i, stats, op.dtype(3) or op.dtype(0))


@rule("LayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS)
@rule("LayerNormalization")
def layer_norm(op: ShapeContext) -> None:
    """Mean and inverse deviation keep the leading dimensions; the skip variants return the sum last."""
    op.same()
    shape = op.shape(0)
    if shape is None:
        return
    axis = max(len(shape) - 1, 0)
    if not op.node.op_type.startswith("Skip"):
        axis = op.axis(len(shape), default=-1)
    stats = shape[:axis] + (1,) * (len(shape) - axis)
    stash = op.int_attr("stash_type", FLOAT)
    op.set(1, stats, stash)
    op.set(2, stats, stash)
    op.set(3, shape, op.dtype(0))


@rule("Shape", folds=True)
def shape_of(op: ShapeContext) -> None:
    """Dimensions ``start:end`` of the input."""
    shape = op.shape(0)
    if shape is None:
        op.set(0, (None,), INT64)
        return
    start, end = op.int_attr("start", 0), op.int_attr("end", len(shape))
    selected = shape[slice(start, end)]
    op.set(0, (len(selected),), INT64)
    op.set_value(0, value_propagation.dims_array(selected))


@rule("Size", folds=True)
def size_of(op: ShapeContext) -> None:
    """Number of elements, a scalar."""
    op.set(0, (), INT64)
    op.set_value(0, value_propagation.scalar(value_propagation.numel(op.shape(0))))
