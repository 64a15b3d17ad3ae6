"""Pooling, region pooling and sampling."""

from __future__ import annotations

from math import gcd

from py_autodoc.costs.flop_weights import IOU, interpolation
from py_autodoc.costs.registry import (
    Cost,
    NodeView,
    UnknownSize,
    ceil_div,
    cost,
    is_number,
    maximum,
    minimum,
    prod,
)
from py_autodoc.costs.rules._make import movement, per_input, register
from py_autodoc.costs.windows import covered, resampled


@cost("", "MaxPool")
def max_pool(v: NodeView) -> Cost:
    """One comparison per input element in a window; padding is never compared."""
    return Cost(0, covered(v))


@cost("com.microsoft", "NhwcMaxPool")
def nhwc_max_pool(v: NodeView) -> Cost:
    """Like MaxPool with channels last."""
    return Cost(0, covered(v, channels_last=True))


@cost("", "AveragePool")
def average_pool(v: NodeView) -> Cost:
    """One operation per averaged element (its last is the ÷); padding counts only with count_include_pad."""
    return Cost(0, covered(v, padding=bool(v.int_attr("count_include_pad", 0))))


@cost("", "LpPool")
def lp_pool(v: NodeView) -> Cost:
    """(Σ |x|^p)^(1/p): |x|, pow, + per input element in a window."""
    return Cost(0, 3 * covered(v))


register("", "GlobalAveragePool GlobalMaxPool", per_input(1))
register("", "GlobalLpPool", per_input(3))
register("", "MaxUnpool", movement())


@cost("", "MaxRoiPool")
def max_roi_pool(v: NodeView) -> Cost:
    """X (N, C, H, W), rois (R, 5), Y (R, C, oH, oW); how much of its map a region covers depends on the data.

    At least one position per bin; at most the whole map. Bins start and end at integer positions, so
    neighbours share the position between them unless the bins divide the map: H + oH − gcd(H, oH)
    comparisons along an axis.
    """
    x, y = v.dims(0, 4), v.out()
    if len(y) != 4:
        raise UnknownSize("output 0 must have 4 dimensions")
    most = v.dim(1, 0) * x[1] * prod(_bins(size, bins) for size, bins in zip(x[2:], y[2:], strict=True))
    least = v.out_numel()
    return Cost(0, least, data_flops=most - least)


def _bins(size: int, bins: int) -> int:
    """Return the total positions in ``bins`` bins over an axis of ``size``."""
    if not is_number(size, bins):
        if bins == 1:
            return size
        raise UnknownSize("how bins divide a map whose size is a symbol has no exact expression")
    return size + bins - gcd(size, bins) if bins else 0


@cost("", "RoiAlign")
def roi_align(v: NodeView) -> Cost:
    """Bilinear samples averaged in each bin. Y (R, C, oH, oW); sampling_ratio² samples per bin.

    With ratio 0 the count depends on the region: at least one sample per bin, at most those of a region that
    covers its map.
    """
    y, x = v.out(), v.shape(0)
    ratio = v.int_attr("sampling_ratio", 0)
    if len(y) != 4 or len(x) != 4 or not y[2] or not y[3]:
        raise UnknownSize("RoiAlign needs 4-D, non-empty input and output")
    sample = v.out_numel() * (interpolation(4) + 1)
    if ratio > 0:
        return Cost(0, sample * ratio * ratio)
    return Cost(0, sample, data_flops=sample * (ceil_div(x[2], y[2]) * ceil_div(x[3], y[3]) - 1))


@cost("", "NonMaxSuppression")
def non_max_suppression(v: NodeView) -> Cost:
    """Every score is compared with the threshold; the data decides how many boxes are compared.

    boxes (B, N, 4), scores (B, C, N), at most K kept per class. At most every box is compared with every box
    kept before it: B · C · N · min(N, K) overlaps.
    """
    b, c, n = v.dims(1, 3)
    limit = v.scalar(2)
    max_selected = n if limit is None else minimum(n, maximum(limit, 0))
    return Cost(0, b * c * n, data_flops=IOU * b * c * n * max_selected)


_SAMPLES = {"nearest": 0, "linear": 2, "bilinear": 2, "cubic": 4, "bicubic": 4}


def sampling_flops(mode: str, axes: int) -> int:
    """Return the FLOPs of a sample interpolated along ``axes`` axes; nearest copies. Raises: UnknownSize."""
    if mode not in _SAMPLES:
        raise UnknownSize(f"interpolation mode {mode} is unknown")
    taps = _SAMPLES[mode]
    return interpolation(taps**axes) if taps and axes else 0


@cost("", "Resize", "Upsample")
def resize(v: NodeView) -> Cost:
    """Each output element is a weighted sum of 2^d (linear) or 4^d (cubic) inputs, d = resized axes.

    With antialias, the axes are filtered one by one from the last, by filters as wide as the coarser grid.
    """
    x, y = v.shape(0), v.out()
    if len(x) != len(y) or len(x) > 8:
        raise UnknownSize("input and output of different rank")
    mode = v.text_attr("mode", "nearest")
    if v.int_attr("antialias", 0) and mode in ("linear", "cubic"):
        return Cost(0, _antialiased(x, y, 1 if mode == "linear" else 2))
    axes = sum(a != b for a, b in zip(x, y, strict=True))
    return Cost(0, v.out_numel() * sampling_flops(mode, axes))


def _antialiased(x: tuple[int, ...], y: tuple[int, ...], support: int) -> int:
    """Return the FLOPs of separable filters over ``support`` samples to either side. Raises: UnknownSize."""
    shape, flops = list(x), 0
    for axis in reversed(range(len(x))):
        if x[axis] != y[axis]:
            lines = prod(shape[:axis]) * prod(shape[axis + 1 :])
            flops = flops + lines * (2 * resampled(x[axis], y[axis], support) - y[axis])
            shape[axis] = y[axis]
    return flops


@cost("", "GridSample")
def grid_sample(v: NodeView) -> Cost:
    """X (N, C, d1…dn), grid (N, o1…on, n): each output element is interpolated along n axes."""
    rank = len(v.shape(0))
    if rank > 8:
        raise UnknownSize(f"rank {rank} is too high")
    return Cost(0, v.out_numel() * sampling_flops(v.text_attr("mode", "linear"), rank - 2))


@cost("", "AffineGrid")
def affine_grid(v: NodeView) -> Cost:
    """Theta (N, d, d+1) times homogeneous points: d × and d + per coordinate of grid (N, …, d)."""
    grid = v.out()
    if not grid:
        raise UnknownSize("output 0 is a scalar")
    return Cost(0, 2 * grid[-1] * v.out_numel())
