"""Parts of tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F


def onnx_slice(
    x: torch.Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> torch.Tensor:
    """Slice a tensor; steps may be negative."""
    dims = range(len(starts)) if axes is None else axes
    for start, end, axis, step in zip(starts, ends, dims, steps or [1] * len(starts), strict=True):
        size = x.shape[axis]
        picked = list(range(size))[slice(start, None if step < 0 and end < -size else end, step)]
        x = x.index_select(axis, torch.tensor(picked, dtype=torch.int64, device=x.device))
    return x


def onnx_pad(
    x: torch.Tensor,
    pads: Sequence[int],
    mode: str,
    axes: Sequence[int] | None = None,
    value: float = 0,
) -> torch.Tensor:
    """Pad any axes; negative amounts crop."""
    half = len(pads) // 2
    for number, axis in enumerate(range(x.dim()) if axes is None else axes):
        before, after, size = pads[number], pads[number + half], x.shape[axis]
        if mode == "constant":
            order = [0, 0] * (x.dim() - 1 - axis % x.dim()) + [before, after]
            x = F.pad(x, order, value=value)
            continue
        positions = torch.arange(-before, size + after, device=x.device)
        if mode == "edge":
            positions = positions.clamp(0, size - 1)
        elif mode == "wrap":
            positions = positions.remainder(size)
        else:
            period = max(2 * (size - 1), 1)
            positions = positions.remainder(period)
            positions = torch.where(positions >= size, period - positions, positions)
        x = x.index_select(axis, positions)
    return x


def onnx_center_crop_pad(
    x: torch.Tensor, sizes: Sequence[int], axes: Sequence[int] | None = None
) -> torch.Tensor:
    """Crop or zero-pad around the centre."""
    for size, axis in zip(sizes, range(x.dim()) if axes is None else axes, strict=True):
        more = size - x.shape[axis]
        if more < 0:
            x = x.narrow(axis, -more // 2, size)
        else:
            order = [0, 0] * (x.dim() - 1 - axis % x.dim()) + [more // 2, more - more // 2]
            x = F.pad(x, order)
    return x


def onnx_reverse_sequence(
    x: torch.Tensor, lengths: torch.Tensor, batch_axis: int, time_axis: int
) -> torch.Tensor:
    """Reverse the first steps of each sequence and keep the rest."""
    moved = x.movedim((batch_axis, time_axis), (0, 1))
    steps = torch.arange(moved.shape[1], device=x.device)[None]
    ends = lengths[:, None].to(x.device)
    order = torch.where(steps < ends, ends - 1 - steps, steps)
    rows = torch.arange(moved.shape[0], device=x.device)[:, None]
    return moved[rows, order].movedim((0, 1), (batch_axis, time_axis))
