"""Convolutions and matrix products in C, with exact sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from py_autodoc.opdocs import c_text
from py_autodoc.opdocs.c_node import CNode, Source
from py_autodoc.opdocs.c_text import SPATIAL, array, entry, index, nested, number
from py_autodoc.quantize.reference.arithmetic import F32, Array, scalar
from py_autodoc.quantize.reference.products import padding


def _multiplier(*scales: Array) -> Array:
    product = scales[0].astype(F32) * scales[1].astype(F32)
    return np.asarray(product / scales[2].astype(F32)) if len(scales) > 2 else np.asarray(product)


def _conv_loops(node: CNode, x: Array, x_zero: int, w: Array, w_zero: Array, finish: str) -> list[str]:
    spatial = w.shape[2:]
    rank = len(spatial)
    last = bool(node.attributes.get("channels_last"))
    spatial_axes = slice(1, -1) if last else slice(2, None)
    sizes, out = x.shape[spatial_axes], node.outputs[0].shape[spatial_axes]
    strides = [int(value) for value in node.attributes.get("strides") or [1] * rank]
    dilations = [int(value) for value in node.attributes.get("dilations") or [1] * rank]
    pads = padding(sizes, spatial, strides, dilations, node.attributes)
    group = int(node.attributes.get("group", 1))
    filters = w.shape[0] // group
    axes = SPATIAL[:rank]
    positions = [
        f"int {axis} = o{axis} * {stride} + k{axis} * {dilation} - {pad[0]};"
        for axis, stride, dilation, pad in zip(axes, strides, dilations, pads, strict=True)
    ]
    outside = " || ".join(f"{axis} < 0 || {axis} >= {size}" for axis, size in zip(axes, sizes, strict=True))
    channel = "c" if group == 1 else f"m / {filters} * {w.shape[1]} + c"
    x_at = index(_layout("n", f"({channel})", axes, last), x.shape)
    w_at = index(["m", "c", *(f"k{axis}" for axis in axes)], [*w.shape])
    zero = entry("w_zero", w_zero, "m")
    product = f"((int32_t)x[{x_at}] - {x_zero}) * ((int32_t)w[{w_at}] - {zero})"
    # Padding stands for the real 0.
    body = [*positions, f"if ({outside}) continue;", f"sum += (uint32_t)({product});"]
    inner = nested(
        [("c", w.shape[1]), *((f"k{axis}", size) for axis, size in zip(axes, spatial, strict=True))], body, 0
    )
    start = (
        "uint32_t sum = (uint32_t)bias[m];"
        if node.op_type == "QLinearConv" and node.optional(8) is not None
        else "uint32_t sum = 0;"
    )
    y_at = index(_layout("n", "m", [f"o{axis}" for axis in axes], last), node.outputs[0].shape)
    loops = [
        ("n", x.shape[0]),
        ("m", w.shape[0]),
        *((f"o{axis}", size) for axis, size in zip(axes, out, strict=True)),
    ]
    return nested(loops, [start, *inner, f"y[{y_at}] = {finish};"])


def _layout(batch: str, channel: str, axes: Sequence[str], last: bool) -> list[str]:
    return [batch, *axes, channel] if last else [batch, channel, *axes]


def _conv(node: CNode) -> Source:
    x, w = node.required(0), node.required(3)
    w_zero = _zeros(node.optional(5), w)
    multiplier = _multiplier(node.required(1), node.required(4), node.required(6)).reshape(-1)
    declared = [
        array("multiplier", multiplier),
        array("w_zero", w_zero),
        c_text.requantize(scalar(node.required(7)), node.outputs[0].dtype),
    ]
    finish = f"requantize((int32_t)sum, {entry('multiplier', multiplier, 'm')})"
    return declared, _conv_loops(node, x, scalar(node.optional(2)), w, w_zero, finish)


def _conv_integer(node: CNode) -> Source:
    x, w = node.required(0), node.required(1)
    w_zero = _zeros(node.optional(3), w)
    lines = _conv_loops(node, x, scalar(node.optional(2)), w, w_zero, "(int32_t)sum")
    return [array("w_zero", w_zero)], lines


def _zeros(zero: Array | None, like: Array) -> Array:
    return np.zeros(1, like.dtype) if zero is None else np.asarray(zero).reshape(-1)


class _Product(NamedTuple):
    """A matrix product: dimensions, and memory layout of its operands."""

    batch: int
    rows: int
    depth: int
    columns: int
    a: str
    b: str
    code_of_a: str = "$a"
    """Code of the element $a, if it is not stored."""


def _product(a: Array, b: Array, a_down: bool = False, b_down: bool = False) -> _Product | None:
    if a.ndim < 2 or b.ndim < 2:
        return None
    rows, depth = (a.shape[-1], a.shape[-2]) if a_down else (a.shape[-2], a.shape[-1])
    columns = b.shape[-2] if b_down else b.shape[-1]
    front = a.shape[:-2]
    if b.ndim > 2 and b.shape[:-2] != front:
        return None
    batch = int(np.prod(front))
    a_at = index(["s", "k", "i"] if a_down else ["s", "i", "k"], [batch, *a.shape[-2:]])
    b_front = ["s"] if b.ndim > 2 else []
    b_at = index(
        [*b_front, *(["j", "k"] if b_down else ["k", "j"])], [*([batch] if b_front else []), *b.shape[-2:]]
    )
    return _Product(batch, rows, depth, columns, a_at, b_at)


def _product_loops(product: _Product, a_zero: str, b_zero: str, start: str, finish: str) -> list[str]:
    a = product.code_of_a.replace("$a", f"a[{product.a}]")
    update = f"sum += (uint32_t)(((int32_t){a} - {a_zero}) * ((int32_t)b[{product.b}] - {b_zero}));"
    inner = nested([("k", product.depth)], [update], 0)
    y_at = index(["s", "i", "j"], [product.batch, product.rows, product.columns])
    loops = [("s", product.batch), ("i", product.rows), ("j", product.columns)]
    return nested(loops, [start, *inner, f"y[{y_at}] = {finish};"])


def _matmul(node: CNode) -> Source | None:
    product = _product(node.required(0), node.required(3))
    b_zero = _zeros(node.optional(5), node.required(3))
    multiplier = _multiplier(node.required(1), node.required(4), node.required(6)).reshape(-1)
    if product is None:
        return None
    declared = [
        array("multiplier", multiplier),
        array("b_zero", b_zero),
        c_text.requantize(scalar(node.required(7)), node.outputs[0].dtype),
    ]
    finish = f"requantize((int32_t)sum, {entry('multiplier', multiplier, 'j')})"
    a_zero = str(scalar(node.optional(2)))
    return declared, _product_loops(
        product, a_zero, entry("b_zero", b_zero, "j"), "uint32_t sum = 0;", finish
    )


def _gemm(node: CNode) -> Source | None:
    a, b = node.required(0), node.required(3)
    product = _product(a, b, bool(node.attributes.get("transA")), bool(node.attributes.get("transB")))
    bias = node.optional(6)
    if product is None or (bias is not None and bias.size not in (1, product.columns)):
        return None
    b_zero = _zeros(node.optional(5), b)
    multiplier = (
        F32(node.attributes.get("alpha", 1.0)) * node.required(1).astype(F32) * node.required(4).astype(F32)
    )
    start = "uint32_t sum = 0;"
    if bias is not None:
        start = f"uint32_t sum = (uint32_t)bias[{'j' if bias.size > 1 else '0'}];"
    y_scale, y_zero = node.optional(7), node.optional(8)
    declared = [array("b_zero", b_zero)]
    if y_scale is None or y_zero is None:
        finish = f"(float)(int32_t)sum * {entry('multiplier', multiplier, 'j')}"
    else:
        multiplier = multiplier / y_scale.astype(F32)
        declared.append(c_text.requantize(scalar(y_zero), node.outputs[0].dtype))
        finish = f"requantize((int32_t)sum, {entry('multiplier', multiplier, 'j')})"
    declared.insert(0, array("multiplier", np.asarray(multiplier, F32)))
    a_zero = str(scalar(node.optional(2)))
    return declared, _product_loops(product, a_zero, entry("b_zero", b_zero, "j"), start, finish)


def _matmul_integer(node: CNode) -> Source | None:
    a, b = node.required(0), node.required(1)
    product = _product(a, b)
    if product is None:
        return None
    a_zero, b_zero = _zeros(node.optional(2), a), _zeros(node.optional(3), b)
    lines = _product_loops(
        product,
        entry("a_zero", a_zero, "i"),
        entry("b_zero", b_zero, "j"),
        "uint32_t sum = 0;",
        "(int32_t)sum",
    )
    return [array("a_zero", a_zero), array("b_zero", b_zero)], lines


def _scaled(scale: str, b_scale: Array, bias: Array | None) -> str:
    """Return the float32 result of an accumulator."""
    added = "" if bias is None else f" + bias[{'j' if bias.size > 1 else '0'}]"
    return f"(float)(int32_t)sum * ({scale} * {entry('b_scale', b_scale, 'j')}){added}"


def _matmul_to_float(node: CNode) -> Source | None:
    a, b, bias = node.required(0), node.required(1), node.optional(6)
    product, b_zero, b_scale = _product(a, b), _zeros(node.optional(5), b), node.required(3).astype(F32)
    if product is None or (bias is not None and bias.size not in (1, product.columns)):
        return None
    finish = _scaled(number(node.required(2).item()), b_scale, bias)
    a_zero = str(scalar(node.optional(4)))
    lines = _product_loops(product, a_zero, entry("b_zero", b_zero, "j"), "uint32_t sum = 0;", finish)
    return [array("b_scale", b_scale), array("b_zero", b_zero)], lines


def _dynamic_matmul(node: CNode) -> Source | None:
    a, b, bias = node.required(0), node.required(1), node.optional(4)
    product, b_zero, b_scale = _product(a, b), _zeros(node.optional(3), b), node.required(2).astype(F32)
    if product is None or (bias is not None and bias.size not in (1, product.columns)):
        return None
    product = product._replace(code_of_a="saturate(nearbyintf($a / scale) + zero)")
    finish, zero = _scaled("scale", b_scale, bias), entry("b_zero", b_zero, "j")
    lines = _product_loops(product, "(int32_t)zero", zero, "uint32_t sum = 0;", finish)
    declared = [array("b_scale", b_scale), array("b_zero", b_zero), c_text.saturate(np.dtype(np.uint8))]
    return declared, [*dynamic_range("a", a.size), *lines]


def dynamic_range(name: str, size: int) -> list[str]:
    """Return lines that compute ``scale`` and ``zero`` of a float32 operand."""
    grow = [f"if ({name}[i] < least) least = {name}[i];", f"if ({name}[i] > most) most = {name}[i];"]
    return [
        "    float least = 0.0f, most = 0.0f;",
        *nested([("i", size)], grow),
        "    float scale = least == most ? 1.0f : (most - least) / 255.0f;",
        "    float zero = 0.0f - least / scale;",
        "    zero = nearbyintf(zero < 0.0f ? 0.0f : zero > 255.0f ? 255.0f : zero);",
    ]


PRODUCTS: Final[dict[str, Callable[[CNode], Source | None]]] = {
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "QGemm": _gemm,
    "ConvInteger": _conv_integer,
    "MatMulInteger": _matmul_integer,
    "MatMulIntegerToFloat": _matmul_to_float,
    "DynamicQuantizeMatMul": _dynamic_matmul,
}
