"""Normalizations."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F


def onnx_batch_norm(
    x: torch.Tensor,
    scale: torch.Tensor,
    bias: torch.Tensor,
    mean: torch.Tensor,
    var: torch.Tensor,
    eps: float,
) -> torch.Tensor:
    """Normalize with statistics of another type than the input."""
    mean, var, scale, bias = (t.to(torch.float32) for t in (mean, var, scale, bias))
    return F.batch_norm(x.to(torch.float32), mean, var, scale, bias, eps=eps).to(x.dtype)


def onnx_layer_norm(
    x: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor | None, count: int, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Normalize over the last ``count`` axes; also return the mean and the inverse standard deviation."""
    axes = tuple(range(-count, 0))
    wide = x if x.dtype == torch.float64 else x.to(torch.float32)
    mean = wide.mean(axes, keepdim=True)
    centered = wide - mean
    inverse = 1 / torch.sqrt((centered * centered).mean(axes, keepdim=True) + eps)
    result = (centered * inverse).to(x.dtype) * scale
    return result if bias is None else result + bias, mean, inverse


def onnx_rms_norm(x: torch.Tensor, scale: torch.Tensor, count: int, eps: float) -> torch.Tensor:
    """Divide by the root mean square of the last ``count`` axes."""
    axes = tuple(range(-count, 0))
    wide = x if x.dtype == torch.float64 else x.to(torch.float32)
    wide = wide * torch.rsqrt((wide * wide).mean(axes, keepdim=True) + eps)
    return wide.to(x.dtype) * scale


def onnx_lrn(x: torch.Tensor, size: int, alpha: float, beta: float, bias: float) -> torch.Tensor:
    """Normalize over an even number of neighbouring channels, one more after than before."""
    before = (size - 1) // 2
    squares = F.pad((x * x).movedim(1, -1), (before, size - 1 - before))
    sums = squares.unfold(-1, size, 1).sum(-1).movedim(-1, 1)
    return x / (bias + alpha / size * sums) ** beta


def onnx_lp_normalization(x: torch.Tensor, p: int, axis: int) -> torch.Tensor:
    """Divide by the norm; where it is zero, the result is zero."""
    norm = torch.linalg.vector_norm(x, p, axis, keepdim=True)
    return torch.where(norm == 0, torch.zeros_like(x), x / norm)


def onnx_mean_variance(x: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """Return values with zero mean and unit variance."""
    mean = x.mean(tuple(axes), keepdim=True)
    square = (x * x).mean(tuple(axes), keepdim=True)
    return (x - mean) / (torch.sqrt(square - mean * mean) + 1e-9)
