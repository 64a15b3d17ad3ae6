"""Pooling with any padding."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from py_autodoc.to_torch.runtime.convolution import onnx_windows


def onnx_pool_pads(
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    pads: Sequence[int],
    auto: str,
    ceil: bool,
) -> tuple[list[int], list[int]]:
    """Return the padding for F.pad, and how far windows reach beyond the given padding at each end."""
    order: list[int] = []
    beyond: list[int] = []
    for axis, (size, k, s, d) in enumerate(zip(sizes, kernel, stride, dilation, strict=True)):
        before, after = pads[axis], pads[axis + len(kernel)]
        reach = (k - 1) * d + 1
        if auto.startswith("SAME"):
            more = max((-(-size // s) - 1) * s + reach - size, 0)
            before = -(-more // 2) if auto == "SAME_LOWER" else more // 2
            after = more - before
        extra = 0
        if ceil:
            count = -(-(size + before + after - reach) // s) + 1
            if (count - 1) * s >= size + before:
                count -= 1
            extra = max((count - 1) * s + reach - (size + before + after), 0)
        order = [before, after + extra, *order]
        beyond.append(extra)
    return order, beyond


def onnx_pool(
    name: str,
    x: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    pads: Sequence[int],
    auto: str,
    ceil: bool = False,
    include_pad: bool = False,
    p: int = 2,
) -> torch.Tensor:
    """Return the maximum, average or norm of windows, with any padding."""
    order, beyond = onnx_pool_pads(x.shape[2:], kernel, stride, dilation, pads, auto, ceil)
    if name == "max":
        lowest = -float("inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
        return onnx_windows(F.pad(x, order, value=lowest), kernel, stride, dilation).amax(-1)
    windows = onnx_windows(F.pad(x, order), kernel, stride, dilation)
    if name == "norm":
        return windows.abs().pow(p).sum(-1).pow(1 / p)
    inside = torch.ones_like(x[:1, :1])
    if include_pad:
        within = [n - (beyond[-1 - side // 2] if side % 2 else 0) for side, n in enumerate(order)]
        inside = F.pad(inside, within, value=1)
        order = [n - m for n, m in zip(order, within, strict=True)]
    counts = onnx_windows(F.pad(inside, order), kernel, stride, dilation).sum(-1)
    return windows.sum(-1) / counts


def onnx_max_pool_indices(
    x: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    pads: Sequence[int],
    auto: str,
    ceil: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the maxima and their indices in the flattened input."""
    order, _ = onnx_pool_pads(x.shape[2:], kernel, stride, dilation, pads, auto, ceil)
    lowest = -float("inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
    positions = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    windows = onnx_windows(F.pad(x, order, value=lowest), kernel, stride, dilation)
    largest = windows.argmax(-1, keepdim=True)
    indices = onnx_windows(F.pad(positions, order), kernel, stride, dilation)
    return windows.gather(-1, largest).squeeze(-1), indices.gather(-1, largest).squeeze(-1)


def onnx_max_unpool(
    x: torch.Tensor,
    index: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    pads: Sequence[int],
    shape: Sequence[int] | None,
) -> torch.Tensor:
    """Write the maxima to their original positions and zero elsewhere."""
    rank = len(kernel)
    sizes = [
        (size - 1) * stride[n] - pads[n] - pads[n + rank] + kernel[n] for n, size in enumerate(x.shape[2:])
    ]
    unpooled = [*x.shape[:2], *sizes]
    flat = torch.zeros(torch.Size(unpooled).numel(), dtype=x.dtype, device=x.device)
    result = flat.scatter(0, index.reshape(-1), x.reshape(-1)).reshape(unpooled)
    if shape is None:
        return result
    grown = [
        n
        for size, current in zip(reversed(shape), reversed(unpooled), strict=True)
        for n in (0, size - current)
    ]
    return F.pad(result, grown)
