"""Resampling."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch


def onnx_resize(
    x: torch.Tensor,
    mode: str,
    sizes: Sequence[int] | None = None,
    scales: Sequence[float] | None = None,
    axes: Sequence[int] | None = None,
    coordinates: str = "half_pixel",
    nearest: str = "round_prefer_floor",
    a: float = -0.75,
    exclude_outside: bool = False,
    antialias: bool = False,
    roi: Sequence[float] | None = None,
    outside: float = 0.0,
    policy: str = "stretch",
) -> torch.Tensor:
    """Resample one axis after the other, following the specification of Resize."""
    dims = [axis % x.dim() for axis in axes] if axes is not None else list(range(x.dim()))
    if sizes is not None:
        factors = [size / x.shape[axis] for size, axis in zip(sizes, dims, strict=True)]
        if policy != "stretch":
            factor = min(factors) if policy == "not_larger" else max(factors)
            factors = [factor] * len(factors)
            sizes = [math.floor(factor * x.shape[axis] + 0.5) for axis in dims]
    else:
        factors = list(scales or [])
        sizes = [math.floor(x.shape[axis] * factor) for axis, factor in zip(dims, factors, strict=True)]
    mask = None
    for number, (axis, size, factor) in enumerate(zip(dims, sizes, factors, strict=True)):
        edges = (roi[number], roi[number + len(dims)]) if roi is not None else (0.0, 1.0)
        if size == x.shape[axis] and factor == 1 and coordinates != "tf_crop_and_resize":
            continue
        positions = onnx_resize_positions(size, x.shape[axis], factor, coordinates, edges)
        if coordinates == "tf_crop_and_resize":
            bad = (positions < 0) | (positions > x.shape[axis] - 1)
            shape = [size if n == axis else 1 for n in range(x.dim())]
            mask = bad.reshape(shape) if mask is None else mask | bad.reshape(shape)
        weights = onnx_resize_weights(
            positions, x.shape[axis], factor, mode, nearest, a, exclude_outside, antialias
        )
        wide = x.movedim(axis, -1)
        if mode == "nearest":
            x = wide[..., weights.argmax(1).to(x.device)].movedim(-1, axis)
        else:
            x = (wide.to(weights.dtype) @ weights.to(x.device).T).to(x.dtype).movedim(-1, axis)
    return x if mask is None else torch.where(mask.to(x.device), torch.full_like(x, outside), x)


def onnx_resize_positions(
    size: int, before: int, factor: float, coordinates: str, edges: tuple[float, float]
) -> torch.Tensor:
    """Return the position in the input of each result."""
    position = torch.arange(size, dtype=torch.float64)
    if coordinates == "asymmetric":
        return position / factor
    if coordinates == "align_corners":
        last = factor * before - 1
        return position * (before - 1) / last if size > 1 and last else position * 0
    if coordinates == "tf_crop_and_resize":
        first, end = edges
        if size == 1:
            return position + 0.5 * (first + end) * (before - 1)
        return first * (before - 1) + position * (end - first) * (before - 1) / (size - 1)
    if coordinates == "tf_half_pixel_for_nn":
        return (position + 0.5) / factor
    if coordinates == "pytorch_half_pixel" and size == 1:
        return position * 0
    result = (position + 0.5) / factor - 0.5
    if coordinates == "half_pixel_symmetric":
        result = result + before / 2 * (1 - size / (factor * before))
    return result


def onnx_resize_weights(
    positions: torch.Tensor,
    before: int,
    factor: float,
    mode: str,
    nearest: str,
    a: float,
    exclude_outside: bool,
    antialias: bool,
) -> torch.Tensor:
    """Return the weight of each input element for each result, with one row per result."""
    if mode == "nearest":
        rounded = {
            "floor": positions.floor(),
            "ceil": positions.ceil(),
            "round_prefer_floor": (positions - 0.5).ceil(),
            "round_prefer_ceil": (positions + 0.5).floor(),
        }[nearest]
        rows = torch.zeros(len(positions), before)
        return rows.scatter(1, rounded.clamp(0, before - 1).to(torch.int64)[:, None], 1)
    stretch = min(factor, 1.0) if antialias else 1.0
    reach = math.ceil((1 if mode == "linear" else 2) / stretch)
    taps = positions.floor()[:, None] + torch.arange(1 - reach, reach + 1)
    distance = (taps - positions[:, None]).abs() * stretch
    if mode == "linear":
        weights = (1 - distance).clamp(min=0)
    else:
        inner = ((a + 2) * distance - (a + 3)) * distance * distance + 1
        outer = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        weights = torch.where(distance <= 1, inner, torch.where(distance < 2, outer, 0 * outer))
    if exclude_outside or antialias:
        weights = (
            torch.where((taps < 0) | (taps >= before), 0 * weights, weights) if exclude_outside else weights
        )
        weights = weights / weights.sum(1, keepdim=True)
    rows = torch.zeros(len(positions), before, dtype=torch.float64)
    return rows.scatter_add(1, taps.clamp(0, before - 1).to(torch.int64), weights).to(torch.float32)


def onnx_roi_align(
    x: torch.Tensor,
    rois: torch.Tensor,
    batch: torch.Tensor,
    height: int,
    width: int,
    sampling: int,
    scale: float,
    half: bool = False,
    largest: bool = False,
) -> torch.Tensor:
    """Average (or take the maximum of) bilinear samples in each cell of a region."""
    results = []
    shift = 0.5 if half else 0.0
    for roi, image in zip((rois * scale - shift).tolist(), x[batch], strict=True):
        left, top, right, bottom = roi
        h, w = bottom - top, right - left
        if not half:
            h, w = max(h, 1.0), max(w, 1.0)
        rows = sampling or math.ceil(h / height)
        columns = sampling or math.ceil(w / width)
        y = top + (torch.arange(height * rows) + 0.5) * h / (height * rows)
        z = left + (torch.arange(width * columns) + 0.5) * w / (width * columns)
        parts = onnx_bilinear_terms(image, y, z)
        cells = [coordinate.reshape(-1, height, rows, width, columns) for coordinate in parts]
        if largest:
            results.append(torch.stack(cells).amax(0).amax((2, 4)))
        else:
            results.append(torch.stack(cells).sum(0).mean((2, 4)))
    return torch.stack(results) if results else x.new_zeros(0, x.shape[1], height, width)


def onnx_bilinear_terms(image: torch.Tensor, y: torch.Tensor, x: torch.Tensor) -> list[torch.Tensor]:
    """Return the four weighted neighbours of positions (rows ``y``, columns ``x``).

    Positions more than one pixel outside the image count as zero.
    """
    height, width = image.shape[-2:]
    inside = ((y >= -1) & (y <= height))[:, None] & ((x >= -1) & (x <= width))
    y, x = y.clamp(0, height - 1), x.clamp(0, width - 1)
    y0, x0 = y.floor().to(torch.int64), x.floor().to(torch.int64)
    y1, x1 = (y0 + 1).clamp(max=height - 1), (x0 + 1).clamp(max=width - 1)
    fy, fx = (y - y0)[:, None], (x - x0)[None]
    terms = [
        (y0, x0, (1 - fy) * (1 - fx)),
        (y0, x1, (1 - fy) * fx),
        (y1, x0, fy * (1 - fx)),
        (y1, x1, fy * fx),
    ]
    return [image[:, rows][:, :, columns] * weight * inside for rows, columns, weight in terms]


def onnx_non_max_suppression(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    most: int,
    overlap: float,
    threshold: float | None,
    centers: bool = False,
) -> torch.Tensor:
    """Return (batch, class, box) of the boxes that no better box of the same class overlaps."""
    selected = []
    for number, (rows, classes) in enumerate(zip(boxes, scores, strict=True)):
        if centers:
            x, y, w, h = rows.unbind(-1)
            y0, x0, y1, x1 = y - h / 2, x - w / 2, y + h / 2, x + w / 2
        else:
            y0, y1 = torch.minimum(rows[:, 0], rows[:, 2]), torch.maximum(rows[:, 0], rows[:, 2])
            x0, x1 = torch.minimum(rows[:, 1], rows[:, 3]), torch.maximum(rows[:, 1], rows[:, 3])
        area = (y1 - y0) * (x1 - x0)
        for kind, score in enumerate(classes):
            order = torch.sort(score, descending=True, stable=True).indices
            if threshold is not None:
                order = order[score[order] > threshold]
            count = 0
            while len(order) and count < most:
                best, order = order[0], order[1:]
                selected.append([number, kind, int(best)])
                count += 1
                high = (torch.minimum(y1[best], y1[order]) - torch.maximum(y0[best], y0[order])).clamp(min=0)
                wide = (torch.minimum(x1[best], x1[order]) - torch.maximum(x0[best], x0[order])).clamp(min=0)
                shared = high * wide
                union = area[best] + area[order] - shared
                order = order[~((union > 0) & (shared / union > overlap))]
    return torch.tensor(selected, dtype=torch.int64, device=boxes.device).reshape(-1, 3)
