"""Convolutions and windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F


def onnx_same_pad(
    x: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    lower: bool = False,
    value: float = 0,
) -> torch.Tensor:
    """Pad to as many results as strides fit; an odd pad goes to the end, or to the start with ``lower``."""
    order: list[int] = []
    for size, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True):
        count = -(-size // s)
        more = max((count - 1) * s + (k - 1) * d + 1 - size, 0)
        before = -(-more // 2) if lower else more // 2
        order = [before, more - before, *order]
    return F.pad(x, order, value=value)


def onnx_crop_transposed(
    x: torch.Tensor,
    pads: Sequence[int],
    more: Sequence[int],
    bias: torch.Tensor | None = None,
    shape: Sequence[int] | None = None,
    lower: bool = False,
) -> torch.Tensor:
    """Crop the full result of a transposed convolution by ``pads`` or to ``shape``."""
    rank = len(more)
    for axis in range(rank):
        before, after = pads[axis], pads[axis + rank]
        if shape is not None:
            total = x.shape[axis + 2] + more[axis] - shape[axis]
            before = total - total // 2 if lower else total // 2
            after = total - before
        order = [0, 0] * (rank - 1 - axis) + [-before, more[axis] - after]
        x = F.pad(x, order)
    return x if bias is None else x + bias.reshape(-1, *([1] * rank))


def onnx_centered(x: torch.Tensor, zero_point: torch.Tensor | None) -> torch.Tensor:
    """Subtract the zero point from integers and return floats that hold them exactly."""
    wide = x.to(torch.float64)
    return wide if zero_point is None else wide - zero_point.to(torch.float64)


def onnx_conv_integer(
    x: torch.Tensor,
    weight: torch.Tensor,
    zero_point: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """Convolve integers; ``x`` has been centred."""
    if zero_point is not None and zero_point.dim():
        zero_point = zero_point.reshape(-1, *([1] * (weight.dim() - 1)))
    conv: Any = (F.conv1d, F.conv2d, F.conv3d)[x.dim() - 3]
    settings = [list(stride), list(padding), list(dilation), groups]
    result: torch.Tensor = conv(x, onnx_centered(weight, zero_point), None, *settings)
    return result.round().to(torch.int32)


def onnx_windows(
    x: torch.Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> torch.Tensor:
    """Return all windows: the spatial axes count them, and the last axis holds the elements of each."""
    for axis, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        x = x.unfold(axis + 2, (k - 1) * d + 1, s)[..., ::d]
    return x.flatten(-len(kernel))


def onnx_deform_conv(
    x: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    bias: torch.Tensor | None,
    mask: torch.Tensor | None,
    stride: Sequence[int],
    pads: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    offset_groups: int,
) -> torch.Tensor:
    """Convolve in two dimensions with moved sampling positions, bilinear interpolation and zeros outside."""
    n, c, h, w = x.shape
    kh, kw = weight.shape[2:]
    oh, ow = offset.shape[2:]
    moved = offset.reshape(n, offset_groups, kh * kw, 2, oh, ow)
    kernel_y, kernel_x = torch.meshgrid(torch.arange(kh), torch.arange(kw), indexing="ij")
    rows = torch.arange(oh).reshape(1, oh, 1) * stride[0] - pads[0]
    columns = torch.arange(ow).reshape(1, 1, ow) * stride[1] - pads[1]
    y = moved[:, :, :, 0] + rows + kernel_y.reshape(-1, 1, 1) * dilation[0]
    z = moved[:, :, :, 1] + columns + kernel_x.reshape(-1, 1, 1) * dilation[1]
    grid = torch.stack([2 * z / max(w - 1, 1) - 1, 2 * y / max(h - 1, 1) - 1], dim=-1)
    parts = x.reshape(n * offset_groups, c // offset_groups, h, w)
    positions = grid.reshape(n * offset_groups, kh * kw * oh, ow, 2).to(x.dtype)
    taps = F.grid_sample(parts, positions, align_corners=True)
    taps = taps.reshape(n, offset_groups, c // offset_groups, kh * kw, oh, ow)
    if mask is not None:
        taps = taps * mask.reshape(n, offset_groups, 1, kh * kw, oh, ow)
    taps = taps.reshape(n, groups, c // groups * kh * kw, oh * ow)
    matrix = weight.reshape(groups, weight.shape[0] // groups, -1)
    result = (matrix[None] @ taps).reshape(n, -1, oh, ow)
    return result if bias is None else result + bias.reshape(-1, 1, 1)
