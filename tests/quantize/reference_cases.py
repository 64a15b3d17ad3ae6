"""Random nodes of every quantized operator, and what ONNX Runtime makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

U8, S8, U16, S16 = np.uint8, np.int8, np.uint16, np.int16
MICROSOFT = {
    "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QAttention", "QLinearAdd", "QLinearMul",
    "QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearConcat",
    "QLinearSoftmax",
}  # fmt: skip


class Case(NamedTuple):
    """One node: its operator, inputs in order (None: absent) and attributes."""

    op_type: str
    inputs: list[np.ndarray | None]
    attributes: dict[str, Any]
    constant: frozenset[int]
    """Which inputs are initializers: kernels pack weights, and some want scales known."""


def by_onnx_runtime(case: Case) -> list[np.ndarray]:
    """The node's outputs, from one node with its inputs as they are."""
    while case.inputs[-1] is None:
        del case.inputs[-1]
    names = [f"i{at}" if one is not None else "" for at, one in enumerate(case.inputs)]
    contributed = case.op_type in MICROSOFT or "channels_last" in case.attributes
    domain = "com.microsoft" if contributed else ""
    outputs = ["y", "y_scale", "y_zero_point"] if case.op_type == "DynamicQuantizeLinear" else ["y"]
    node = helper.make_node(case.op_type, names, outputs, domain=domain, **case.attributes)
    given = {name: value for name, value in zip(names, case.inputs, strict=True) if value is not None}
    fed = {name: value for name, value in given.items() if int(name[1:]) not in case.constant}
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in fed.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in given.items() if name not in fed],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, fed)


def codes(dice: np.random.Generator, dtype: Any, shape: Any) -> np.ndarray:
    """Any value of the type; sometimes only extremes, where saturation shows."""
    info = np.iinfo(dtype)
    if dice.random() < 0.2:
        return dice.choice(np.array([info.min, info.max], dtype), shape)
    return dice.integers(info.min, info.max, shape, dtype, endpoint=True)


def scale(dice: np.random.Generator, size: int | None = None) -> np.ndarray:
    """Positive, over five orders of magnitude."""
    found = np.exp(dice.uniform(np.log(1e-4), np.log(10), size))
    return np.asarray(found, np.float32)


def zero(dice: np.random.Generator, dtype: Any) -> np.ndarray | None:
    """Mostly any, at times the ends, at times absent."""
    roll = dice.random()
    if roll < 0.1:
        return None
    return np.asarray(codes(dice, dtype, ()), dtype)


def output_scale(dice: np.random.Generator, expected: float) -> np.ndarray:
    """About what makes the outputs fill their range."""
    return np.asarray(max(expected, 1e-6) * np.exp(dice.uniform(-2, 2)), np.float32)


def _needed(dice: np.random.Generator, dtype: Any) -> np.ndarray:
    return np.asarray(codes(dice, dtype, ()), dtype)


def _shape(dice: np.random.Generator, rank: int, most: int = 9) -> tuple[int, ...]:
    return tuple(int(one) for one in dice.integers(1, most, rank))


def qlinear_conv(dice: np.random.Generator, x_type: Any, w_type: Any, last: bool = True) -> Case:
    rank = int(dice.integers(1, 4)) if dice.random() < 0.3 else 2
    group = int(dice.choice([1, 1, 1, 2, 8]))
    per_group = 1 if group == 8 else int(dice.integers(1, 7))
    filters = group * int(dice.integers(1, 4))
    channels = group * per_group
    kernel = [int(one) for one in dice.integers(1, 4, rank)]
    dilations = [int(one) for one in dice.integers(1, 3, rank)]
    size = [(k - 1) * d + 1 + int(dice.integers(0, 5)) for k, d in zip(kernel, dilations, strict=True)]
    attributes: dict[str, Any] = {
        "kernel_shape": kernel, "strides": [int(one) for one in dice.integers(1, 3, rank)],
        "dilations": dilations, "group": group,
    }  # fmt: skip
    if dice.random() < 0.6:
        attributes["pads"] = [int(one) for one in dice.integers(0, 2, 2 * rank)]
    elif dice.random() < 0.5:
        attributes |= {
            "auto_pad": str(dice.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])),
            "dilations": [1] * rank,
        }
    by_channel = filters if dice.random() < 0.5 else None
    w_scale = scale(dice, by_channel)
    w_zero = _needed(dice, w_type) if by_channel is None else np.zeros(by_channel, w_type)
    x_scale = scale(dice)
    depth = per_group * int(np.prod(kernel))
    expected = float(x_scale * w_scale.mean()) * 70 * 70 * depth**0.5 / 100
    bias = dice.integers(-9999, 9999, filters, np.int32) if dice.random() < 0.5 else None
    shape = [int(dice.integers(1, 3)), channels, *size]
    if last and dice.random() < 0.2:
        attributes["channels_last"] = 1
        shape = [shape[0], *size, channels]
    inputs = [
        codes(dice, x_type, shape), x_scale, _needed(dice, x_type),
        codes(dice, w_type, (filters, per_group, *kernel)), w_scale, w_zero,
        output_scale(dice, expected), _needed(dice, x_type), bias,
    ]  # fmt: skip
    return Case("QLinearConv", inputs, attributes, frozenset(range(1, 9)))


def qlinear_matmul(dice: np.random.Generator, a_type: Any, b_type: Any) -> Case:
    m, k, n = int(dice.integers(1, 9)), int(dice.integers(1, 70)), int(dice.integers(1, 20))
    columns = n if dice.random() < 0.5 else None
    a_scale, b_scale = scale(dice), scale(dice, columns)
    b_zero = _needed(dice, b_type) if columns is None else codes(dice, b_type, n)
    front = (int(dice.integers(1, 3)),) if dice.random() < 0.3 else ()
    expected = float(a_scale * b_scale.mean()) * 50 * k**0.5
    inputs = [
        codes(dice, a_type, (*front, m, k)), a_scale, _needed(dice, a_type), codes(dice, b_type, (k, n)),
        b_scale, b_zero, output_scale(dice, expected), _needed(dice, a_type),
    ]  # fmt: skip
    return Case("QLinearMatMul", inputs, {}, frozenset(range(1, 8)))


def qgemm(dice: np.random.Generator, a_type: Any, b_type: Any) -> Case:
    m, k, n = int(dice.integers(1, 9)), int(dice.integers(1, 70)), int(dice.integers(1, 20))
    across, down = bool(dice.random() < 0.3), bool(dice.random() < 0.5)
    columns = n if dice.random() < 0.5 else None
    a_scale, b_scale = scale(dice), scale(dice, columns)
    b_zero = _needed(dice, b_type) if columns is None else codes(dice, b_type, n)
    attributes = {"transA": int(across), "transB": int(down), "alpha": float(dice.choice([1.0, 0.5, 1.7]))}
    bias = dice.integers(-9999, 9999, n, np.int32) if dice.random() < 0.6 else None
    expected = float(a_scale * b_scale.mean()) * 50 * k**0.5
    inputs: list[np.ndarray | None] = [
        codes(dice, a_type, (k, m) if across else (m, k)), a_scale, _needed(dice, a_type),
        codes(dice, b_type, (n, k) if down else (k, n)), b_scale, b_zero, bias,
    ]  # fmt: skip
    if dice.random() < 0.7:
        inputs += [output_scale(dice, expected), _needed(dice, a_type)]
    return Case("QGemm", inputs, attributes, frozenset(range(1, 9)))


def conv_integer(dice: np.random.Generator, x_type: Any, w_type: Any) -> Case:
    case = qlinear_conv(dice, x_type, w_type, last=False)
    x, w = case.inputs[0], case.inputs[3]
    w_zero = _needed(dice, w_type) if dice.random() < 0.5 else None
    return Case("ConvInteger", [x, w, case.inputs[2], w_zero], case.attributes, frozenset({1, 2, 3}))


def matmul_integer(dice: np.random.Generator, a_type: Any, b_type: Any) -> Case:
    m, k, n = int(dice.integers(1, 9)), int(dice.integers(1, 70)), int(dice.integers(1, 20))
    b_zero = codes(dice, b_type, n) if dice.random() < 0.5 else zero(dice, b_type)
    inputs = [codes(dice, a_type, (m, k)), codes(dice, b_type, (k, n)), zero(dice, a_type), b_zero]
    return Case("MatMulInteger", inputs, {}, frozenset({1, 2, 3}))


def matmul_integer_to_float(dice: np.random.Generator, a_type: Any, b_type: Any) -> Case:
    case = matmul_integer(dice, a_type, b_type)
    a, b, a_zero, b_zero = case.inputs
    columns = b.shape[1] if b_zero is not None and b_zero.ndim else None
    bias = dice.normal(0, 9, b.shape[1]).astype(np.float32) if dice.random() < 0.5 else None
    inputs = [a, b, scale(dice), scale(dice, columns), a_zero, b_zero, bias]
    return Case("MatMulIntegerToFloat", inputs, {}, frozenset(range(1, 7)))


def dynamic_quantize_matmul(dice: np.random.Generator, b_type: Any) -> Case:
    _, b, _, b_scale, _, b_zero, bias = matmul_integer_to_float(dice, U8, b_type).inputs
    a = dice.normal(dice.normal(), 1, (int(dice.integers(1, 9)), b.shape[0])) * float(scale(dice))
    inputs = [a.astype(np.float32), b, b_scale, b_zero, bias]
    return Case("DynamicQuantizeMatMul", inputs, {}, frozenset(range(1, 5)))


def _binary(op_type: str, dice: np.random.Generator, dtype: Any) -> Case:
    shape = _shape(dice, int(dice.integers(1, 5)))
    other = list(shape)
    roll = dice.random()
    if roll < 0.3:
        for at in range(len(other)):
            if dice.random() < 0.5:
                other[at] = 1
    elif roll < 0.4:
        other = [1]
    a, b = codes(dice, dtype, shape), codes(dice, dtype, tuple(other))
    if dice.random() < 0.5:
        a, b = b, a
    a_scale, b_scale = scale(dice), scale(dice)
    size = float(a_scale * b_scale) * 60 if op_type == "QLinearMul" else float(a_scale + b_scale)
    inputs = [
        a, a_scale, _needed(dice, dtype), b, b_scale, _needed(dice, dtype), output_scale(dice, size),
        zero(dice, dtype),
    ]  # fmt: skip
    return Case(op_type, inputs, {}, frozenset({1, 2, 4, 5, 6, 7}))


def qlinear_add(dice: np.random.Generator, dtype: Any) -> Case:
    return _binary("QLinearAdd", dice, dtype)


def qlinear_mul(dice: np.random.Generator, dtype: Any) -> Case:
    return _binary("QLinearMul", dice, dtype)


def qlinear_average_pool(dice: np.random.Generator, dtype: Any) -> Case:
    rank = int(dice.integers(1, 4))
    kernel = [int(one) for one in dice.integers(1, 4, rank)]
    size = [k + int(dice.integers(0, 5)) for k in kernel]
    attributes: dict[str, Any] = {
        "kernel_shape": kernel, "strides": [int(one) for one in dice.integers(1, 3, rank)],
        "count_include_pad": int(dice.integers(0, 2)), "ceil_mode": int(dice.integers(0, 2)),
        "channels_last": int(dice.integers(0, 2)),
    }  # fmt: skip
    if dice.random() < 0.5:
        attributes["pads"] = [int(dice.integers(0, k)) for k in kernel] * 2
    channels = int(dice.integers(1, 5))
    shape = (2, *size, channels) if attributes["channels_last"] else (2, channels, *size)
    x_scale = scale(dice)
    inputs = [
        codes(dice, dtype, shape),
        x_scale,
        _needed(dice, dtype),
        output_scale(dice, float(x_scale)),
        zero(dice, dtype),
    ]
    return Case("QLinearAveragePool", inputs, attributes, frozenset(range(1, 5)))


def qlinear_global_average_pool(dice: np.random.Generator, dtype: Any) -> Case:
    last = int(dice.integers(0, 2))
    shape = (int(dice.integers(1, 3)), *_shape(dice, 3, 12))
    x_scale = scale(dice)
    inputs = [
        codes(dice, dtype, shape),
        x_scale,
        _needed(dice, dtype),
        output_scale(dice, float(x_scale)),
        _needed(dice, dtype),
    ]
    return Case("QLinearGlobalAveragePool", inputs, {"channels_last": last}, frozenset(range(1, 5)))


def _table(op_type: str, dice: np.random.Generator, dtype: Any, size: float, **attributes: Any) -> Case:
    # ONNX Runtime aborts where a zero point is absent.
    x_scale = scale(dice)
    x = np.concatenate(
        [np.arange(256, dtype=np.uint8).view(dtype), codes(dice, dtype, int(dice.integers(1, 70)))]
    )
    inputs = [
        x,
        x_scale,
        _needed(dice, dtype),
        output_scale(dice, size * float(x_scale) if size else 1 / 256),
        _needed(dice, dtype),
    ]
    return Case(op_type, inputs, attributes, frozenset(range(1, 5)))


def qlinear_sigmoid(dice: np.random.Generator, dtype: Any) -> Case:
    return _table("QLinearSigmoid", dice, dtype, 0)


def qlinear_leaky_relu(dice: np.random.Generator, dtype: Any) -> Case:
    return _table("QLinearLeakyRelu", dice, dtype, 1, alpha=float(dice.choice([0.01, 0.1, 0.2, 1.5])))


def qlinear_concat(dice: np.random.Generator, dtype: Any) -> Case:
    rank = int(dice.integers(1, 5))
    axis = int(dice.integers(-rank, rank))
    shape = list(_shape(dice, rank))
    y_scale, y_zero = scale(dice), _needed(dice, dtype)
    inputs: list[np.ndarray | None] = [y_scale, y_zero]
    for _ in range(int(dice.integers(1, 4))):
        shape[axis] = int(dice.integers(1, 9))
        same = dice.random() < 0.3
        inputs += [
            codes(dice, dtype, tuple(shape)),
            y_scale if same else np.asarray(y_scale * scale(dice), np.float32),
        ]
        inputs.append(y_zero if same else _needed(dice, dtype))
    fixed = frozenset(at for at in range(len(inputs)) if at < 2 or at % 3 != 2)
    return Case("QLinearConcat", inputs, {"axis": axis}, fixed)


def qlinear_softmax(dice: np.random.Generator, dtype: Any) -> Case:
    rank = int(dice.integers(1, 5))
    opset = int(dice.choice([11, 13]))
    axis = int(dice.integers(0, rank)) if opset < 13 else int(dice.integers(-rank, rank))
    inputs = [
        codes(dice, dtype, _shape(dice, rank, 20)), scale(dice), _needed(dice, dtype),
        np.asarray(1 / dice.choice([256, 128, 100, 300.5]), np.float32), _needed(dice, dtype),
    ]  # fmt: skip
    return Case("QLinearSoftmax", inputs, {"axis": axis, "opset": opset}, frozenset(range(1, 5)))


def quantize_linear(dice: np.random.Generator, dtype: Any) -> Case:
    shape = _shape(dice, int(dice.integers(1, 5)), 12)
    axis = int(dice.integers(-len(shape), len(shape)))
    x_scale = scale(dice, shape[axis] if dice.random() < 0.5 else None)
    span = float(np.iinfo(dtype).max) * float(x_scale.mean())
    x = (dice.normal(0, 1, shape) * span).astype(np.float32)
    # Ties are where roundings differ.
    steps = along(x_scale, axis, len(shape))
    x = np.where(dice.random(shape) < 0.2, np.float32(0.5) * np.rint(x / steps * 2) * steps, x).astype(
        np.float32
    )
    y_zero = codes(dice, dtype, x_scale.shape)
    attributes = {"axis": axis} if x_scale.size > 1 else {}
    return Case("QuantizeLinear", [x, x_scale, y_zero], attributes, frozenset({1, 2}))


def along(value: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """A vector along one axis of a tensor."""
    if value.ndim == 0:
        return value
    return value.reshape([-1 if at == axis % rank else 1 for at in range(rank)])


def dequantize_linear(dice: np.random.Generator, dtype: Any) -> Case:
    shape = _shape(dice, int(dice.integers(1, 5)), 12)
    axis = int(dice.integers(-len(shape), len(shape)))
    x_scale = scale(dice, shape[axis] if dice.random() < 0.5 else None)
    x_zero = None if dtype == np.int32 else codes(dice, dtype, x_scale.shape)
    attributes = {"axis": axis} if x_scale.size > 1 else {}
    x = codes(dice, dtype, shape)
    return Case("DequantizeLinear", [x, x_scale, x_zero], attributes, frozenset({1, 2}))


def dynamic_quantize_linear(dice: np.random.Generator, dtype: Any) -> Case:
    shape = _shape(dice, int(dice.integers(1, 4)), 12)
    x = dice.normal(dice.normal(), 1, shape) * float(scale(dice))
    x = np.zeros(shape) if dice.random() < 0.1 else x
    return Case("DynamicQuantizeLinear", [np.asarray(x, np.float32)], {}, frozenset())


BOTH = [(U8,), (S8,)]
CASES: dict[str, tuple[Callable[..., Case], list[tuple[Any, ...]]]] = {
    "QLinearConv": (qlinear_conv, [(U8, U8), (U8, S8), (S8, S8)]),
    "QLinearMatMul": (qlinear_matmul, [(U8, U8), (U8, S8), (S8, S8)]),
    "QGemm": (qgemm, [(U8, U8), (U8, S8), (S8, S8)]),
    "ConvInteger": (conv_integer, [(U8, U8), (U8, S8), (S8, U8), (S8, S8)]),
    "MatMulInteger": (matmul_integer, [(U8, U8), (U8, S8), (S8, U8), (S8, S8)]),
    "MatMulIntegerToFloat": (matmul_integer_to_float, [(U8, U8), (U8, S8), (S8, S8)]),
    "DynamicQuantizeMatMul": (dynamic_quantize_matmul, [(U8,), (S8,)]),
    "QLinearAdd": (qlinear_add, BOTH),
    "QLinearMul": (qlinear_mul, BOTH),
    "QLinearAveragePool": (qlinear_average_pool, BOTH),
    "QLinearGlobalAveragePool": (qlinear_global_average_pool, BOTH),
    "QLinearSigmoid": (qlinear_sigmoid, BOTH),
    "QLinearLeakyRelu": (qlinear_leaky_relu, BOTH),
    "QLinearConcat": (qlinear_concat, BOTH),
    "QLinearSoftmax": (qlinear_softmax, BOTH),
    "QuantizeLinear": (quantize_linear, [(U8,), (S8,), (U16,), (S16,)]),
    "DequantizeLinear": (dequantize_linear, [(U8,), (S8,), (U16,), (S16,), (np.int32,)]),
    "DynamicQuantizeLinear": (dynamic_quantize_linear, [(U8,)]),
}
"""Each operator with the pairs of types that ONNX Runtime's CPU provider has kernels for."""
