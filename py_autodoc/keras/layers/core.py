"""Dense layers, embeddings, masks."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from py_autodoc.keras.layer_call import LayerCall, layer
from py_autodoc.keras.layers.activation import activate, number
from py_autodoc.keras.layers.shape import int_constant
from py_autodoc.keras.tensor import KerasTensor, Order, identity_order


@layer("Dense")
def dense(call: LayerCall) -> KerasTensor:
    """Multiply the last axis by the kernel and add the bias."""
    x = call.floating()
    if x.rank < 2:
        raise call.refuse("of a tensor without features")
    units, features = call.settings.integer("units"), call.known_size(x, -1)
    kernel = call.take("kernel", features, units)
    bias = call.take("bias", units) if call.settings.flag("use_bias", True) else None
    return activate(call, product(call, x, kernel, bias).masked(x.mask))


def product(call: LayerCall, x: KerasTensor, kernel: np.ndarray, bias: np.ndarray | None) -> KerasTensor:
    """Return x · kernel + bias over the last axis; the other axes may be stored in any order."""
    order: Order = x.order if x.order[-1] == x.rank - 1 else identity_order(x.rank)
    value = call.builder.transposed(x, order)
    weight = call.builder.weight(kernel, "kernel")
    if bias is not None and x.rank == 2:
        result = call.builder.op("Gemm", value, weight, call.builder.weight(bias, "bias"))
    else:
        result = call.builder.op("MatMul", value, weight)
        result = result if bias is None else call.builder.op("Add", result, call.builder.weight(bias, "bias"))
    return call.new_tensor(result, (*x.shape[:-1], kernel.shape[-1]), order)


_EQUATION = re.compile(r"(\.{3})?([a-zA-Z]+),([a-zA-Z]+)->(\.{3})?([a-zA-Z]+)")


@layer("EinsumDense")
def einsum_dense(call: LayerCall) -> KerasTensor:
    """Product described by an equation such as ``abc,cd->abd``."""
    x = call.in_shape_order(call.floating())
    equation = str(call.spec.config.get("equation", "")).replace(" ", "")
    parts = _EQUATION.fullmatch(equation)
    if parts is None or (parts[1] is None) != (parts[4] is None):
        raise call.refuse(f"with the equation {equation[:40]!r}")
    free = x.rank - len(parts[2])
    if free < 0 or (free and parts[1] is None):
        raise call.settings.wrong("equation", f"a tensor of {x.rank} axes")
    shape = call.weights.shape(call.path, "kernel")
    sizes = dict(zip(parts[2], x.shape[free:], strict=True))
    if len(shape) != len(parts[3]) or any(
        sizes.get(axis) not in (None, size) for axis, size in zip(parts[3], shape, strict=True)
    ):
        raise call.settings.wrong("equation", f"a kernel of {'×'.join(map(str, shape))}")
    sizes.update(zip(parts[3], shape, strict=True))
    if not set(parts[5]) <= sizes.keys():
        raise call.settings.wrong("equation", "axes of what goes in")
    kernel = call.builder.weight(call.take("kernel", *shape), "kernel")
    value = call.builder.op("Einsum", x.value, kernel, equation=equation)
    axes = call.spec.config.get("bias_axes")
    if isinstance(axes, str) and axes:
        wide = [sizes[axis] if axis in axes else 1 for axis in parts[5]]
        first = min(parts[5].index(axis) for axis in axes if axis in parts[5])
        bias_shape = tuple(size or 1 for size in wide[first:])
        value = call.builder.op("Add", value, call.builder.weight(_bias(call, bias_shape, axes), "bias"))
    result = call.new_tensor(value, (*x.shape[:free], *(sizes[axis] for axis in parts[5])))
    return activate(call, result)


def _bias(call: LayerCall, wide: tuple[int, ...], axes: str) -> np.ndarray:
    stored = call.weights.shape(call.path, "bias")
    if int(np.prod(stored)) != int(np.prod(wide)):
        raise call.settings.wrong("bias_axes", f"a bias of {'×'.join(map(str, stored))}")
    return np.asarray(call.take("bias", *stored)).reshape(wide)


@layer("Embedding")
def embedding(call: LayerCall) -> KerasTensor:
    """Look up a row of the table for each integer; with ``mask_zero``, 0 is masked."""
    ids = call.in_shape_order(call.tensor())
    rows, size = call.settings.integer("input_dim"), call.settings.integer("output_dim")
    if ids.kind not in (ir.DataType.INT32, ir.DataType.INT64):
        ids = call.builder.cast(ids, ir.DataType.INT32)
    table = call.builder.weight(call.take("embeddings", rows, size), "embeddings")
    value = call.builder.op("Gather", table, ids.value, axis=0)
    result = call.new_tensor(value, (*ids.shape, size))
    if not call.settings.flag("mask_zero"):
        return result
    zero = call.builder.constant(np.zeros((), ids.kind.numpy()))

    def compute_mask() -> KerasTensor:
        nonzero = call.builder.op("Not", call.builder.op("Equal", ids.value, zero))
        return call.new_tensor(nonzero, ids.shape, kind=ir.DataType.BOOL)

    return result.masked(call.lazily(compute_mask))


@layer("Masking")
def masking(call: LayerCall) -> KerasTensor:
    """Mask steps whose features all equal ``mask_value``, and set them to 0."""
    x = call.in_shape_order(call.floating())
    op = call.builder.op
    is_present = op("Not", op("Equal", x.value, number(call, call.settings.number("mask_value", 0.0))))
    last = int_constant(call, [-1])
    present = op("ReduceMax", op("Cast", is_present, to=ir.DataType.FLOAT.value), last, keepdims=1)
    value = call.new_tensor(op("Mul", x.value, present), x.shape)

    def compute_mask() -> KerasTensor:
        squeezed = op("Cast", op("Squeeze", present, last), to=ir.DataType.BOOL.value)
        return call.new_tensor(squeezed, x.shape[:-1], kind=ir.DataType.BOOL)

    return replace(value, mask=call.lazily(compute_mask))
