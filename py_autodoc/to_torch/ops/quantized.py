"""Quantization, dequantization and quantized operators."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered
from py_autodoc.to_torch.dtypes import RANGES
from py_autodoc.to_torch.op import OpContext, fl
from py_autodoc.to_torch.ops.convolution import centered, kernel_of
from py_autodoc.to_torch.registry import rule


def _axis(op: OpContext) -> int | None:
    """Return the axis of per-channel scales; None for a single scale."""
    rank = op.rank(1)
    if rank is None:
        raise NotCovered("a scale of unknown rank")
    if rank == 0 or (op.constant(1) is not None and op.dims(1) == (1,)):
        return None
    return int(op.attr("axis", 1))


@rule("QuantizeLinear")
@rule("QuantizeLinear", domain="com.microsoft")
def quantize(op: OpContext) -> None:
    """Divide by the scale, round half to even, add the zero point and clip."""
    target = op.dtype(2) if op.has(2) else op.attr("output_dtype", 0) or 2
    if target in (17, 18, 19, 20):
        raise NotCovered("8-bit floats")
    if target not in RANGES:
        raise NotCovered("the quantized type")
    low, high = RANGES[target]
    zero = op.t(2) if op.has(2) else "None"
    arguments = [op.t(0), op.t(1), zero, low, high, op.torch_dtype(target)]
    block = op.attr("block_size", 0) or None
    op.out(
        op.call("onnx_quantize", *arguments, axis=_axis(op) if not block else op.attr("axis", 1), block=block)
    )


@rule("DequantizeLinear")
@rule("DequantizeLinear", domain="com.microsoft")
def dequantize(op: OpContext) -> None:
    """Subtract the zero point and multiply by the scale."""
    if op.dtype(0) in (17, 18, 19, 20, 23):
        raise NotCovered("8-bit or 4-bit floats")
    zero = op.t(2) if op.has(2) else "None"
    block = op.attr("block_size", 0) or None
    axis = _axis(op) if not block else op.attr("axis", 1)
    op.out(op.call("onnx_dequantize", op.t(0), op.t(1), zero, axis=axis, block=block))


@rule("DynamicQuantizeLinear")
def dynamic(op: OpContext) -> None:
    """Quantize with a scale computed from the values."""
    op.outs(op.call("onnx_dynamic_quantize", op.t(0)))


def _range(op: OpContext, index: int) -> list[object]:
    """Return (low, high, type) of a result whose zero point is an input."""
    dtype = op.dtype(index)
    if dtype not in RANGES:
        raise NotCovered("an output of unknown type")
    return [*RANGES[dtype], op.torch_dtype(dtype)]


@rule("QLinearMatMul")
def matmul(op: OpContext) -> None:
    """Exact integer product, rescaled."""
    op.out(op.call("onnx_qlinear_matmul", *(op.t(n) for n in range(8)), *_range(op, 7)))


@rule("QLinearConv")
def conv(op: OpContext) -> None:
    """Exact integer convolution, rescaled."""
    kernel = kernel_of(op, 3)
    rank = len(kernel)
    stride, dilation = tuple(op.attr("strides", (1,) * rank)), tuple(op.attr("dilations", (1,) * rank))
    x, padding = centered(op, kernel, stride, dilation)
    tensors = [x, op.t(1), op.t(3), op.t(4), op.t(5), op.t(6), op.t(7), op.optional(8)]
    settings = [list(stride), list(padding), list(dilation), op.attr("group", 1)]
    op.out(op.call("onnx_qlinear_conv", *tensors, *settings, *_range(op, 7)))


@rule("MatMulNBits", domain="com.microsoft")
def block_product(op: OpContext) -> None:
    """Float product with weights of few bits in blocks."""
    bits = int(op.attr("bits", 4))
    if op.has(4) or bits not in (2, 4, 8):
        raise NotCovered("reordered weights, or weights of unusual bits")
    sizes = [int(op.attr("N")), int(op.attr("K")), bits, int(op.attr("block_size"))]
    tensors = [op.t(0), op.t(1), op.t(2), op.optional(3), op.optional(5)]
    op.out(op.call("onnx_matmul_nbits", *tensors, *sizes))


@rule("QLinearAdd", "QLinearMul", domain="com.microsoft")
def pointwise(op: OpContext) -> None:
    """Elementwise operation in floats, requantized."""
    symbol = {"QLinearAdd": "+", "QLinearMul": "*"}[op.node.op_type]
    first = op.keep(op.call("onnx_dequantize", op.t(0), op.t(1), op.optional(2)), "first")
    second = op.keep(op.call("onnx_dequantize", op.t(3), op.t(4), op.optional(5)), "second")
    _requantized(op, f"{first} {symbol} {second}", 6, 7, 0)


def _requantized(op: OpContext, code: str, scale: int, zero: int, like: int) -> None:
    dtype = op.dtype(zero) if op.has(zero) else op.dtype(like)
    if dtype not in RANGES:
        raise NotCovered("an output of unknown type")
    low, high = RANGES[dtype]
    point = op.t(zero) if op.has(zero) else "None"
    op.out(op.call("onnx_quantize", code, op.t(scale), point, low, high, op.torch_dtype(dtype)))


@rule("QLinearAveragePool", domain="com.microsoft")
def average(op: OpContext) -> None:
    """Average of each window, requantized."""
    if op.attr("channels_last", 0):
        raise NotCovered("channels last")
    kernel = list(op.attr("kernel_shape"))
    rank = len(kernel)
    x = op.call("onnx_dequantize", op.t(0), op.t(1), op.optional(2))
    lists = [kernel, list(op.attr("strides", [1] * rank)), [1] * rank, list(op.attr("pads", [0] * 2 * rank))]
    auto = op.auto_pad()
    if auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise NotCovered(f"auto_pad {auto}")
    flags = {"ceil": bool(op.attr("ceil_mode", 0)), "include_pad": bool(op.attr("count_include_pad", 0))}
    _requantized(op, op.call("onnx_pool", '"average"', x, *lists, f'"{auto}"', **flags), 3, 4, 0)


@rule("QLinearGlobalAveragePool", domain="com.microsoft")
def global_average(op: OpContext) -> None:
    """Average of each channel, requantized."""
    rank = op.rank(0)
    if rank is None or op.attr("channels_last", 0):
        raise NotCovered("channels last, or an unknown rank")
    axes = tuple(range(2, rank))
    x = op.call("onnx_dequantize", op.t(0), op.t(1), op.optional(2))
    _requantized(op, f"{x}.mean({axes}, keepdim=True)", 3, 4, 0)


@rule("QLinearSoftmax", domain="com.microsoft")
def softmax(op: OpContext) -> None:
    """Softmax in floats, requantized."""
    if int(op.attr("opset", 13)) < 13 and op.attr("axis", -1) not in (-1, (op.rank(0) or 0) - 1):
        raise NotCovered("several axes at once")
    x = op.call("onnx_dequantize", op.t(0), op.t(1), op.optional(2))
    _requantized(op, f"torch.softmax({x}, dim={op.attr('axis', -1)})", 3, 4, 0)


@rule("QLinearSigmoid", "QLinearLeakyRelu", domain="com.microsoft")
def activation(op: OpContext) -> None:
    """Activation in floats, requantized."""
    x = op.call("onnx_dequantize", op.t(0), op.t(1), op.optional(2))
    alpha = fl(op.attr("alpha", 0.01))
    code = f"torch.sigmoid({x})" if op.node.op_type == "QLinearSigmoid" else f"F.leaky_relu({x}, {alpha})"
    _requantized(op, code, 3, 4, 0)


@rule("QLinearConcat", domain="com.microsoft")
def concat(op: OpContext) -> None:
    """Concatenation in floats, requantized."""
    parts = [
        op.call("onnx_dequantize", op.t(n), op.t(n + 1), op.optional(n + 2)) for n in range(2, op.count, 3)
    ]
    _requantized(op, f"torch.cat([{', '.join(parts)}], dim={op.attr('axis')})", 0, 1, 2)


@rule("QGemm", domain="com.microsoft")
def gemm(op: OpContext) -> None:
    """Exact integer product, rescaled."""
    if not op.has(7):
        raise NotCovered("a float output")
    named = {"flip_a": bool(op.attr("transA", 0)), "flip_b": bool(op.attr("transB", 0))}
    alpha = op.attr("alpha", 1.0)
    tensors = [op.optional(n) for n in range(9)]
    code = op.call("onnx_qgemm", *tensors, *_range(op, 8), **named, alpha=None if alpha == 1.0 else fl(alpha))
    op.out(code)
