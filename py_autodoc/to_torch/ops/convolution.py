"""Convolutions."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered, sequence
from py_autodoc.to_torch.dtypes import FLOATS
from py_autodoc.to_torch.module import ModuleWeight
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule

Sizes = tuple[int, ...]


def unwrap_equal(values: Sizes) -> object:
    """Return ``3`` for ``(3, 3)``."""
    return values[0] if len(set(values)) == 1 else sequence(values)


def paddings(op: OpContext, kernel: Sizes, stride: Sizes, dilation: Sizes) -> tuple[str, Sizes | None]:
    """Return (input, symmetric padding); the input is padded beforehand if torch cannot do it.

    The padding is None if it depends on the size of the input and a runtime function adds it.
    """
    auto, rank = op.auto_pad(), len(kernel)
    pads = tuple(op.attr("pads", (0,) * (2 * rank))) if auto in ("NOTSET", "") else (0,) * (2 * rank)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        lists = (sequence(values, "[]") for values in (kernel, stride, dilation))
        return op.call("onnx_same_pad", op.t(0), *lists, lower=auto == "SAME_LOWER"), None
    if auto not in ("NOTSET", "", "VALID") or len(pads) != 2 * rank:
        raise NotCovered(f"auto_pad {auto}")
    if pads[:rank] == pads[rank:] and min(pads, default=0) >= 0:
        return op.t(0), pads[:rank]
    order = [item for n in reversed(range(rank)) for item in (pads[n], pads[n + rank])]
    return f"F.pad({op.t(0)}, {sequence(order)})", (0,) * rank


@rule("Conv")
def conv(op: OpContext) -> None:
    """nn.Conv2d, or ``F.conv2d`` if the weight is computed."""
    kernel = kernel_of(op)
    rank = len(kernel)
    if rank not in (1, 2, 3):
        raise NotCovered(f"{rank} spatial dimensions")
    stride, dilation = tuple(op.attr("strides", (1,) * rank)), tuple(op.attr("dilations", (1,) * rank))
    group = op.attr("group", 1)
    x, padding = paddings(op, kernel, stride, dilation)
    padding = padding or (0,) * rank
    settings: dict[str, object] = {}
    for name, values, default in (("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1)):
        if set(values) != {default}:
            settings[name] = unwrap_equal(values)
    if group != 1:
        settings["groups"] = group
    if _fixed_weights(op):
        out, into = op.dims(1)[:2]
        sizes: dict[str, object] = {"_in_channels": into * group, "_out_channels": out}
        sizes["kernel_size"] = unwrap_equal(kernel)
        if not op.has(2):
            settings["bias"] = False
        weights = {"weight": op.weight(1)} | ({"bias": op.weight(2)} if op.has(2) else {})
        layer = op.layer(f"Conv{rank}d", {**sizes, **settings}, weights, "conv")
        op.out(f"{layer}({x})")
        return
    bias = f", {op.t(2)}" if op.has(2) else ""
    more = "".join(f", {key}={value}" for key, value in settings.items())
    op.out(f"F.conv{rank}d({x}, {op.t(1)}{bias}{more})")


def _fixed_weights(op: OpContext) -> bool:
    fixed = op.constant(1) is not None and op.dtype(1) in FLOATS
    return fixed and (not op.has(2) or (op.constant(2) is not None and len(op.dims(2)) == 1))


def kernel_of(op: OpContext, weight: int = 1) -> Sizes:
    """Return the kernel size. Raises: NotCovered if the shape of the weight is unknown."""
    if op.constant(weight) is not None:
        return op.dims(weight)[2:]
    shape = op.writer.source.types.shapes[op.node.inputs[weight]]
    declared = op.attr("kernel_shape", None)
    if declared is None and (shape is None or not all(isinstance(size, int) for size in shape[2:])):
        raise NotCovered("a kernel of unknown size")
    return (
        tuple(declared)
        if declared is not None
        else tuple(int(size) for size in (shape or ())[2:] if size is not None)
    )


@rule("ConvTranspose")
def transpose(op: OpContext) -> None:
    """nn.ConvTranspose2d if its padding fits, else a crop of the full result."""
    kernel = kernel_of(op)
    rank = len(kernel)
    if rank not in (1, 2, 3):
        raise NotCovered(f"{rank} spatial dimensions")
    stride, dilation = tuple(op.attr("strides", (1,) * rank)), tuple(op.attr("dilations", (1,) * rank))
    more = tuple(op.attr("output_padding", (0,) * rank))
    group, auto = op.attr("group", 1), op.auto_pad()
    pads = tuple(op.attr("pads", (0,) * (2 * rank)))
    settings: dict[str, object] = {}
    odd = (
        auto in ("SAME_UPPER", "SAME_LOWER")
        or "output_shape" in op.node.attributes
        or pads[:rank] != pads[rank:]
    )
    odd = odd or any(a >= max(s, d) for a, s, d in zip(more, stride, dilation, strict=True)) or min(pads) < 0
    columns = [("stride", stride, 1), ("dilation", dilation, 1)]
    if not odd:
        columns[1:1] = [("padding", pads[:rank], 0), ("output_padding", more, 0)]
    for name, values, default in columns:
        if set(values) != {default}:
            settings[name] = unwrap_equal(values)
    if group != 1:
        settings["groups"] = group
    if odd:
        _cropped(op, rank, settings, (kernel, stride, dilation, more, pads))
        return
    if _fixed_weights(op):
        into, out = op.dims(1)[:2]
        sizes: dict[str, object] = {"_in_channels": into, "_out_channels": out * group}
        sizes["kernel_size"] = unwrap_equal(kernel)
        if not op.has(2):
            settings["bias"] = False
        weights: dict[str, ModuleWeight] = {"weight": op.weight(1)} | (
            {"bias": op.weight(2)} if op.has(2) else {}
        )
        op.out(f"{op.layer(f'ConvTranspose{rank}d', {**sizes, **settings}, weights, 'deconv')}({op.t(0)})")
        return
    bias = f", {op.t(2)}" if op.has(2) else ""
    keywords = "".join(f", {key}={value}" for key, value in settings.items())
    op.out(f"F.conv_transpose{rank}d({op.t(0)}, {op.t(1)}{bias}{keywords})")


def _cropped(op: OpContext, rank: int, settings: dict[str, object], sizes: tuple[Sizes, ...]) -> None:
    kernel, stride, dilation, more, pads = sizes
    auto = op.auto_pad()
    keywords = "".join(f", {key}={value}" for key, value in settings.items())
    full = op.keep(f"F.conv_transpose{rank}d({op.t(0)}, {op.t(1)}{keywords})")
    shape = op.attr("output_shape", None)
    named: dict[str, object] = {}
    if shape is not None:
        named["shape"] = list(shape)[-rank:]
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        named["shape"] = f"[size * step for size, step in zip({op.v(0)}.shape[2:], {list(stride)})]"
    if auto == "SAME_LOWER" or (shape is not None and auto != "SAME_UPPER"):
        named["lower"] = True
    arguments = list(pads), list(more)
    bias = op.t(2) if op.has(2) else None
    op.out(op.call("onnx_crop_transposed", full, *arguments, bias=bias, **named))
    del kernel, dilation


@rule("ConvInteger")
def integer(op: OpContext) -> None:
    """Exact integer convolution."""
    kernel = kernel_of(op)
    rank = len(kernel)
    stride, dilation = tuple(op.attr("strides", (1,) * rank)), tuple(op.attr("dilations", (1,) * rank))
    x, padding = centered(op, kernel, stride, dilation)
    arguments = [x, op.t(1), op.optional(3), list(stride), list(padding), list(dilation), op.attr("group", 1)]
    op.out(op.call("onnx_conv_integer", *arguments))


def centered(op: OpContext, kernel: Sizes, stride: Sizes, dilation: Sizes) -> tuple[str, Sizes]:
    """Subtract the zero point from the input and return it with its padding, which is zero after that."""
    zero = op.t(2) if op.has(2) else "None"
    x = op.keep(op.call("onnx_centered", op.t(0), zero))
    rank = len(kernel)
    auto = op.auto_pad()
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        lists = (sequence(values, "[]") for values in (kernel, stride, dilation))
        return op.call("onnx_same_pad", x, *lists, lower=auto == "SAME_LOWER"), (0,) * rank
    pads = tuple(op.attr("pads", (0,) * (2 * rank)))
    if pads[:rank] == pads[rank:]:
        return x, pads[:rank]
    order = [item for n in reversed(range(rank)) for item in (pads[n], pads[n + rank])]
    return f"F.pad({x}, {sequence(order)})", (0,) * rank


@rule("DeformConv")
def deformed(op: OpContext) -> None:
    """Convolution with sampling positions moved by another input."""
    kernel = kernel_of(op)
    if len(kernel) != 2:
        raise NotCovered("not two spatial dimensions")
    stride, dilation = tuple(op.attr("strides", (1, 1))), tuple(op.attr("dilations", (1, 1)))
    pads = list(op.attr("pads", (0, 0, 0, 0)))
    tensors = [op.t(0), op.t(1), op.t(2), op.optional(3), op.optional(4)]
    settings = [list(stride), pads, list(dilation), op.attr("group", 1), op.attr("offset_group", 1)]
    op.out(op.call("onnx_deform_conv", *tensors, *settings))
