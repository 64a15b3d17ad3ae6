"""Quantization."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from py_autodoc.to_torch.runtime.convolution import onnx_centered, onnx_conv_integer


def onnx_per_axis(scale: torch.Tensor, x: torch.Tensor, axis: int | None, block: int | None) -> torch.Tensor:
    """Reshape a scale or zero point to broadcast with ``x``."""
    if block and axis is not None:
        return scale.repeat_interleave(block, axis).narrow(axis, 0, x.shape[axis])
    if axis is None or scale.numel() == 1:
        return scale.reshape(()) if scale.numel() == 1 else scale
    shape = [1] * x.dim()
    shape[axis] = -1
    return scale.reshape(shape)


def onnx_quantize(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    low: int,
    high: int,
    dtype: torch.dtype,
    axis: int | None = None,
    block: int | None = None,
) -> torch.Tensor:
    """Divide by the scale, round half to even, add the zero point and clip."""
    result = torch.round(x / onnx_per_axis(scale, x, axis, block).to(x.dtype))
    if zero_point is not None:
        result = result + onnx_per_axis(zero_point.to(torch.float32), x, axis, block)
    return result.clamp(low, high).to(dtype)


def onnx_dequantize(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    axis: int | None = None,
    block: int | None = None,
) -> torch.Tensor:
    """Subtract the zero point and multiply by the scale."""
    wide = x.to(torch.int32)
    if zero_point is not None:
        wide = wide - onnx_per_axis(zero_point.to(torch.int32), x, axis, block)
    return wide.to(scale.dtype) * onnx_per_axis(scale, x, axis, block)


def onnx_dynamic_quantize(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Quantize to uint8 with a scale computed from the values; also return the scale and the zero point."""
    low, high = x.min().clamp(max=0), x.max().clamp(min=0)
    scale = (high - low) / 255
    zero_point = torch.round((0 - low) / scale).clamp(0, 255)
    result = (torch.round(x / scale) + zero_point).clamp(0, 255)
    return result.to(torch.uint8), scale, zero_point.to(torch.uint8)


def onnx_matmul_integer(
    a: torch.Tensor, b: torch.Tensor, a_zero: torch.Tensor | None, b_zero: torch.Tensor | None
) -> torch.Tensor:
    """Return the exact integer product; zero points may differ by row of ``a`` and column of ``b``."""
    if a_zero is not None and a_zero.dim() == 1 and a_zero.numel() > 1:
        a_zero = a_zero[:, None]
    product = onnx_centered(a, a_zero) @ onnx_centered(b, b_zero)
    return product.round().to(torch.int32)


def onnx_requantize(
    total: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    low: int,
    high: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Multiply an integer sum by a scale and quantize it."""
    result = torch.round(total.to(torch.float32) * scale) + zero_point.to(torch.float32)
    return result.clamp(low, high).to(dtype)


def onnx_qlinear_matmul(
    a: torch.Tensor,
    a_scale: torch.Tensor,
    a_zero: torch.Tensor,
    b: torch.Tensor,
    b_scale: torch.Tensor,
    b_zero: torch.Tensor,
    y_scale: torch.Tensor,
    y_zero: torch.Tensor,
    low: int,
    high: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Return the exact integer product, rescaled."""
    total = onnx_matmul_integer(a, b, a_zero, b_zero)
    if a_scale.dim() == 1 and a_scale.numel() > 1:
        a_scale = a_scale[:, None]
    scale = a_scale.to(torch.float32) * b_scale.to(torch.float32) / y_scale.to(torch.float32)
    return onnx_requantize(total, scale, y_zero, low, high, dtype)


def onnx_qlinear_conv(
    x: torch.Tensor,
    x_scale: torch.Tensor,
    weight: torch.Tensor,
    weight_scale: torch.Tensor,
    weight_zero: torch.Tensor,
    y_scale: torch.Tensor,
    y_zero: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    low: int,
    high: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Return the exact integer convolution, rescaled; ``x`` has been centred."""
    total = onnx_conv_integer(x, weight, weight_zero, stride, padding, dilation, groups)
    shape = (-1, *([1] * (x.dim() - 2)))
    if bias is not None:
        total = total + bias.reshape(shape)
    scale = x_scale * weight_scale / y_scale
    return onnx_requantize(total, scale.reshape(shape) if scale.dim() else scale, y_zero, low, high, dtype)


def onnx_qgemm(
    a: torch.Tensor,
    a_scale: torch.Tensor,
    a_zero: torch.Tensor,
    b: torch.Tensor,
    b_scale: torch.Tensor,
    b_zero: torch.Tensor,
    bias: torch.Tensor | None,
    y_scale: torch.Tensor,
    y_zero: torch.Tensor,
    low: int,
    high: int,
    dtype: torch.dtype,
    flip_a: bool = False,
    flip_b: bool = False,
    alpha: float = 1.0,
) -> torch.Tensor:
    """Return the exact integer product plus a bias, rescaled."""
    left = onnx_centered(a, a_zero)
    right = b.transpose(0, 1) if flip_b else b
    total = ((left.transpose(0, 1) if flip_a else left) @ onnx_centered(right, b_zero)).round()
    if bias is not None:
        total = total + bias
    return onnx_requantize(total, alpha * a_scale * b_scale / y_scale, y_zero, low, high, dtype)


def onnx_unpack_bits(packed: torch.Tensor, bits: int) -> torch.Tensor:
    """Return the codes in rows of bytes, those in the lowest bits first."""
    shifts = torch.arange(0, 8, bits, dtype=torch.uint8, device=packed.device)
    return ((packed.unsqueeze(-1) >> shifts) & ((1 << bits) - 1)).reshape(packed.shape[0], -1)


def onnx_matmul_nbits(
    x: torch.Tensor,
    packed: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor | None,
    bias: torch.Tensor | None,
    rows: int,
    columns: int,
    bits: int,
    block: int,
) -> torch.Tensor:
    """Return ``x @ weight.T`` with the weight ``(code - zero) * scale``, with both for each block."""
    blocks = -(-columns // block)
    codes = onnx_unpack_bits(packed.reshape(rows, -1), bits)[:, :columns].to(scales.dtype)
    if zeros is None:
        codes = codes - (1 << (bits - 1))
    else:
        unpacked = onnx_unpack_bits(zeros.reshape(rows, -1), bits) if zeros.dtype == torch.uint8 else zeros
        points = unpacked.reshape(rows, -1)[:, :blocks].to(scales.dtype)
        codes = codes - points.repeat_interleave(block, 1)[:, :columns]
    weight = codes * scales.reshape(rows, blocks).repeat_interleave(block, 1)[:, :columns]
    result = x @ weight.to(x.dtype).transpose(0, 1)
    return result if bias is None else result + bias
