"""Pooling, region pooling and sampling."""

from __future__ import annotations

from py_autodoc.costs.registry import Cost, NodeView, Unknown, ceil_div, cost, maximum, minimum, prod
from py_autodoc.costs.rules._make import movement, per_input, register
from py_autodoc.costs.weights import IOU, interpolation


def window(v: NodeView) -> int:
    """Elements of the pooling window. Raises: Unknown when kernel_shape is missing or not positive."""
    kernel = v.ints_attr("kernel_shape")
    if not kernel or min(kernel) < 1:
        raise Unknown("attribute kernel_shape is missing or not positive")
    return prod(kernel)


@cost("", "MaxPool", "AveragePool")
def pool(v: NodeView) -> Cost:
    """One comparison or + per window element and output; the average's ÷ is the last of them."""
    return Cost(0, v.out_numel() * window(v))


@cost("", "LpPool")
def lp_pool(v: NodeView) -> Cost:
    """(Σ |x|^p)^(1/p): |x|, pow, + per window element."""
    return Cost(0, 3 * v.out_numel() * window(v))


register("", "GlobalAveragePool GlobalMaxPool", per_input(1))
register("", "GlobalLpPool", per_input(3))
register("", "MaxUnpool", movement())


@cost("", "MaxRoiPool")
def max_roi_pool(v: NodeView) -> Cost:
    """Upper bound: every region covers its whole map. X (N, C, H, W), rois (R, 5): R · C · H · W."""
    return Cost(0, v.dim(1, 0) * prod(v.shape(0)[1:]))


@cost("", "RoiAlign")
def roi_align(v: NodeView) -> Cost:
    """Bilinear samples averaged in each bin. Y (R, C, oH, oW); sampling_ratio² samples a bin.

    With ratio 0 the count adapts to the region: upper bound, a region that covers its map.
    """
    y, x = v.out(), v.shape(0)
    ratio = v.int_attr("sampling_ratio", 0)
    if len(y) != 4 or len(x) != 4 or not y[2] or not y[3]:
        raise Unknown("RoiAlign needs 4-D, non-empty input and output")
    samples = ratio * ratio if ratio > 0 else ceil_div(x[2], y[2]) * ceil_div(x[3], y[3])
    return Cost(0, v.out_numel() * samples * (interpolation(4) + 1))


@cost("", "NonMaxSuppression")
def non_max_suppression(v: NodeView) -> Cost:
    """Upper bound: every box is compared with every box kept before it.

    boxes (B, N, 4), scores (B, C, N), at most K kept a class: B · C · N · min(N, K) box overlaps.
    """
    b, c, n = v.dims(1, 3)
    limit = v.scalar(2)
    kept = n if limit is None else minimum(n, maximum(limit, 0))
    return Cost(0, IOU * b * c * n * kept)


_SAMPLES = {"nearest": 0, "linear": 2, "bilinear": 2, "cubic": 4, "bicubic": 4}


def sampling_flops(mode: str, axes: int) -> int:
    """FLOPs of one sample interpolated along ``axes`` axes; nearest copies. Raises: Unknown."""
    if mode not in _SAMPLES:
        raise Unknown(f"interpolation mode {mode} is unknown")
    taps = _SAMPLES[mode]
    return interpolation(taps**axes) if taps and axes else 0


@cost("", "Resize", "Upsample")
def resize(v: NodeView) -> Cost:
    """Each output element is a weighted sum of 2^d (linear) or 4^d (cubic) inputs, d = resized axes."""
    x, y = v.shape(0), v.out()
    if len(x) != len(y) or len(x) > 8:
        raise Unknown("input and output of different rank")
    axes = sum(a != b for a, b in zip(x, y, strict=True))
    return Cost(0, v.out_numel() * sampling_flops(v.text_attr("mode", "nearest"), axes))


@cost("", "GridSample")
def grid_sample(v: NodeView) -> Cost:
    """X (N, C, d1…dn), grid (N, o1…on, n): each output element is interpolated along n axes."""
    rank = len(v.shape(0))
    if rank > 8:
        raise Unknown(f"rank {rank} is too high")
    return Cost(0, v.out_numel() * sampling_flops(v.text_attr("mode", "linear"), rank - 2))


@cost("", "AffineGrid")
def affine_grid(v: NodeView) -> Cost:
    """Theta (N, d, d+1) times homogeneous points: d × and d + per coordinate of grid (N, …, d)."""
    grid = v.out()
    if not grid:
        raise Unknown("output 0 is a scalar")
    return Cost(0, 2 * grid[-1] * v.out_numel())
