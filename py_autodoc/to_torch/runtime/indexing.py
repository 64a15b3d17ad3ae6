"""Gathering and scattering by index."""

from __future__ import annotations

import torch


def onnx_gather_elements(x: torch.Tensor, index: torch.Tensor, axis: int) -> torch.Tensor:
    """``torch.gather`` with negative indices."""
    index = index.to(torch.int64)
    return x.gather(axis, torch.where(index < 0, index + x.shape[axis], index))


def onnx_gather_nd(x: torch.Tensor, index: torch.Tensor, batch_dims: int = 0) -> torch.Tensor:
    """Return the slices at the indices in the last axis of ``index``."""
    index = index.to(torch.int64)
    batch = x.shape[:batch_dims]
    if not batch_dims:
        return x[tuple(index.unbind(-1))]
    x = x.flatten(0, batch_dims - 1)
    index = index.flatten(0, batch_dims - 1)
    rows = torch.arange(x.shape[0], device=x.device).reshape(-1, *([1] * (index.dim() - 2)))
    positions = (rows, *index.unbind(-1))
    slices = x[positions]
    return slices.reshape(*batch, *slices.shape[1:])


def onnx_scatter_elements(
    x: torch.Tensor, index: torch.Tensor, updates: torch.Tensor, axis: int, reduction: str = "none"
) -> torch.Tensor:
    """``torch.scatter`` with negative indices."""
    index = index.to(torch.int64)
    index = torch.where(index < 0, index + x.shape[axis], index)
    if reduction == "none":
        return x.scatter(axis, index, updates)
    names = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
    return x.scatter_reduce(axis, index, updates, names[reduction])


def onnx_scatter_nd(
    x: torch.Tensor, index: torch.Tensor, updates: torch.Tensor, reduction: str = "none"
) -> torch.Tensor:
    """Write slices to the indices in the last axis of ``index``."""
    index = index.to(torch.int64)
    depth = index.shape[-1]
    sizes, inner = x.shape[:depth], x.shape[depth:]
    flat = torch.zeros(index.shape[:-1], dtype=torch.int64, device=x.device)
    for axis, size in enumerate(sizes):
        position = index[..., axis]
        flat = flat * size + torch.where(position < 0, position + size, position)
    rows = x.reshape(sizes.numel(), inner.numel())
    flat = flat.reshape(-1)
    new = updates.reshape(flat.numel(), inner.numel())
    if reduction == "none":
        return rows.index_copy(0, flat, new).reshape(x.shape)
    names = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
    positions = flat[:, None].expand(-1, inner.numel())
    return rows.scatter_reduce(0, positions, new, names[reduction]).reshape(x.shape)


def onnx_tensor_scatter(
    past: torch.Tensor, update: torch.Tensor, start: torch.Tensor | None, axis: int, circular: bool = False
) -> torch.Tensor:
    """Write ``update`` into a cache, starting at a separate position for each row of the batch."""
    result = past.clone()
    axis %= past.dim()
    for row in range(past.shape[0]):
        first = 0 if start is None else int(start[row])
        positions = torch.arange(first, first + update.shape[axis], device=past.device)
        positions = positions.remainder(past.shape[axis]) if circular else positions
        result[row].index_copy_(axis - 1, positions, update[row])
    return result


def onnx_one_hot(index: torch.Tensor, depth: int, values: torch.Tensor, axis: int = -1) -> torch.Tensor:
    """Return one-hot vectors; ``values`` holds the off and the on value."""
    index = index.to(torch.int64)
    index = torch.where(index < 0, index + depth, index).unsqueeze(axis)
    sizes = [1] * index.dim()
    sizes[axis] = depth
    classes = torch.arange(depth, device=index.device).reshape(sizes)
    return torch.where(index == classes, values[1], values[0])


def onnx_top_k(x: torch.Tensor, k: int, axis: int, largest: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first ``k`` of a stable sort: of equal numbers, the first comes first."""
    if x.dtype in (torch.uint16, torch.uint32):
        values, index = torch.sort(x.to(torch.int64), dim=axis, descending=largest, stable=True)
        return values.narrow(axis, 0, k).to(x.dtype), index.narrow(axis, 0, k)
    values, index = torch.sort(x, dim=axis, descending=largest, stable=True)
    return values.narrow(axis, 0, k), index.narrow(axis, 0, k)


def onnx_last_extreme(x: torch.Tensor, axis: int, keepdim: bool, smallest: bool = False) -> torch.Tensor:
    """Return the index of the last extreme."""
    flipped = x.flip(axis)
    position = flipped.argmin(axis, keepdim=keepdim) if smallest else flipped.argmax(axis, keepdim=keepdim)
    return x.shape[axis] - 1 - position


def onnx_compress(x: torch.Tensor, condition: torch.Tensor, axis: int | None = None) -> torch.Tensor:
    """Select along an axis, or from all elements, by ``condition``, which may be shorter than the axis."""
    positions = condition.nonzero().reshape(-1)
    return x.reshape(-1)[positions] if axis is None else x.index_select(axis, positions)


def onnx_cumulative(
    x: torch.Tensor, axis: int, exclusive: bool = False, reverse: bool = False, product: bool = False
) -> torch.Tensor:
    """Return cumulative sums or products, excluding the element itself with ``exclusive``."""
    if reverse:
        x = x.flip(axis)
    result = x.cumprod(axis, dtype=x.dtype) if product else x.cumsum(axis, dtype=x.dtype)
    if exclusive:
        first = torch.full_like(result.narrow(axis, 0, 1), 1 if product else 0)
        result = torch.cat([first, result.narrow(axis, 0, result.shape[axis] - 1)], dim=axis)
    return result.flip(axis) if reverse else result


def onnx_unique(
    x: torch.Tensor, axis: int | None = None, sort: bool = True
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the distinct values, their first indices, the inverse indices and their counts."""
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True, dim=axis)
    flat = inverse.reshape(-1)
    last = torch.full((counts.numel(),), flat.numel(), dtype=torch.int64, device=x.device)
    first = last.scatter_reduce(0, flat, torch.arange(flat.numel(), device=x.device), "amin")
    if not sort:
        order = first.argsort()
        rank = torch.empty_like(order)
        rank[order] = torch.arange(order.numel(), device=x.device)
        values = values[order] if axis is None else values.index_select(axis, order)
        first, counts, flat = first[order], counts[order], rank[flat]
    return values, first, flat, counts
