"""Quantized operators in C with the dimensions and constants of one node; results equal the reference's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from py_autodoc.opdocs import c_text
from py_autodoc.opdocs.c_text import array, at, index, nested, number, strided
from py_autodoc.opdocs.roles import roles
from py_autodoc.quantize.reference import elementwise
from py_autodoc.quantize.reference.arithmetic import F32, Array, codes, fma, limits, scalar
from py_autodoc.quantize.reference.products import padding

SPATIAL = ("row", "col", "slab")


class CNode(NamedTuple):
    """One operation with the values of one run, which determine the shapes."""

    op_type: str
    inputs: Sequence[Array | None]
    outputs: Sequence[Array]
    attributes: Mapping[str, Any]

    def given(self, place: int) -> Array:
        """Return a required input."""
        found = self.inputs[place] if place < len(self.inputs) else None
        if found is None:
            raise ValueError(f"input {place} is missing")
        return found

    def maybe(self, place: int) -> Array | None:
        """Return an optional input."""
        return self.inputs[place] if place < len(self.inputs) else None


Source = tuple[list[str], list[str]]
"""Declarations before the function, and the lines of its body."""


def c_source(name: str, node: CNode) -> str | None:
    """Return a C file with one function: pointers to the operands that are data, then to the outputs.

    None if the operation has no C form for its dimensions.
    """
    made = _OPERATORS[node.op_type](node)
    if made is None:
        return None
    declared, body = made
    function = c_text.function(name, parameters(node), body)
    return "\n".join([c_text.HEAD, *(f"{one}\n" for one in declared), function, ""])


def data(node: CNode) -> list[tuple[str, Array]]:
    """Return the operands that the function reads, in its order."""
    places = [(role.name, role.at) for role in roles(node.op_type, len(node.inputs)) if role.at is not None]
    found = [(name, node.maybe(place)) for name, place in places]
    return [(name, value) for name, value in found if value is not None]


def parameters(node: CNode) -> list[str]:
    """Return the parameters of the function."""
    texts = [f"const {c_text.TYPES[value.dtype.name]} *{name}" for name, value in data(node)]
    names = ["y"] if len(node.outputs) == 1 else ["y", "y_scale", "y_zero_point"]
    outputs = zip(names, node.outputs, strict=False)
    return texts + [f"{c_text.TYPES[value.dtype.name]} *{name}" for name, value in outputs]


def _multiplier(*scales: Array) -> Array:
    found = scales[0].astype(F32) * scales[1].astype(F32)
    return np.asarray(found / scales[2].astype(F32)) if len(scales) > 2 else np.asarray(found)


def _conv_loops(node: CNode, x: Array, x_zero: int, w: Array, w_zero: Array, finish: str) -> list[str]:
    spatial = w.shape[2:]
    rank = len(spatial)
    strides = [int(one) for one in node.attributes.get("strides") or [1] * rank]
    dilations = [int(one) for one in node.attributes.get("dilations") or [1] * rank]
    pads = padding(x.shape[2:], spatial, strides, dilations, node.attributes)
    group = int(node.attributes.get("group", 1))
    filters = w.shape[0] // group
    axes = SPATIAL[:rank]
    places = [
        f"int {axis} = o{axis} * {stride} + k{axis} * {dilation} - {pad[0]};"
        for axis, stride, dilation, pad in zip(axes, strides, dilations, pads, strict=True)
    ]
    outside = " || ".join(
        f"{axis} < 0 || {axis} >= {size}" for axis, size in zip(axes, x.shape[2:], strict=True)
    )
    channel = "c" if group == 1 else f"m / {filters} * {w.shape[1]} + c"
    x_at = index(["n", f"({channel})", *axes], [*x.shape])
    w_at = index(["m", "c", *(f"k{axis}" for axis in axes)], [*w.shape])
    zero = at("w_zero", w_zero, "m")
    product = f"((int32_t)x[{x_at}] - {x_zero}) * ((int32_t)w[{w_at}] - {zero})"
    # Padding stands for the real 0.
    body = [*places, f"if ({outside}) continue;", f"sum += (uint32_t)({product});"]
    inner = nested(
        [("c", w.shape[1]), *((f"k{axis}", size) for axis, size in zip(axes, spatial, strict=True))], body, 0
    )
    out = node.outputs[0].shape
    start = (
        "uint32_t sum = (uint32_t)bias[m];"
        if node.op_type == "QLinearConv" and node.maybe(8) is not None
        else "uint32_t sum = 0;"
    )
    y_at = index(["n", "m", *(f"o{axis}" for axis in axes)], [*out])
    loops = [
        ("n", out[0]),
        ("m", out[1]),
        *((f"o{axis}", size) for axis, size in zip(axes, out[2:], strict=True)),
    ]
    return nested(loops, [start, *inner, f"y[{y_at}] = {finish};"])


def _conv(node: CNode) -> Source:
    x, w = node.given(0), node.given(3)
    w_zero = _zeros(node.maybe(5), w)
    multiplier = _multiplier(node.given(1), node.given(4), node.given(6)).reshape(-1)
    declared = [array("multiplier", multiplier), array("w_zero", w_zero),
                c_text.requantize(scalar(node.given(7)), node.outputs[0].dtype)]  # fmt: skip
    finish = f"requantize((int32_t)sum, {at('multiplier', multiplier, 'm')})"
    return declared, _conv_loops(node, x, scalar(node.maybe(2)), w, w_zero, finish)


def _conv_integer(node: CNode) -> Source:
    x, w = node.given(0), node.given(1)
    w_zero = _zeros(node.maybe(3), w)
    lines = _conv_loops(node, x, scalar(node.maybe(2)), w, w_zero, "(int32_t)sum")
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


def _product_loops(found: _Product, a_zero: str, b_zero: str, start: str, finish: str) -> list[str]:
    one = f"sum += (uint32_t)(((int32_t)a[{found.a}] - {a_zero}) * ((int32_t)b[{found.b}] - {b_zero}));"
    inner = nested([("k", found.depth)], [one], 0)
    y_at = index(["s", "i", "j"], [found.batch, found.rows, found.columns])
    loops = [("s", found.batch), ("i", found.rows), ("j", found.columns)]
    return nested(loops, [start, *inner, f"y[{y_at}] = {finish};"])


def _matmul(node: CNode) -> Source | None:
    found = _product(node.given(0), node.given(3))
    b_zero = _zeros(node.maybe(5), node.given(3))
    multiplier = _multiplier(node.given(1), node.given(4), node.given(6)).reshape(-1)
    if found is None:
        return None
    declared = [array("multiplier", multiplier), array("b_zero", b_zero),
                c_text.requantize(scalar(node.given(7)), node.outputs[0].dtype)]  # fmt: skip
    finish = f"requantize((int32_t)sum, {at('multiplier', multiplier, 'j')})"
    a_zero = str(scalar(node.maybe(2)))
    return declared, _product_loops(found, a_zero, at("b_zero", b_zero, "j"), "uint32_t sum = 0;", finish)


def _gemm(node: CNode) -> Source | None:
    a, b = node.given(0), node.given(3)
    found = _product(a, b, bool(node.attributes.get("transA")), bool(node.attributes.get("transB")))
    bias = node.maybe(6)
    if found is None or (bias is not None and bias.size not in (1, found.columns)):
        return None
    b_zero = _zeros(node.maybe(5), b)
    multiplier = (
        F32(node.attributes.get("alpha", 1.0)) * node.given(1).astype(F32) * node.given(4).astype(F32)
    )
    start = "uint32_t sum = 0;"
    if bias is not None:
        start = f"uint32_t sum = (uint32_t)bias[{'j' if bias.size > 1 else '0'}];"
    y_scale, y_zero = node.maybe(7), node.maybe(8)
    declared = [array("b_zero", b_zero)]
    if y_scale is None or y_zero is None:
        finish = f"(float)(int32_t)sum * {at('multiplier', multiplier, 'j')}"
    else:
        multiplier = multiplier / y_scale.astype(F32)
        declared.append(c_text.requantize(scalar(y_zero), node.outputs[0].dtype))
        finish = f"requantize((int32_t)sum, {at('multiplier', multiplier, 'j')})"
    declared.insert(0, array("multiplier", np.asarray(multiplier, F32)))
    a_zero = str(scalar(node.maybe(2)))
    return declared, _product_loops(found, a_zero, at("b_zero", b_zero, "j"), start, finish)


def _matmul_integer(node: CNode) -> Source | None:
    a, b = node.given(0), node.given(1)
    found = _product(a, b)
    if found is None:
        return None
    a_zero, b_zero = _zeros(node.maybe(2), a), _zeros(node.maybe(3), b)
    lines = _product_loops(
        found, at("a_zero", a_zero, "i"), at("b_zero", b_zero, "j"), "uint32_t sum = 0;", "(int32_t)sum"
    )
    return [array("a_zero", a_zero), array("b_zero", b_zero)], lines


def _binary(node: CNode, finish: str, declared: list[str]) -> Source:
    a, b, out = node.given(0), node.given(3), node.outputs[0].shape
    names = [f"i{axis}" for axis in range(len(out))]
    value = finish.replace("$a", f"a[{strided(names, a.shape)}]").replace(
        "$b", f"b[{strided(names, b.shape)}]"
    )
    return declared, nested(list(zip(names, out, strict=True)), [f"y[{index(names, out)}] = {value};"])


def _add(node: CNode) -> Source:
    a_scale, b_scale, y_scale = (F32(node.given(place).item()) for place in (1, 4, 6))
    ratio_a, ratio_b = a_scale / y_scale, b_scale / y_scale
    a_zero, b_zero, y_zero = (F32(scalar(node.maybe(place))) for place in (2, 5, 7))
    constant = F32(y_zero - fma(ratio_a, a_zero, ratio_b * b_zero))
    first, last = (
        ("a", "b")
        if elementwise.constant_side(node.given(0).shape, node.given(3).shape) == "a"
        else ("b", "a")
    )
    ratios = {"a": number(ratio_a), "b": number(ratio_b)}
    inner = f"fmaf((float)${first}, {ratios[first]}, {number(constant)})"
    finish = f"saturate(fmaf((float)${last}, {ratios[last]}, {inner}))"
    return _binary(node, finish, [c_text.saturate(node.outputs[0].dtype)])


def _mul(node: CNode) -> Source:
    ratio = F32(node.given(1).item()) * F32(node.given(4).item()) / F32(node.given(6).item())
    product = f"((int32_t)$a - {scalar(node.maybe(2))}) * ((int32_t)$b - {scalar(node.maybe(5))})"
    finish = f"saturate((float)({product}) * {number(ratio)} + {scalar(node.maybe(7))}.0f)"
    return _binary(node, finish, [c_text.saturate(node.outputs[0].dtype)])


def _global_average(node: CNode) -> Source:
    x = node.given(0)
    last = bool(node.attributes.get("channels_last", 0))
    channels = x.shape[-1] if last else x.shape[1]
    places = x.size // (x.shape[0] * channels)
    multiplier = F32(node.given(1).item()) / (F32(node.given(3).item()) * F32(places))
    where = (
        index(["n", "p", "c"], [x.shape[0], places, channels])
        if last
        else index(["n", "c", "p"], [x.shape[0], channels, places])
    )
    inner = nested([("p", places)], [f"sum += (uint32_t)((int32_t)x[{where}] - {scalar(node.maybe(2))});"], 0)
    finish = f"y[n * {channels} + c] = requantize((int32_t)sum, {number(multiplier)});"
    declared = [c_text.requantize(scalar(node.maybe(4)), node.outputs[0].dtype)]
    return declared, nested([("n", x.shape[0]), ("c", channels)], ["uint32_t sum = 0;", *inner, finish])


def _average(node: CNode) -> Source:
    x, out = node.given(0), node.outputs[0]
    last = bool(node.attributes.get("channels_last", 0))
    kernel = [int(one) for one in node.attributes["kernel_shape"]]
    rank = len(kernel)
    strides = [int(one) for one in node.attributes.get("strides") or [1] * rank]
    sizes = x.shape[1:-1] if last else x.shape[2:]
    out_sizes = out.shape[1:-1] if last else out.shape[2:]
    channels = x.shape[-1] if last else x.shape[1]
    pads = padding(sizes, tuple(kernel), strides, [1] * rank, node.attributes)
    axes = SPATIAL[:rank]
    places = [
        f"int {axis} = o{axis} * {stride} + k{axis} - {pad[0]};"
        for axis, stride, pad in zip(axes, strides, pads, strict=True)
    ]
    outside = " || ".join(f"{axis} < 0 || {axis} >= {size}" for axis, size in zip(axes, sizes, strict=True))
    order = ["n", *axes, "c"] if last else ["n", "c", *axes]
    out_order = (
        ["n", *(f"o{axis}" for axis in axes), "c"] if last else ["n", "c", *(f"o{axis}" for axis in axes)]
    )
    place, scale = index(order, x.shape), number(node.given(1).item())
    value = f"(float)((int32_t)x[{place}] - {scalar(node.maybe(2))}) * {scale}"
    whole = bool(node.attributes.get("count_include_pad", 0))
    body = [*places, f"if ({outside}) continue;", f"sum += {value};", *([] if whole else ["count++;"])]
    inner = nested([(f"k{axis}", size) for axis, size in zip(axes, kernel, strict=True)], body, 0)
    count = str(int(np.prod(kernel))) if whole else "0"
    finish = (
        f"y[{index(out_order, out.shape)}] = "
        f"saturate(sum / (float)count / {number(node.given(3).item())} + {scalar(node.maybe(4))}.0f);"
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
        x = node.given(0)
        entries = elementwise.looked_up(
            function, codes(x.dtype), node.given(1), node.maybe(2), node.given(3), node.maybe(4)
        )
        return [array("table", entries)], nested([("i", x.size)], ["y[i] = table[(uint8_t)x[i]];"])

    return source


def _leaky_relu(node: CNode) -> Source:
    return _table(elementwise.leaky_relu(float(node.attributes.get("alpha", 0.01))))(node)


def _concat(node: CNode) -> Source:
    y_scale, y_zero, out = node.given(0), node.maybe(1), node.outputs[0]
    axis = int(node.attributes["axis"]) % out.ndim
    outer, inner = int(np.prod(out.shape[:axis])), int(np.prod(out.shape[axis + 1 :]))
    declared, lines, before = [], [], 0
    for number_, place in enumerate(range(2, len(node.inputs), 3)):
        x, scale, zero = node.given(place), node.given(place + 1), node.maybe(place + 2)
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
    x, out = node.given(0), node.outputs[0]
    opset = int(node.attributes["opset"])
    axis = int(node.attributes.get("axis", 1 if opset < 13 else -1)) % x.ndim
    count = int(np.prod(x.shape[axis:])) if opset < 13 else x.shape[axis]
    inner = 1 if opset < 13 else int(np.prod(x.shape[axis + 1 :]))
    entries, steps = elementwise.softmax_table(node.given(1), node.given(3), count)
    kind, zero = c_text.TYPES[out.dtype.name], scalar(node.maybe(4))
    low, top = limits(out.dtype)
    lost = "INT32_MIN" if low < 0 else "0"
    where = f"(o * {count} + k) * {inner} + i"
    find = nested([("k", count)], [f"if (x[{where}] > most) most = x[{where}];"], 0)
    add = nested([("k", count)], [f"sum += exponential[255 + x[{where}] - most];"], 0)
    give = nested([("k", count)], [
        f"float value = nearbyintf(exponential[255 + x[{where}] - most] * {number(steps)} / sum);",
        f"int64_t code = (isfinite(value) ? (int64_t)value : {lost}) + {zero};",
        "code = (int32_t)(uint32_t)code;",
        f"y[{where}] = ({kind})(code < {low} ? {low} : code > {top} ? {top} : code);",
    ], 0)  # fmt: skip
    body = [f"int most = x[o * {count * inner} + i];", *find, "float sum = 0.0f;", *add, *give]
    return [array("exponential", entries)], nested([("o", x.size // (count * inner)), ("i", inner)], body)


def _linear(node: CNode, x: Array) -> tuple[list[str], str, str] | None:
    """Return declarations of scales and zero points, and how element i reads them."""
    if node.attributes.get("block_size"):
        return None
    scale, zero = np.asarray(node.given(1), F32).reshape(-1), node.maybe(2)
    zeros = np.zeros(1, np.int32) if zero is None else np.asarray(zero).reshape(-1)
    axis = int(node.attributes.get("axis", 1)) % max(x.ndim, 1)
    channel = f"i / {int(np.prod(x.shape[axis + 1 :]))} % {x.shape[axis]}" if scale.size > 1 else "0"
    declared = [array("scale", scale), array("zero_point", zeros)]
    return declared, at("scale", scale, channel), at("zero_point", zeros, channel)


def _quantize(node: CNode) -> Source | None:
    x, out = node.given(0), node.outputs[0]
    read = _linear(node, x)
    if read is None or x.dtype != np.float32:
        return None
    declared, scale, zero = read
    value = f"saturate(nearbyintf(x[i] / {scale}) + (float){zero})"
    return [*declared, c_text.saturate(out.dtype)], nested([("i", x.size)], [f"y[i] = {value};"])


def _dequantize(node: CNode) -> Source | None:
    x = node.given(0)
    read = _linear(node, x)
    if read is None or node.outputs[0].dtype != np.float32:
        return None
    declared, scale, zero = read
    value = f"(float)((int64_t)x[i] - {zero}) * {scale}"
    return declared, nested([("i", x.size)], [f"y[i] = {value};"])


def _dynamic(node: CNode) -> Source:
    x = node.given(0)
    find = nested([("i", x.size)], ["if (x[i] < least) least = x[i];", "if (x[i] > most) most = x[i];"])
    give = nested([("i", x.size)], ["y[i] = saturate(nearbyintf(x[i] / scale) + zero);"])
    lines = ["    float least = 0.0f, most = 0.0f;", *find,
             "    float scale = least == most ? 1.0f : (most - least) / 255.0f;",
             "    float zero = 0.0f - least / scale;",
             "    zero = nearbyintf(zero < 0.0f ? 0.0f : zero > 255.0f ? 255.0f : zero);",
             *give, "    *y_scale = scale;", "    *y_zero_point = (uint8_t)zero;"]  # fmt: skip
    return [c_text.saturate(np.dtype(np.uint8))], lines


_OPERATORS: Final[dict[str, Callable[[CNode], Source | None]]] = {
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "QGemm": _gemm,
    "ConvInteger": _conv_integer,
    "MatMulInteger": _matmul_integer,
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
}
