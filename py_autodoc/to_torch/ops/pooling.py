"""Pooling."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered, sequence
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.ops.convolution import Sizes, unwrap_equal
from py_autodoc.to_torch.registry import rule


def _sizes(op: OpContext) -> tuple[Sizes, Sizes, Sizes, Sizes, str]:
    """Return (kernel, stride, dilation, pads, auto_pad)."""
    kernel = tuple(op.attr("kernel_shape"))
    rank = len(kernel)
    auto = op.auto_pad()
    pads = tuple(op.attr("pads", (0,) * (2 * rank))) if auto == "NOTSET" else (0,) * (2 * rank)
    defaults = (1,) * rank
    return kernel, tuple(op.attr("strides", defaults)), tuple(op.attr("dilations", defaults)), pads, auto


def _fits(kernel: Sizes, dilation: Sizes, pads: Sizes, auto: str) -> bool:
    """True if torch's pooling supports the padding."""
    rank = len(kernel)
    half = all(2 * pad <= (k - 1) * d + 1 for pad, k, d in zip(pads, kernel, dilation, strict=False))
    return rank in (1, 2, 3) and pads[:rank] == pads[rank:] and half and auto in ("NOTSET", "VALID")


def _settings(stride: Sizes, kernel: Sizes, pads: Sizes, dilation: Sizes, ceil: bool) -> str:
    parts = [str(unwrap_equal(kernel))]
    if stride != kernel:
        parts.append(f"stride={unwrap_equal(stride)}")
    if any(pads):
        parts.append(f"padding={unwrap_equal(pads[: len(kernel)])}")
    if set(dilation) != {1}:
        parts.append(f"dilation={unwrap_equal(dilation)}")
    return ", ".join(parts + (["ceil_mode=True"] if ceil else []))


@rule("MaxPool")
def largest(op: OpContext) -> None:
    """``F.max_pool2d`` if its padding fits."""
    kernel, stride, dilation, pads, auto = _sizes(op)
    ceil, rank = bool(op.attr("ceil_mode", 0)), len(kernel)
    if op.has_out(1):
        if op.attr("storage_order", 0):
            raise NotCovered("column-major indices")
        helper = op.call(
            "onnx_max_pool_indices", op.t(0), *map(list, (kernel, stride, dilation, pads)), f'"{auto}"', ceil
        )
        op.outs(helper)
    elif _fits(kernel, dilation, pads, auto) and op.dtype(0) in (1, 10, 11):
        op.out(f"F.max_pool{rank}d({op.t(0)}, {_settings(stride, kernel, pads, dilation, ceil)})")
    else:
        lists = (sequence(values, "[]") for values in (kernel, stride, dilation, pads))
        op.out(op.call("onnx_pool", '"max"', op.t(0), *lists, f'"{auto}"', ceil=ceil))


@rule("AveragePool")
def average(op: OpContext) -> None:
    """``F.avg_pool2d`` if its padding fits."""
    kernel, stride, dilation, pads, auto = _sizes(op)
    ceil, include = bool(op.attr("ceil_mode", 0)), bool(op.attr("count_include_pad", 0))
    rank = len(kernel)
    simple = _fits(kernel, dilation, pads, auto) and set(dilation) == {1} and op.is_float(0)
    if (
        simple
        and all(2 * pad <= k for pad, k in zip(pads, kernel, strict=False))
        and not (ceil and any(pads))
    ):
        settings = _settings(stride, kernel, pads, dilation, ceil)
        more = "" if include or not any(pads) else ", count_include_pad=False"
        op.out(f"F.avg_pool{rank}d({op.t(0)}, {settings}{more})")
        return
    lists = (sequence(values, "[]") for values in (kernel, stride, dilation, pads))
    op.out(op.call("onnx_pool", '"average"', op.t(0), *lists, f'"{auto}"', ceil=ceil, include_pad=include))


@rule("LpPool")
def norm(op: OpContext) -> None:
    """Norm of each window."""
    kernel, stride, dilation, pads, auto = _sizes(op)
    lists = (sequence(values, "[]") for values in (kernel, stride, dilation, pads))
    ceil, p = bool(op.attr("ceil_mode", 0)), op.attr("p", 2)
    op.out(op.call("onnx_pool", '"norm"', op.t(0), *lists, f'"{auto}"', ceil=ceil, p=p))


@rule("MaxUnpool")
def unpool(op: OpContext) -> None:
    """Writes maxima back to their original positions."""
    kernel, stride, _, pads, _ = _sizes(op)
    shape = op.ints_code(2) if op.has(2) else "None"
    op.out(op.call("onnx_max_unpool", op.t(0), op.t(1), list(kernel), list(stride), list(pads), shape))
