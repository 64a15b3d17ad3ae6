"""Quantized operators in C with the dimensions and constants of one node; results equal the reference's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from py_autodoc.opdocs import c_text
from py_autodoc.opdocs.c_node import CNode, Source
from py_autodoc.opdocs.c_products import PRODUCTS, dynamic_range
from py_autodoc.opdocs.c_text import SPATIAL, array, entry, index, nested, number, strided
from py_autodoc.opdocs.roles import roles
from py_autodoc.quantize.reference import elementwise
from py_autodoc.quantize.reference.arithmetic import F32, Array, codes, fma, limits, scalar
from py_autodoc.quantize.reference.block_weights import MATMUL_NBITS
from py_autodoc.quantize.reference.products import padding


def c_source(name: str, node: CNode) -> str | None:
    """Return a C file with one function: pointers to the operands that are data, then to the outputs.

    None if the operation has no C form for its dimensions.
    """
    source = _OPERATORS[node.op_type](node)
    if source is None:
        return None
    declared, body = source
    function = c_text.function(name, parameters(node), body)
    return "\n".join([c_text.HEAD, *(f"{declaration}\n" for declaration in declared), function, ""])


def data(node: CNode) -> list[tuple[str, Array]]:
    """Return the operands that the function reads, in its order."""
    positions = [
        (role.name, role.position)
        for role in roles(node.op_type, len(node.inputs))
        if role.position is not None
    ]
    operands = [(name, node.optional(position)) for name, position in positions]
    return [(name, value) for name, value in operands if value is not None]


def parameters(node: CNode) -> list[str]:
    """Return the parameters of the function."""
    texts = [f"const {c_text.TYPES[value.dtype.name]} *{name}" for name, value in data(node)]
    names = ["y"] if len(node.outputs) == 1 else ["y", "y_scale", "y_zero_point"]
    outputs = zip(names, node.outputs, strict=False)
    return texts + [f"{c_text.TYPES[value.dtype.name]} *{name}" for name, value in outputs]


def _binary(node: CNode, finish: str, declared: list[str]) -> Source:
    a, b, out = node.required(0), node.required(3), node.outputs[0].shape
    names = [f"i{axis}" for axis in range(len(out))]
    value = finish.replace("$a", f"a[{strided(names, a.shape)}]").replace(
        "$b", f"b[{strided(names, b.shape)}]"
    )
    return declared, nested(list(zip(names, out, strict=True)), [f"y[{index(names, out)}] = {value};"])


def _add(node: CNode) -> Source:
    a_scale, b_scale, y_scale = (F32(node.required(i).item()) for i in (1, 4, 6))
    ratio_a, ratio_b = a_scale / y_scale, b_scale / y_scale
    a_zero, b_zero, y_zero = (F32(scalar(node.optional(i))) for i in (2, 5, 7))
    constant = F32(y_zero - fma(ratio_a, a_zero, ratio_b * b_zero))
    first, last = (
        ("a", "b")
        if elementwise.constant_side(node.required(0).shape, node.required(3).shape) == "a"
        else ("b", "a")
    )
    ratios = {"a": number(ratio_a), "b": number(ratio_b)}
    inner = f"fmaf((float)${first}, {ratios[first]}, {number(constant)})"
    finish = f"saturate(fmaf((float)${last}, {ratios[last]}, {inner}))"
    return _binary(node, finish, [c_text.saturate(node.outputs[0].dtype)])


def _mul(node: CNode) -> Source:
    ratio = F32(node.required(1).item()) * F32(node.required(4).item()) / F32(node.required(6).item())
    product = f"((int32_t)$a - {scalar(node.optional(2))}) * ((int32_t)$b - {scalar(node.optional(5))})"
    finish = f"saturate((float)({product}) * {number(ratio)} + {scalar(node.optional(7))}.0f)"
    return _binary(node, finish, [c_text.saturate(node.outputs[0].dtype)])


def _global_average(node: CNode) -> Source:
    x = node.required(0)
    last = bool(node.attributes.get("channels_last", 0))
    channels = x.shape[-1] if last else x.shape[1]
    count = x.size // (x.shape[0] * channels)
    multiplier = F32(node.required(1).item()) / (F32(node.required(3).item()) * F32(count))
    x_index = (
        index(["n", "p", "c"], [x.shape[0], count, channels])
        if last
        else index(["n", "c", "p"], [x.shape[0], channels, count])
    )
    inner = nested(
        [("p", count)], [f"sum += (uint32_t)((int32_t)x[{x_index}] - {scalar(node.optional(2))});"], 0
    )
    finish = f"y[n * {channels} + c] = requantize((int32_t)sum, {number(multiplier)});"
    declared = [c_text.requantize(scalar(node.optional(4)), node.outputs[0].dtype)]
    return declared, nested([("n", x.shape[0]), ("c", channels)], ["uint32_t sum = 0;", *inner, finish])


def _average(node: CNode) -> Source:
    x, out = node.required(0), node.outputs[0]
    last = bool(node.attributes.get("channels_last", 0))
    kernel = [int(value) for value in node.attributes["kernel_shape"]]
    rank = len(kernel)
    strides = [int(value) for value in node.attributes.get("strides") or [1] * rank]
    sizes = x.shape[1:-1] if last else x.shape[2:]
    out_sizes = out.shape[1:-1] if last else out.shape[2:]
    channels = x.shape[-1] if last else x.shape[1]
    pads = padding(sizes, tuple(kernel), strides, [1] * rank, node.attributes)
    axes = SPATIAL[:rank]
    positions = [
        f"int {axis} = o{axis} * {stride} + k{axis} - {pad[0]};"
        for axis, stride, pad in zip(axes, strides, pads, strict=True)
    ]
    outside = " || ".join(f"{axis} < 0 || {axis} >= {size}" for axis, size in zip(axes, sizes, strict=True))
    order = ["n", *axes, "c"] if last else ["n", "c", *axes]
    out_order = (
        ["n", *(f"o{axis}" for axis in axes), "c"] if last else ["n", "c", *(f"o{axis}" for axis in axes)]
    )
    x_index, scale = index(order, x.shape), number(node.required(1).item())
    term = f"(float)((int32_t)x[{x_index}] - {scalar(node.optional(2))}) * {scale}"
    includes_padding = bool(node.attributes.get("count_include_pad", 0))
    body = [
        *positions,
        f"if ({outside}) continue;",
        f"sum += {term};",
        *([] if includes_padding else ["count++;"]),
    ]
    inner = nested([(f"k{axis}", size) for axis, size in zip(axes, kernel, strict=True)], body, 0)
    count = str(int(np.prod(kernel))) if includes_padding else "0"
    finish = (
        f"y[{index(out_order, out.shape)}] = "
        f"saturate(sum / (float)count / {number(node.required(3).item())} + {scalar(node.optional(4))}.0f);"
    )
    loops = [
        ("n", x.shape[0]),
        ("c", channels),
        *((f"o{axis}", size) for axis, size in zip(axes, out_sizes, strict=True)),
    ]
    lines = nested(loops, ["float sum = 0.0f;", f"int count = {count};", *inner, finish])
    return [c_text.saturate(out.dtype)], lines


def _table(function: Callable[[Array], Array]) -> Callable[[CNode], Source]:
    def source(node: CNode) -> Source:
        x = node.required(0)
        entries = elementwise.apply_table(
            function, codes(x.dtype), node.required(1), node.optional(2), node.required(3), node.optional(4)
        )
        return [array("table", entries)], nested([("i", x.size)], ["y[i] = table[(uint8_t)x[i]];"])

    return source


def _leaky_relu(node: CNode) -> Source:
    return _table(elementwise.leaky_relu(float(node.attributes.get("alpha", 0.01))))(node)


def _concat(node: CNode) -> Source:
    y_scale, y_zero, out = node.required(0), node.optional(1), node.outputs[0]
    axis = int(node.attributes["axis"]) % out.ndim
    outer, inner = int(np.prod(out.shape[:axis])), int(np.prod(out.shape[axis + 1 :]))
    declared, lines, before = [], [], 0
    for number_, i in enumerate(range(2, len(node.inputs), 3)):
        x, scale, zero = node.required(i), node.required(i + 1), node.optional(i + 2)
        width = x.shape[axis] * inner
        entries = elementwise.concat(y_scale, y_zero, [(codes(x.dtype), scale, zero)], 0)
        value = f"x{number_}[o * {width} + i]"
        if (entries != codes(x.dtype)).any():
            declared.append(array(f"table{number_}", entries))
            value = f"table{number_}[(uint8_t){value}]"
        lines += nested(
            [("o", outer), ("i", width)],
            [f"y[o * {out.shape[axis] * inner} + {before * inner} + i] = {value};"],
        )
        before += x.shape[axis]
    return declared, lines


def _softmax(node: CNode) -> Source:
    x, out = node.required(0), node.outputs[0]
    opset = int(node.attributes["opset"])
    axis = int(node.attributes.get("axis", 1 if opset < 13 else -1)) % x.ndim
    count = int(np.prod(x.shape[axis:])) if opset < 13 else x.shape[axis]
    inner = 1 if opset < 13 else int(np.prod(x.shape[axis + 1 :]))
    entries, steps = elementwise.softmax_table(node.required(1), node.required(3), count)
    kind, zero = c_text.TYPES[out.dtype.name], scalar(node.optional(4))
    low, top = limits(out.dtype)
    overflow_code = "INT32_MIN" if low < 0 else "0"
    x_index = f"(o * {count} + k) * {inner} + i"
    find_max = nested([("k", count)], [f"if (x[{x_index}] > most) most = x[{x_index}];"], 0)
    add = nested([("k", count)], [f"sum += exponential[255 + x[{x_index}] - most];"], 0)
    write = nested(
        [("k", count)],
        [
            f"float value = nearbyintf(exponential[255 + x[{x_index}] - most] * {number(steps)} / sum);",
            f"int64_t code = (isfinite(value) ? (int64_t)value : {overflow_code}) + {zero};",
            "code = (int32_t)(uint32_t)code;",
            f"y[{x_index}] = ({kind})(code < {low} ? {low} : code > {top} ? {top} : code);",
        ],
        0,
    )
    body = [f"int most = x[o * {count * inner} + i];", *find_max, "float sum = 0.0f;", *add, *write]
    return [array("exponential", entries)], nested([("o", x.size // (count * inner)), ("i", inner)], body)


def _linear(node: CNode, x: Array) -> tuple[list[str], str, str] | None:
    """Return declarations of scales and zero points, and how element i reads them."""
    if node.attributes.get("block_size"):
        return None
    scale, zero = np.asarray(node.required(1), F32).reshape(-1), node.optional(2)
    zeros = np.zeros(1, np.int32) if zero is None else np.asarray(zero).reshape(-1)
    axis = int(node.attributes.get("axis", 1)) % max(x.ndim, 1)
    channel = f"i / {int(np.prod(x.shape[axis + 1 :]))} % {x.shape[axis]}" if scale.size > 1 else "0"
    declared = [array("scale", scale), array("zero_point", zeros)]
    return declared, entry("scale", scale, channel), entry("zero_point", zeros, channel)


def _quantize(node: CNode) -> Source | None:
    x, out = node.required(0), node.outputs[0]
    read = _linear(node, x)
    if read is None or x.dtype != np.float32:
        return None
    declared, scale, zero = read
    value = f"saturate(nearbyintf(x[i] / {scale}) + (float){zero})"
    return [*declared, c_text.saturate(out.dtype)], nested([("i", x.size)], [f"y[i] = {value};"])


def _dequantize(node: CNode) -> Source | None:
    x = node.required(0)
    read = _linear(node, x)
    if read is None or node.outputs[0].dtype != np.float32:
        return None
    declared, scale, zero = read
    value = f"(float)((int64_t)x[i] - {zero}) * {scale}"
    return declared, nested([("i", x.size)], [f"y[i] = {value};"])


def _dynamic(node: CNode) -> Source:
    x = node.required(0)
    write = nested([("i", x.size)], ["y[i] = saturate(nearbyintf(x[i] / scale) + zero);"])
    lines = [
        *dynamic_range("x", x.size),
        *write,
        "    *y_scale = scale;",
        "    *y_zero_point = (uint8_t)zero;",
    ]
    return [c_text.saturate(np.dtype(np.uint8))], lines


def _block_product(node: CNode) -> Source | None:
    """Return a float product with packed weights; None with 16-bit floats or fractions as zero points."""
    x, zeros = node.required(0), node.optional(3)
    if x.dtype != np.float32 or node.required(2).dtype != np.float32:
        return None
    if zeros is not None and zeros.dtype != np.uint8:
        return None
    rows, columns = int(node.attributes["N"]), int(node.attributes["K"])
    bits, block = int(node.attributes.get("bits", 4)), int(node.attributes["block_size"])
    blocks = -(-columns // block)
    mask, row_bytes, zero_bytes = (1 << bits) - 1, blocks * block * bits // 8, -(-blocks * bits // 8)
    zero = str(1 << bits - 1)
    if zeros is not None:
        zero = f"(w_zero_point[j * {zero_bytes} + b * {bits} / 8] >> b * {bits} % 8 & {mask})"
    inner = [
        f"int b = k / {block};",
        f"int q = w[j * {row_bytes} + k * {bits} / 8] >> k * {bits} % 8 & {mask};",
        f"acc += x[i * {columns} + k] * ((float)(q - {zero}) * w_scale[j * {blocks} + b]);",
    ]
    begin = "0.0f" if node.optional(5) is None else "bias[j]"
    body = [f"float acc = {begin};", *nested([("k", columns)], inner, 0), f"y[i * {rows} + j] = acc;"]
    return [], nested([("i", x.size // columns if columns else 0), ("j", rows)], body)


_OPERATORS: Final[dict[str, Callable[[CNode], Source | None]]] = {
    **PRODUCTS,
    "QLinearAdd": _add,
    "QLinearMul": _mul,
    "QLinearGlobalAveragePool": _global_average,
    "QLinearAveragePool": _average,
    "QLinearSigmoid": _table(elementwise.logistic),
    "QLinearLeakyRelu": _leaky_relu,
    "QLinearConcat": _concat,
    "QLinearSoftmax": _softmax,
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic,
    MATMUL_NBITS: _block_product,
}
