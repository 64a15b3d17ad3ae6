"""Table of quantized operators: functions from a node's inputs and attributes to its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from py_autodoc.graph.building.operator_docs import defined
from py_autodoc.graph.operators.aspects import Key, Link, answers, link_to
from py_autodoc.quantize.reference import elementwise, pooling
from py_autodoc.quantize.reference.arithmetic import (
    F32,
    Array,
    along,
    dequantize,
    limits,
    quantize,
    requantize,
    scalar,
)
from py_autodoc.quantize.reference.products import Kernel, add_bias, conv, matmul

Inputs = Sequence[Array | None]
Attributes = Mapping[str, Any]
Operator = Callable[[Inputs, Attributes, Kernel], tuple[Array, ...]]


def evaluate(
    op_type: str, inputs: Inputs, attributes: Attributes | None = None, kernel: Kernel = "exact"
) -> tuple[Array, ...]:
    """Return the outputs of a quantized operator as ONNX Runtime's x86 CPU kernels compute them.

    ``inputs`` are in the operator's order, None for an absent optional input; ``attributes`` are values as
    returned by ``onnx.helper.get_attribute_value``. ``kernel="pairs"`` models a processor without VNNI.

    Raises:
        KeyError: the operator has no reference.
        ValueError: shapes or types do not fit.
    """
    return OPERATORS[op_type](inputs, attributes or {}, kernel)


def _input(inputs: Inputs, index: int) -> Array:
    value = inputs[index] if index < len(inputs) else None
    if value is None:
        raise ValueError(f"input {index} is missing")
    return value


def _optional_input(inputs: Inputs, index: int) -> Array | None:
    return inputs[index] if index < len(inputs) else None


def _zeros(value: Array | None) -> Array:
    return np.zeros((), np.int32) if value is None else np.asarray(value)


def _spread(value: Array, attributes: Attributes, like: Array) -> Array:
    """Reshape a scale or zero point to broadcast with the tensor: single, per channel, or per block."""
    if value.size == 1:
        return value.reshape(())
    axis = int(attributes.get("axis", 1)) % like.ndim
    block = int(attributes.get("block_size", 0))
    if block:
        return np.repeat(value, block, axis)[tuple(slice(size) for size in like.shape)]
    return along(value, axis, like.ndim)


_OUTPUT_TYPES: Final = {2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16}


def _quantize_linear(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    x, scale, zero = _input(inputs, 0), _input(inputs, 1), _optional_input(inputs, 2)
    named = _OUTPUT_TYPES.get(int(attributes.get("output_dtype", 0)), np.uint8)
    dtype = zero.dtype if zero is not None else named
    return (quantize(x, _spread(scale, attributes, x), _spread(_zeros(zero), attributes, x), dtype),)


def _dequantize_linear(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    x, scale, zero = _input(inputs, 0), _input(inputs, 1), _zeros(_optional_input(inputs, 2))
    return (dequantize(x, _spread(scale, attributes, x), _spread(zero, attributes, x)),)


def _dynamic_quantize(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    x = _input(inputs, 0).astype(F32)
    least, most = np.minimum(x.min(initial=0), F32(0)), np.maximum(x.max(initial=0), F32(0))
    low, high = limits(np.uint8)
    scale = F32(1) if least == most else F32((most - least) / F32(high - low))
    zero = np.uint8(np.rint(np.clip(F32(low) - least / scale, F32(low), F32(high))))
    return quantize(x, np.asarray(scale), int(zero), np.uint8), np.asarray(scale, F32), np.asarray(zero)


def _conv_sum(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> Array:
    x, w, last = _input(inputs, 0), _input(inputs, 3), bool(attributes.get("channels_last"))
    x = np.moveaxis(x, -1, 1) if last else x
    total = conv(x, scalar(inputs[2]), w, _zeros(inputs[5]), attributes, kernel)
    total = add_bias(total, _optional_input(inputs, 8), 1)
    return np.moveaxis(total, 1, -1) if last else total


def _conv(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    total, y_zero = _conv_sum(inputs, attributes, kernel), _input(inputs, 7)
    multiplier = _input(inputs, 1).astype(F32) * _input(inputs, 4).astype(F32) / _input(inputs, 6).astype(F32)
    channels = along(multiplier.reshape(-1), channel_axis("QLinearConv", attributes, total.ndim), total.ndim)
    return (requantize(total, channels, scalar(y_zero), y_zero.dtype),)


def channel_axis(op_type: str, attributes: Attributes, rank: int) -> int:
    """Return the axis of an accumulator along which a scale per channel varies."""
    return 1 if op_type == "QLinearConv" and not attributes.get("channels_last") else rank - 1


def _matmul_sum(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> Array:
    return matmul(
        _input(inputs, 0),
        scalar(inputs[2]),
        _input(inputs, 3),
        _columns(_zeros(inputs[5])),
        kernel,
        "QLinearMatMul",
    )


def _matmul(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    total, y_zero = _matmul_sum(inputs, attributes, kernel), _input(inputs, 7)
    multiplier = _input(inputs, 1).astype(F32) * _input(inputs, 4).astype(F32) / _input(inputs, 6).astype(F32)
    return (requantize(total, _columns(multiplier), scalar(y_zero), y_zero.dtype),)


def _columns(value: Array) -> Array:
    """Return one value for all columns or one per column, without extra axes of size 1."""
    return value.reshape(()) if value.size == 1 else value


def _gemm_sum(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> Array:
    a, b = _input(inputs, 0), _input(inputs, 3)
    a = a.T if attributes.get("transA") else a
    b = b.T if attributes.get("transB") else b
    total = matmul(a, scalar(inputs[2]), b, _columns(_zeros(inputs[5])), kernel, "QGemm")
    bias = _optional_input(inputs, 6)
    return total if bias is None else np.asarray(total + bias.astype(np.int32))


def _gemm(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    total = _gemm_sum(inputs, attributes, kernel)
    alpha = F32(attributes.get("alpha", 1.0))
    multiplier = alpha * _input(inputs, 1).astype(F32) * _input(inputs, 4).astype(F32)
    y_scale, y_zero = _optional_input(inputs, 7), _optional_input(inputs, 8)
    if y_scale is None or y_zero is None:
        return (np.asarray(total.astype(F32) * _columns(multiplier)),)
    return (requantize(total, _columns(multiplier / y_scale.astype(F32)), scalar(y_zero), y_zero.dtype),)


def _conv_integer(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    x, w, w_zero = _input(inputs, 0), _input(inputs, 1), _zeros(_optional_input(inputs, 3))
    return (conv(x, scalar(_optional_input(inputs, 2)), w, w_zero, attributes, kernel, "ConvInteger"),)


def _matmul_integer(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    a, b, a_zero = _input(inputs, 0), _input(inputs, 1), _zeros(_optional_input(inputs, 2))
    rows = a_zero.reshape(-1, 1) if a_zero.size > 1 else a_zero.reshape(())
    return (matmul(a, rows, b, _columns(_zeros(_optional_input(inputs, 3))), kernel),)


def _matmul_to_float_sum(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> Array:
    return _matmul_integer(
        [_input(inputs, 0), _input(inputs, 1), *(_optional_input(inputs, at) for at in (4, 5))],
        attributes,
        kernel,
    )[0]


def _matmul_to_float(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    scale = _input(inputs, 2).astype(F32) * _input(inputs, 3).astype(F32)
    y = _matmul_to_float_sum(inputs, attributes, kernel).astype(F32) * _columns(scale)
    bias = _optional_input(inputs, 6)
    return (np.asarray(y if bias is None else y + bias, F32),)


def _with_quantized(inputs: Inputs) -> Inputs:
    """Return the inputs of MatMulIntegerToFloat from those of DynamicQuantizeMatMul."""
    codes, scale, zero = _dynamic_quantize(inputs[:1], {}, "exact")
    b, b_scale = _input(inputs, 1), _input(inputs, 2)
    b_zero, bias = _optional_input(inputs, 3), _optional_input(inputs, 4)
    return [codes, b, scale, b_scale, zero, b_zero, bias]


def _dynamic_matmul_sum(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> Array:
    return _matmul_to_float_sum(_with_quantized(inputs), attributes, kernel)


def _dynamic_matmul(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    return _matmul_to_float(_with_quantized(inputs), attributes, kernel)


def attention_projection(inputs: Inputs, kernel: Kernel = "exact") -> Array:
    """Return q, k and v of QAttention before its float attention, [batch, sequence, 3·hidden] in float32."""
    order = (0, 1, 3, 4, 6, 7, 2)
    return _matmul_to_float([_optional_input(inputs, at) for at in order], {}, kernel)[0]


def _add(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    return (elementwise.add(*_binary(inputs), _input(inputs, 0).dtype),)


def _mul(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    return (elementwise.mul(*_binary(inputs), _input(inputs, 0).dtype),)


def _binary(
    inputs: Inputs,
) -> tuple[Array, Array, Array | None, Array, Array, Array | None, Array, Array | None]:
    return (
        _input(inputs, 0),
        _input(inputs, 1),
        _optional_input(inputs, 2),
        _input(inputs, 3),
        _input(inputs, 4),
        _optional_input(inputs, 5),
        _input(inputs, 6),
        _optional_input(inputs, 7),
    )


def _global_average_pool(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    last = bool(attributes.get("channels_last", 0))
    x, x_scale, y_scale = _input(inputs, 0), _input(inputs, 1), _input(inputs, 3)
    return (
        pooling.global_average(
            x, x_scale, _optional_input(inputs, 2), y_scale, _optional_input(inputs, 4), last
        ),
    )


def _average_pool(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    x, x_scale, y_scale = _input(inputs, 0), _input(inputs, 1), _input(inputs, 3)
    return (
        pooling.average(
            x, x_scale, _optional_input(inputs, 2), y_scale, _optional_input(inputs, 4), attributes
        ),
    )


def _sigmoid(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    return (_table(elementwise.logistic, inputs),)


def _leaky_relu(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    return (_table(elementwise.leaky_relu(float(attributes.get("alpha", 0.01))), inputs),)


def _table(function: Callable[[Array], Array], inputs: Inputs) -> Array:
    x, x_scale, y_scale = _input(inputs, 0), _input(inputs, 1), _input(inputs, 3)
    return elementwise.apply_table(
        function, x, x_scale, _optional_input(inputs, 2), y_scale, _optional_input(inputs, 4)
    )


def _concat(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    operands = [
        (_input(inputs, index), _input(inputs, index + 1), _optional_input(inputs, index + 2))
        for index in range(2, len(inputs), 3)
    ]
    return (
        elementwise.concat(_input(inputs, 0), _optional_input(inputs, 1), operands, int(attributes["axis"])),
    )


def _softmax(inputs: Inputs, attributes: Attributes, kernel: Kernel) -> tuple[Array, ...]:
    opset = int(attributes["opset"])
    axis = int(attributes.get("axis", 1 if opset < 13 else -1))
    x, x_scale, y_scale = _input(inputs, 0), _input(inputs, 1), _input(inputs, 3)
    return (elementwise.softmax(x, x_scale, y_scale, _optional_input(inputs, 4), axis, opset),)


OPERATORS: Final[dict[str, Operator]] = {
    "QuantizeLinear": _quantize_linear,
    "DequantizeLinear": _dequantize_linear,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "QGemm": _gemm,
    "ConvInteger": _conv_integer,
    "MatMulInteger": _matmul_integer,
    "MatMulIntegerToFloat": _matmul_to_float,
    "DynamicQuantizeMatMul": _dynamic_matmul,
    "QLinearAdd": _add,
    "QLinearMul": _mul,
    "QLinearGlobalAveragePool": _global_average_pool,
    "QLinearAveragePool": _average_pool,
    "QLinearSigmoid": _sigmoid,
    "QLinearLeakyRelu": _leaky_relu,
    "QLinearConcat": _concat,
    "QLinearSoftmax": _softmax,
}
"""By operator type. Add an operator here, and a test against ONNX Runtime."""

ACCUMULATORS: Final[dict[str, Callable[[Inputs, Attributes, Kernel], Array]]] = {
    "QLinearConv": _conv_sum,
    "QLinearMatMul": _matmul_sum,
    "QGemm": _gemm_sum,
    "ConvInteger": lambda inputs, attributes, kernel: _conv_integer(inputs, attributes, kernel)[0],
    "MatMulInteger": lambda inputs, attributes, kernel: _matmul_integer(inputs, attributes, kernel)[0],
    "MatMulIntegerToFloat": _matmul_to_float_sum,
    "DynamicQuantizeMatMul": _dynamic_matmul_sum,
}
"""The int32 sums of the operators that have them, including bias, before scaling."""


@answers("integer")
def _links() -> Mapping[Key, Link]:
    onnx_own = set(defined())
    keys = {("", op) for op in OPERATORS if ("", op) in onnx_own}
    contrib = {op for op in OPERATORS if ("", op) not in onnx_own} | {"QuantizeLinear", "DequantizeLinear"}
    keys |= {("com.microsoft", op) for op in contrib}
    return {key: link_to(OPERATORS[key[1]]) for key in keys}
