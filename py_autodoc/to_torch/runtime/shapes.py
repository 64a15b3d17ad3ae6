"""Shapes."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def onnx_reshape_sizes(old: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return the target shape, where 0 keeps the old dimension."""
    return [old[axis] if size == 0 else size for axis, size in enumerate(sizes)]


def onnx_depth_to_space(x: torch.Tensor, block: int) -> torch.Tensor:
    """Rearrange channels into blocks of pixels; the position in the block is the outer part of a channel."""
    n, c, h, w = x.shape
    x = x.reshape(n, block, block, c // block**2, h, w).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(n, c // block**2, h * block, w * block)


def onnx_space_to_depth(x: torch.Tensor, block: int, channels_first: bool = False) -> torch.Tensor:
    """Rearrange blocks of pixels into channels; the position in the block is the outer or inner part."""
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // block, block, w // block, block)
    x = x.permute(0, 1, 3, 5, 2, 4) if channels_first else x.permute(0, 3, 5, 1, 2, 4)
    return x.reshape(n, c * block**2, h // block, w // block)


def onnx_unsqueeze(x: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """Insert dimensions of size 1 at the given axes of the result."""
    for axis in sorted(axis % (x.dim() + len(axes)) for axis in axes):
        x = x.unsqueeze(axis)
    return x
