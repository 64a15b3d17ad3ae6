"""Operations outside of layers: ``a + b``, comparisons, and those that Keras records for masks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.conversion_errors import broken
from py_autodoc.keras.layer_call import CONVERTERS, LayerCall, LayerValue, layer
from py_autodoc.keras.layers.merge import aligned, broadcast, concatenate, lifted
from py_autodoc.keras.layers.shape import int_constant
from py_autodoc.keras.tensor import KerasTensor

_FLOAT, _BOOL = ir.DataType.FLOAT, ir.DataType.BOOL
_ARITHMETIC = {
    "Add": "Add", "Subtract": "Sub", "Multiply": "Mul", "Divide": "Div", "TrueDivide": "Div",
    "Maximum": "Max", "Minimum": "Min", "Power": "Pow",
}  # fmt: skip
_COMPARE = {
    "Equal": "Equal", "NotEqual": "Equal", "Greater": "Greater", "GreaterEqual": "GreaterOrEqual",
    "Less": "Less", "LessEqual": "LessOrEqual",
}  # fmt: skip
_LOGIC = {"LogicalAnd": "And", "LogicalOr": "Or"}
_UNARY = {
    "Absolute": "Abs", "Abs": "Abs", "Negative": "Neg", "Exp": "Exp", "Log": "Log", "Sqrt": "Sqrt",
    "Sin": "Sin", "Cos": "Cos", "Tanh": "Tanh", "Sigmoid": "Sigmoid", "Relu": "Relu", "Floor": "Floor",
    "Ceil": "Ceil",
    "Sign": "Sign", "Softplus": "Softplus", "Softsign": "Softsign", "Erf": "Erf",
}  # fmt: skip


def _pair(call: LayerCall) -> tuple[LayerValue, LayerValue]:
    operands = [*call.args, *(call.kwargs[key] for key in ("x1", "x2") if key in call.kwargs)]
    if len(operands) != 2 or not any(isinstance(operand, KerasTensor) for operand in operands):
        raise broken(call.file, f"{call.spec.label} needs two operands.")
    return operands[0], operands[1]


def _operands(call: LayerCall, kind: ir.DataType | None) -> list[KerasTensor]:
    """Return both operands as tensors of one type and rank; a number becomes a scalar."""
    operands = _pair(call)
    tensors = [operand for operand in operands if isinstance(operand, KerasTensor)]
    kinds = {tensor.kind for tensor in tensors}
    common_kind = kind or (kinds.pop() if len(kinds) == 1 and not _fraction(operands) else _FLOAT)
    rank = max(tensor.rank for tensor in tensors)
    order = next(tensor.order for tensor in tensors if tensor.rank == rank)
    result = []
    for operand in operands:
        if isinstance(operand, KerasTensor):
            result.append(call.builder.cast(operand, common_kind))
            continue
        if isinstance(operand, bool) or not isinstance(operand, (int, float)):
            raise call.refuse("with an operand that is not a number")
        value = call.builder.constant(np.full((1,) * rank, operand, common_kind.numpy()))
        result.append(call.new_tensor(value, (1,) * rank, order, common_kind))
    # As in NumPy, axes are added in front.
    return lifted(call, result, 0)


def _fraction(operands: tuple[LayerValue, ...]) -> bool:
    return any(isinstance(operand, float) for operand in operands)


def _binary(
    operator: str, kind: ir.DataType | None, result: ir.DataType | None
) -> Callable[[LayerCall], KerasTensor]:
    def convert(call: LayerCall) -> KerasTensor:
        tensors = _operands(call, _FLOAT if operator in ("Div", "Pow") else kind)
        shape = broadcast(call, [tensor.shape for tensor in tensors])
        values, order = aligned(call, tensors)
        value = call.builder.op(operator, *values)
        if call.spec.kind == "ops.NotEqual":
            value = call.builder.op("Not", value)
        return call.new_tensor(value, shape, order, result or tensors[0].kind)

    return convert


for _name, _operator in _ARITHMETIC.items():
    CONVERTERS[f"ops.{_name}"] = _binary(_operator, None, None)
for _name, _operator in _COMPARE.items():
    CONVERTERS[f"ops.{_name}"] = _binary(_operator, None, _BOOL)
for _name, _operator in _LOGIC.items():
    CONVERTERS[f"ops.{_name}"] = _binary(_operator, _BOOL, _BOOL)


@layer(*(f"ops.{name}" for name in _UNARY))
def unary(call: LayerCall) -> KerasTensor:
    """Elementwise function."""
    x = call.floating()
    return call.like(x, call.builder.op(_UNARY[call.spec.kind[4:]], x.value)).masked(None)


@layer("ops.Square")
def square(call: LayerCall) -> KerasTensor:
    """x²."""
    x = call.floating()
    return call.like(x, call.builder.op("Mul", x.value, x.value)).masked(None)


@layer("ops.LogicalNot")
def logical_not(call: LayerCall) -> KerasTensor:
    """Logical negation."""
    x = call.builder.cast(call.tensor(), _BOOL)
    return call.like(x, call.builder.op("Not", x.value)).masked(None)


@layer("ops.ExpandDims")
def expand_dims(call: LayerCall) -> KerasTensor:
    """Insert an axis of size 1."""
    x = call.in_shape_order(call.tensor())
    axis = call.argument("axis", 1)
    axis = call.spec.config.get("axis") if axis is None else axis
    if not isinstance(axis, int) or not -x.rank - 1 <= axis <= x.rank:
        raise call.refuse("without a known axis")
    axis %= x.rank + 1
    shape = (*x.shape[:axis], 1, *x.shape[axis:])
    return call.new_tensor(
        call.builder.op("Unsqueeze", x.value, int_constant(call, [axis])), shape, kind=x.kind
    )


CONVERTERS["ops.Concatenate"] = concatenate


@layer("ops.ZerosLike", "ops.OnesLike")
def filled(call: LayerCall) -> KerasTensor:
    """A constant value in the shape of another tensor."""
    x = call.tensor()
    kind = {"bool": _BOOL, "float32": _FLOAT, None: x.kind}.get(call.spec.config.get("dtype"))
    if kind is None:
        raise call.refuse(f"of {str(call.spec.config.get('dtype'))[:20]}")
    number = np.full(1, call.spec.kind == "ops.OnesLike", kind.numpy())
    value = call.builder.op("ConstantOfShape", call.builder.op("Shape", x.value), value=ir.tensor(number))
    return call.new_tensor(value, x.shape, x.order, kind)


@layer("ops.Any", "ops.All")
def any_or_all(call: LayerCall) -> KerasTensor:
    """Whether any, or every, element along some axes is true."""
    x = call.in_shape_order(call.builder.cast(call.tensor(), _BOOL))
    axes = call.settings.axes("axis", x.rank, None)
    keepdims = call.settings.flag("keepdims")
    as_float = call.builder.cast(x, _FLOAT).value
    kind = "ReduceMax" if call.spec.kind == "ops.Any" else "ReduceMin"
    reduced = call.builder.op(kind, as_float, int_constant(call, axes), keepdims=int(keepdims))
    shape = [
        1 if axis_number in axes else size
        for axis_number, size in enumerate(x.shape)
        if keepdims or axis_number not in axes
    ]
    return call.builder.cast(call.new_tensor(reduced, tuple(shape)), _BOOL)
