"""Settings of Resize and Upsample: a factor per axis, and only what has an effect."""

from __future__ import annotations

import math
from typing import Any

from py_autodoc.compare.node_case import NodeCase
from py_autodoc.graph.ir.model import Shape


def resize(case: NodeCase) -> None:
    """Write sizes as factors, also those of older opsets, and forget what has no effect."""
    values, node = case.values, case.node
    if node.op_type == "Upsample" or 0 < node.opset < 11:
        _as_newer_resize(case)
    shape, result = case.shape(), case.outputs[0] if case.outputs else None
    _whole_axes(case, shape)
    mode = values.get("mode", "nearest")
    coordinates = values.get("coordinate_transformation_mode", "half_pixel")
    if mode != "cubic":
        case.drop("cubic_coeff_a", "exclude_outside")
    if mode != "nearest":
        case.drop("nearest_mode")
    if coordinates != "tf_crop_and_resize":
        case.drop("roi", "extrapolation_value")
    if values.get("keep_aspect_ratio_policy") == "stretch" or "scales" in values:
        case.drop("keep_aspect_ratio_policy")
    scales = _scales(case, shape, result)
    if scales is None:
        return
    values["scales"] = scales
    case.drop("sizes")
    if min(scales) >= 1 or mode == "nearest":
        case.drop("antialias")
    if coordinates == "tf_crop_and_resize":
        return
    if all(scale == 1 for scale in scales):
        case.drop("coordinate_transformation_mode", "nearest_mode", "mode", "cubic_coeff_a")
        return
    fixed = shape is not None and result is not None and len(result) == len(scales) == len(shape)
    resized = [
        (n, m, s) for n, m, s in zip(shape or (), result or (), scales, strict=False) if fixed and s != 1
    ]
    if coordinates == "pytorch_half_pixel":
        same = all(isinstance(new, int) and new > 1 for _, new, _ in resized)
    elif coordinates == "half_pixel_symmetric":
        same = all(
            isinstance(old, int) and isinstance(new, int) and math.isclose(old * scale, new)
            for old, new, scale in resized
        )
    else:
        same = False
    if fixed and same:
        coordinates = "half_pixel"
    values["coordinate_transformation_mode"] = coordinates
    whole = all(isinstance(s, (int, float)) and s >= 1 and float(s).is_integer() for s in scales)
    nearest = values.get("nearest_mode", "round_prefer_floor")
    if mode == "nearest" and whole and (coordinates, nearest) in _REPEATS:
        values["coordinate_transformation_mode"], values["nearest_mode"] = "asymmetric", "floor"


_REPEATS = {
    ("asymmetric", "floor"),
    ("half_pixel", "round_prefer_floor"),
    ("half_pixel", "round_prefer_ceil"),
}
"""Ways to resize by a whole factor that repeat every value as often."""


def _as_newer_resize(case: NodeCase) -> None:
    values = case.values
    if "height_scale" in values and "width_scale" in values:
        values["scales"] = (1.0, 1.0, values.pop("height_scale"), values.pop("width_scale"))
    if values.get("mode") == "bilinear":
        values["mode"] = "linear"
    values["coordinate_transformation_mode"], values["nearest_mode"] = "asymmetric", "floor"
    scales = values.get("scales")
    if isinstance(scales, tuple) and any(isinstance(scale, (int, float)) and scale < 1 for scale in scales):
        values["nearest_mode"] = "simple"  # rounds up where it shrinks


def _whole_axes(case: NodeCase, shape: Shape | None) -> None:
    """Write scales and sizes for all axes."""
    axes = case.axes()
    if axes is None or shape is None or not all(0 <= axis < len(shape) for axis in axes):
        return
    for name, others in (("scales", [1.0] * len(shape)), ("sizes", list(shape))):
        given = case.values.get(name)
        if isinstance(given, tuple) and len(given) == len(axes):
            whole: list[Any] = others
            for axis, value in zip(axes, given, strict=True):
                whole[axis] = value
            case.values[name] = tuple(n if isinstance(n, (int, float)) else str(n) for n in whole)
    if "keep_aspect_ratio_policy" not in case.values or case.values["keep_aspect_ratio_policy"] == "stretch":
        case.drop("axes")


def _scales(case: NodeCase, shape: Shape | None, result: Shape | None) -> tuple[float, ...] | None:
    """Return the factor of each axis, if it is known."""
    scales, sizes = case.values.get("scales"), case.values.get("sizes")
    if isinstance(scales, tuple) and scales:
        return scales
    if "keep_aspect_ratio_policy" in case.values or not isinstance(sizes, tuple) or shape is None:
        return None
    if result is None or len(result) != len(shape) or len(sizes) != len(shape):
        return None
    factors = []
    for size, new in zip(shape, sizes, strict=True):
        if str(size) == str(new):
            factors.append(1.0)
        elif isinstance(size, int) and isinstance(new, int) and size:
            factors.append(new / size)
        else:
            return None
    return tuple(factors)
