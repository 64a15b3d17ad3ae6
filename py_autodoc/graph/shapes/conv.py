"""Sliding windows: convolutions, transposed convolutions, pooling and resizing.

Output size of a convolution: ``floor((in + pads - ((k - 1)·dilation + 1)) / stride) + 1``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from py_autodoc.graph.ir.model import Dim, Shape
from py_autodoc.graph.shapes.shape_context import INT32, INT64, MS, InvalidNode, ShapeContext, agree, rule
from py_autodoc.graph.symbolic_dims import dim_arithmetic, pooling_windows

NHWC = "com.ms.internal.nhwc"
"""Domain of operators that a runtime has moved to channels last; they keep the names of ai.onnx."""


@dataclass(frozen=True, slots=True)
class KernelWindow:
    """Checked attributes of a sliding window; every tuple has one entry per spatial axis."""

    kernel: tuple[Dim, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    auto_pad: str


def _list(op: ShapeContext, name: str, n: int, default: int, low: int) -> tuple[int, ...]:
    values = op.ints_attr(name)
    if not values:
        return (default,) * n
    if len(values) != n:
        raise InvalidNode("bad-attribute", f"{name} {list(values)} needs {n} entries")
    if any(v < low for v in values):
        raise InvalidNode("bad-attribute", f"{name} {list(values)} has an entry below {low}")
    return values


def window(op: ShapeContext, kernel: tuple[Dim, ...] | None, n: int) -> KernelWindow:
    """Read and check the attributes. Raises: InvalidNode."""
    declared = op.ints_attr("kernel_shape")
    if declared is not None:
        if len(declared) != n or any(k <= 0 for k in declared):
            raise InvalidNode("bad-attribute", f"kernel_shape {list(declared)} is not {n} positive sizes")
        if kernel is not None and any(
            isinstance(k, int) and k != g for k, g in zip(kernel, declared, strict=True)
        ):
            raise InvalidNode(
                "bad-attribute", f"kernel_shape {list(declared)} differs from the weight's {list(kernel)}"
            )
        kernel = declared
    if kernel is None:
        raise InvalidNode("bad-attribute", "kernel_shape is missing")
    pads = op.ints_attr("pads") or (0,) * (2 * n)
    if len(pads) != 2 * n:
        raise InvalidNode("bad-attribute", f"pads {list(pads)} needs {2 * n} entries")
    return KernelWindow(
        kernel,
        _list(op, "strides", n, 1, 1),
        _list(op, "dilations", n, 1, 1),
        pads[:n],
        pads[n:],
        op.text_attr("auto_pad", "NOTSET") or "NOTSET",
    )


def window_count(w: KernelWindow, axis: int, size: Dim) -> Dim:
    """Return the output size of one axis."""
    k, stride = w.kernel[axis], w.strides[axis]
    if w.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        return dim_arithmetic.ceildiv(size, stride)
    reach = dim_arithmetic.add(dim_arithmetic.mul(dim_arithmetic.sub(k, 1), w.dilations[axis]), 1)
    pads = 0 if w.auto_pad == "VALID" else w.begins[axis] + w.ends[axis]
    free_size = dim_arithmetic.sub(dim_arithmetic.add(size, pads), reach)
    if isinstance(free_size, int) and free_size < 0:
        raise InvalidNode(
            "bad-shape", f"a window of {reach} does not fit the padded size {dim_arithmetic.add(size, pads)}"
        )
    return dim_arithmetic.add(dim_arithmetic.floordiv(free_size, stride), 1)


def _check_groups(op: ShapeContext, x: Shape | None, weight: Shape | None) -> None:
    group = op.int_attr("group", 1)
    if group <= 0:
        raise InvalidNode("bad-attribute", f"group is {group}")
    if weight is None:
        return
    m, c = weight[0], weight[1]
    if x is not None and isinstance(x[1], int) and isinstance(c, int) and x[1] != c * group:
        raise InvalidNode("shape-mismatch", f"the input has {x[1]} channels, the weight expects {c}·{group}")
    if x is not None:
        agree(x[1], dim_arithmetic.mul(c, group))
    if isinstance(m, int) and m % group:
        raise InvalidNode("bad-attribute", f"{m} output channels cannot form {group} groups")


def _convolution(op: ShapeContext, x: Shape | None, weight: Shape | None, dtype: int) -> None:
    op.set(0, None, dtype)
    group = op.int_attr("group", 1)
    if group <= 0:
        raise InvalidNode("bad-attribute", f"group is {group}")
    rank = len(x) if x is not None else len(weight) if weight is not None else None
    if rank is None:
        kernel_shape = op.ints_attr("kernel_shape")
        if kernel_shape is not None:
            window(op, None, len(kernel_shape))
        return
    if rank < 3 or (weight is not None and len(weight) != rank):
        raise InvalidNode("shape-mismatch", f"input {x} and weight {weight} do not form a convolution")
    n = rank - 2
    kernel = weight[2:] if weight is not None else (None,) * n
    w = window(op, kernel, n)
    _check_groups(op, x, weight)
    batch = x[0] if x is not None else None
    out = tuple(window_count(w, i, None if x is None else x[2 + i]) for i in range(n))
    op.set(0, (batch, weight[0] if weight is not None else None, *out))


@rule("FusedConv", domain=MS)
@rule("Conv")
def conv(op: ShapeContext) -> None:
    """[N, C, …] · [M, C/group, k…] → [N, M, …]."""
    _convolution(op, op.shape(0), op.shape(1), op.dtype(0))


@rule("ConvInteger")
def conv_integer(op: ShapeContext) -> None:
    """8-bit operands, int32 result."""
    _convolution(op, op.shape(0), op.shape(1), INT32)


@rule("QLinearConv")
def qlinear_conv(op: ShapeContext) -> None:
    """Inputs x, scale, zero point, w, … ; the output has the type of its zero point."""
    _convolution(op, op.shape(0), op.shape(3), op.dtype(7) or op.dtype(0))


@rule("ConvTranspose")
def conv_transpose(op: ShapeContext) -> None:
    """``stride·(in - 1) + output_padding + reach - pads``; weight [C, M/group, k…]."""
    x, weight = op.shape(0), op.shape(1)
    op.set(0, None, op.dtype(0))
    group = op.int_attr("group", 1)
    if group <= 0:
        raise InvalidNode("bad-attribute", f"group is {group}")
    if x is None:
        return
    n = len(x) - 2
    if n < 1 or (weight is not None and len(weight) != len(x)):
        raise InvalidNode("shape-mismatch", f"input {x} and weight {weight} do not form a convolution")
    w = window(op, weight[2:] if weight is not None else (None,) * n, n)
    if weight is not None and isinstance(x[1], int) and isinstance(weight[0], int) and x[1] != weight[0]:
        raise InvalidNode("shape-mismatch", f"the input has {x[1]} channels, the weight expects {weight[0]}")
    extra = _list(op, "output_padding", n, 0, 0)
    fixed = op.ints_attr("output_shape")
    channels = dim_arithmetic.mul(weight[1], group) if weight is not None else None
    if fixed:
        op.set(0, (x[0], channels, *fixed[-n:]))
        return
    op.set(0, (x[0], channels, *(_grown(w, i, x[2 + i], extra[i]) for i in range(n))))


def _grown(w: KernelWindow, i: int, size: Dim, extra: int) -> Dim:
    if w.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        return dim_arithmetic.mul(size, w.strides[i])
    reach = dim_arithmetic.add(dim_arithmetic.mul(dim_arithmetic.sub(w.kernel[i], 1), w.dilations[i]), 1)
    pads = 0 if w.auto_pad == "VALID" else w.begins[i] + w.ends[i]
    return dim_arithmetic.sub(
        dim_arithmetic.add(
            dim_arithmetic.add(dim_arithmetic.mul(dim_arithmetic.sub(size, 1), w.strides[i]), extra), reach
        ),
        pads,
    )


@rule("MaxPool", "AveragePool", domain=NHWC)
@rule("QLinearAveragePool", "NhwcMaxPool", domain=MS)
@rule("MaxPool", "AveragePool", "LpPool")
def pool(op: ShapeContext) -> None:
    """Channels stay; MaxPool may return indices. Sizes come from ``pooling_windows``."""
    x = op.shape(0)
    op.set(0, None, op.dtype(0))
    op.set(1, None, INT64)
    if x is None:
        kernel_shape = op.ints_attr("kernel_shape")
        if kernel_shape is not None:
            _pool_axes(op, len(kernel_shape))
        return
    if len(x) < 3:
        raise InvalidNode("shape-mismatch", f"pooling needs spatial axes, the input is {x}")
    named = op.node.op_type == "NhwcMaxPool" or op.node.domain == NHWC
    last = named or bool(op.int_attr("channels_last", 0))
    spatial = x[1:-1] if last else x[2:]
    sizes = tuple(_pooled(op, axis, d) for axis, d in zip(_pool_axes(op, len(spatial)), spatial, strict=True))
    out = (x[0], *sizes, x[-1]) if last else (x[0], x[1], *sizes)
    op.set(0, out)
    op.set(1, out)


def _pool_axes(op: ShapeContext, rank: int) -> tuple[pooling_windows.PoolingAxis, ...]:
    try:
        return pooling_windows.axes(op.attrs, rank)
    except pooling_windows.PoolFault as fault:
        raise InvalidNode("bad-attribute", str(fault)) from None


def _pooled(op: ShapeContext, axis: pooling_windows.PoolingAxis, size: Dim) -> Dim:
    """Return the windows along one axis; a window that does not fit is an error, or gives 0 as in engines."""
    count = pooling_windows.windows(axis, size)
    if isinstance(count, int) and isinstance(size, int) and size > 0 and count <= 0:
        padded = size + axis.head + axis.tail
        message = f"a window of {axis.reach} does not fit the padded size {padded}"
        if count < 0:
            raise InvalidNode("bad-shape", message)
        op.state.report("empty-output", "warning", f"{message}; the output is empty", op.node)
    return count


@rule("QLinearGlobalAveragePool", domain=MS)
@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(op: ShapeContext) -> None:
    """Spatial axes become 1."""
    x = op.shape(0)
    if x is not None and op.int_attr("channels_last", 0):
        x = (x[0], *((1,) * (len(x) - 2)), x[-1])
    elif x is not None:
        x = x[:2] + (1,) * (len(x) - 2)
    op.set(0, x, op.dtype(0))


@rule("Resize", "Upsample")
def resize(op: ShapeContext) -> None:
    """``floor(in · scale)``, or the given sizes; both may apply to some axes only (opset 18)."""
    op.set(0, None, op.dtype(0))
    shape = op.shape(0)
    if shape is None:
        return
    old = op.node.op_type == "Upsample" or op.opset < 11
    axes = tuple(a % max(len(shape), 1) for a in op.ints_attr("axes") or range(len(shape)))
    policy = op.text_attr("keep_aspect_ratio_policy", "stretch")
    sizes = None if old else op.dims_in(3) if op.has(3) and op.shape(3) != (0,) else None
    out: list[Dim] = list(shape)
    if sizes:
        if len(sizes) != len(axes):
            raise InvalidNode("shape-mismatch", f"{len(sizes)} sizes for {len(axes)} axes")
        sizes = sizes if policy == "stretch" else _keep_ratio(shape, axes, sizes, policy)
        for a, size in zip(axes, sizes, strict=True):
            out[a] = size
        op.set(0, tuple(out))
        return
    scales = _scales(op, old)
    if scales is None:
        op.set(0, tuple(None if i in axes else d for i, d in enumerate(shape)))
        return
    if len(scales) != len(axes):
        raise InvalidNode("shape-mismatch", f"{len(scales)} scales for {len(axes)} axes")
    roi = _roi(op, axes)
    for i, (a, s) in enumerate(zip(axes, scales, strict=True)):
        crop = None if roi is None else roi[i + len(axes)] - roi[i]
        out[a] = scaled(shape[a], s, crop)
    op.set(0, tuple(out))


def _roi(op: ShapeContext, axes: tuple[int, ...]) -> list[float] | None:
    """Return the region of interest, used only by ``tf_crop_and_resize``."""
    if op.attrs.get("coordinate_transformation_mode") != "tf_crop_and_resize":
        return None
    value = op.value(1)
    return None if value is None or value.size != 2 * len(axes) else [float(v) for v in value.reshape(-1)]


def _scales(op: ShapeContext, old: bool) -> tuple[float, ...] | None:
    if op.node.op_type == "Upsample" and op.opset < 9:
        scales = op.attrs.get("scales")
        if scales is None and "height_scale" in op.attrs:
            return 1.0, 1.0, float(op.attrs["height_scale"]), float(op.attrs.get("width_scale", 1.0))
        return None if scales is None else tuple(float(s) for s in scales)
    value = op.value(1 if old else 2)
    if value is None or value.dtype == object:
        return None
    return tuple(float(s) for s in value.reshape(-1).tolist())


def scaled(size: Dim, scale: float, crop: float | None = None) -> Dim:
    """Return ``floor(size · crop · scale)``; symbols only for integer scales or their inverses."""
    if not math.isfinite(scale) or scale <= 0:
        raise InvalidNode("bad-attribute", f"the scale is {scale}")
    if crop is not None:
        return math.floor(size * crop * scale) if isinstance(size, int) else None
    if isinstance(size, int):
        return math.floor(size * scale)
    if scale.is_integer():
        return dim_arithmetic.mul(size, int(scale))
    inverse = round(1 / scale)
    return dim_arithmetic.floordiv(size, inverse) if abs(inverse * scale - 1) < 1e-9 else None


def _keep_ratio(shape: Shape, axes: tuple[int, ...], sizes: tuple[Dim, ...], policy: str) -> tuple[Dim, ...]:
    """``not_larger`` / ``not_smaller``: one common scale for all given axes."""
    pairs = [(s, shape[a]) for s, a in zip(sizes, axes, strict=True)]
    ratios = [s / d for s, d in pairs if isinstance(s, int) and isinstance(d, int) and d > 0]
    if len(ratios) != len(pairs):
        return (None,) * len(sizes)
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    return tuple(math.floor(scale * d + 0.5) if isinstance(d, int) else None for _, d in pairs)


@rule("MaxRoiPool")
def max_roi_pool(op: ShapeContext) -> None:
    """[rois, C, pooled_h, pooled_w]."""
    x, rois = op.shape(0), op.shape(1)
    pooled = op.ints_attr("pooled_shape")
    if pooled is None:
        raise InvalidNode("bad-attribute", "pooled_shape is missing")
    op.set(0, (rois[0] if rois else None, x[1] if x and len(x) > 1 else None, *pooled), op.dtype(0))


@rule("Col2Im")
def col2im(op: ShapeContext) -> None:
    """[N, C·prod(block), L] → [N, C, image…]."""
    op.set(0, None, op.dtype(0))
    x, image, block = op.shape(0), op.dims_in(1), op.dims_in(2)
    if x is None or image is None or len(x) != 3:
        return
    channels = None if block is None else dim_arithmetic.floordiv(x[1], dim_arithmetic.product(block))
    op.set(0, (x[0], channels, *image))
