"""Reductions."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def onnx_reduce(
    name: str, x: torch.Tensor, axes: Sequence[int] | None, keepdim: bool, noop: bool = False
) -> torch.Tensor:
    """Reduce any type over any axes, including empty ones; None means all axes."""
    if noop and not axes:
        terms = {"L1": x.abs(), "L2": x.abs(), "SumSquare": x * x, "LogSum": x.log()}
        return terms.get(name, x)
    dims = tuple(axes) if axes else tuple(range(x.dim()))
    if name in ("Max", "Min") and x.numel() == 0:
        edge: float = float("inf") if name == "Min" else -float("inf")
        if x.dtype == torch.bool:
            edge = name == "Min"
        elif not x.is_floating_point():
            edge = torch.iinfo(x.dtype).max if name == "Min" else torch.iinfo(x.dtype).min
        sizes = [1 if n in {d % x.dim() for d in dims} else size for n, size in enumerate(x.shape)]
        result = torch.full(sizes, edge, dtype=x.dtype, device=x.device)
        return result if keepdim else result.squeeze(dims)
    if name in ("Max", "Min"):
        return (torch.amax if name == "Max" else torch.amin)(x, dims, keepdim)
    if name == "Prod":
        for axis in sorted((d % x.dim() for d in dims), reverse=True):
            x = x.prod(axis, keepdim=keepdim, dtype=x.dtype)
        return x
    wide = x if x.is_floating_point() else x.to(torch.float64)
    if name == "LogSumExp":
        result = wide.logsumexp(dims, keepdim) if dims else wide
    elif name == "Mean" and not x.is_floating_point():
        total = x.sum(dims, keepdim) if dims else x
        result = torch.div(total, max(x.numel() // max(total.numel(), 1), 1), rounding_mode="trunc")
    elif name == "Mean":
        result = wide.mean(dims, keepdim) if dims else wide
    else:
        term = wide.abs() if name == "L1" else wide * wide if name in ("L2", "SumSquare") else wide
        result = term.sum(dims, keepdim) if dims else term
        result = result.sqrt() if name == "L2" else result.log() if name == "LogSum" else result
    return result.to(x.dtype)
