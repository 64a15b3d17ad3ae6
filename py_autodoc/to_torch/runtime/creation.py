"""Tensors created without a tensor input."""

from __future__ import annotations

import math

import torch


def onnx_range(start: torch.Tensor, limit: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    """Return numbers from ``start`` to before ``limit`` in steps of ``delta``."""
    if start.is_floating_point():
        count = math.ceil((float(limit) - float(start)) / float(delta))
    else:
        count = -((int(start) - int(limit)) // int(delta))
    steps = torch.arange(max(count, 0), device=start.device)
    return (start + steps.to(start.dtype) * delta).to(start.dtype)
