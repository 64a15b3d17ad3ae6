"""Resize, Upsample and sampling at given positions."""

from __future__ import annotations

from py_autodoc.to_torch.code import NotCovered, sequence
from py_autodoc.to_torch.op import OpContext, fl, text
from py_autodoc.to_torch.registry import rule

_COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "asymmetric",
    "align_corners",
    "pytorch_half_pixel",
    "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
)
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@rule("Upsample")
def upsample(op: OpContext) -> None:
    """Resize as before opset 10, where coordinates are divided by the scale."""
    mode = op.attr("mode", "nearest")
    if mode not in ("nearest", "linear", "bilinear"):
        raise NotCovered(f"mode {mode}")
    if op.opset < 9:
        if "scales" not in op.node.attributes:
            raise NotCovered("Upsample before opset 7")
        scales = tuple(op.attr("scales"))
        code = sequence(map(fl, scales), "[]")
    else:
        array = op.array(1)
        scales = tuple(float(s) for s in array) if array is not None else ()
        code = sequence(map(fl, scales), "[]") if scales else f"{op.v(1)}.tolist()"
    if mode == "nearest" and _interpolated(op, mode, "asymmetric", "floor", scales, None):
        return
    name = '"nearest"' if mode == "nearest" else '"linear"'
    op.out(op.call("onnx_resize", op.t(0), name, scales=code, coordinates='"asymmetric"', nearest='"floor"'))


@rule("Resize")
def resize(op: OpContext) -> None:
    """``F.interpolate`` if it computes the same, else a function that follows the specification."""
    mode = op.attr("mode", "nearest")
    first = 1 if op.opset < 11 else 2
    coordinates = op.attr("coordinate_transformation_mode", "half_pixel" if op.opset >= 11 else "asymmetric")
    nearest = op.attr("nearest_mode", "round_prefer_floor" if op.opset >= 11 else "floor")
    if (
        mode not in ("nearest", "linear", "cubic")
        or coordinates not in _COORDINATES
        or nearest not in _NEAREST
    ):
        raise NotCovered("an unknown mode")
    sizes = op.ints(3) if op.has(3) else None
    values = op.array(first) if op.has(first) else None
    scales = tuple(float(s) for s in values) if values is not None else ()
    axes = op.attr("axes", None)
    policy = op.attr("keep_aspect_ratio_policy", "stretch")
    supported = axes is None and policy == "stretch" and not op.attr("antialias", 0)
    supported = (
        supported and not op.attr("exclude_outside", 0) and abs(op.attr("cubic_coeff_a", -0.75) + 0.75) < 1e-6
    )
    if supported and _interpolated(op, mode, coordinates, nearest, scales, sizes):
        return
    named: dict[str, object] = {}
    if op.has(3):
        named["sizes"] = sequence(sizes, "[]") if sizes is not None else op.ints_code(3)
    else:
        named["scales"] = sequence(map(fl, scales), "[]") if scales else f"{op.v(first)}.tolist()"
    named |= {"coordinates": text(coordinates), "nearest": text(nearest)}
    if axes is not None:
        named["axes"] = list(axes)
    if coordinates == "tf_crop_and_resize":
        named["roi"] = f"{op.v(1)}.tolist()"
        named["outside"] = fl(op.attr("extrapolation_value", 0.0))
    if mode == "cubic":
        named["a"] = fl(op.attr("cubic_coeff_a", -0.75))
    named["exclude_outside"] = bool(op.attr("exclude_outside", 0))
    named["antialias"] = bool(op.attr("antialias", 0))
    if policy != "stretch" and op.has(3):
        named["policy"] = text(policy)
    op.out(op.call("onnx_resize", op.t(0), text(mode), **named))


def _interpolated(
    op: OpContext,
    mode: str,
    coordinates: str,
    nearest: str,
    scales: tuple[float, ...],
    sizes: tuple[int | str, ...] | None,
) -> bool:
    """Use ``F.interpolate`` if it computes the same. True if done."""
    rank = op.rank(0)
    if rank not in (3, 4, 5) or not op.is_float(0):
        return False
    names = {"linear": {3: "linear", 4: "bilinear", 5: "trilinear"}.get(rank, ""), "nearest": "nearest"}
    names["cubic"] = "bicubic" if rank == 4 else ""
    name, corners = names[mode], ""
    if mode == "nearest":
        if coordinates != "asymmetric" or nearest != "floor":
            return False
        # For given sizes, torch and the specification divide in a different order, so rounding may differ.
        if sizes is not None or any(scale != int(scale) for scale in scales):
            return False
    elif coordinates == "align_corners":
        corners = ", align_corners=True"
    elif coordinates != "half_pixel":
        return False
    if not name:
        return False
    if sizes is not None:
        if len(sizes) != rank or not _unchanged(op, sizes[:2]):
            return False
        op.out(f'F.interpolate({op.t(0)}, size={sequence(sizes[2:])}, mode="{name}"{corners})')
        return True
    if len(scales) != rank or scales[:2] != (1.0, 1.0) or (corners and any(s != int(s) for s in scales)):
        return False
    factor = fl(scales[2]) if len(set(scales[2:])) == 1 else sequence(map(fl, scales[2:]))
    op.out(f'F.interpolate({op.t(0)}, scale_factor={factor}, mode="{name}"{corners})')
    return True


def _unchanged(op: OpContext, sizes: tuple[int | str, ...]) -> bool:
    """True if batch and channels keep their size."""
    shape = op.writer.source.types.shapes[op.node.inputs[0]]
    code = op.value(0).code
    for axis, size in enumerate(sizes):
        same = size == f"{code}.shape[{axis}]"
        if not same and (shape is None or shape[axis] != size or not isinstance(size, int)):
            return False
    return True


@rule("GridSample")
def grid(op: OpContext) -> None:
    """``F.grid_sample``."""
    names = {
        "linear": "bilinear",
        "bilinear": "bilinear",
        "nearest": "nearest",
        "cubic": "bicubic",
        "bicubic": "bicubic",
    }
    mode = names.get(op.attr("mode", "linear"))
    padding = op.attr("padding_mode", "zeros")
    if mode is None or padding not in ("zeros", "border", "reflection"):
        raise NotCovered("an unknown mode")
    if mode == "bicubic" and op.rank(0) != 4:
        raise NotCovered("cubic sampling of a volume")
    corners = bool(op.attr("align_corners", 0))
    settings = f'mode="{mode}", padding_mode="{padding}", align_corners={corners}'
    op.out(f"F.grid_sample({op.t(0)}, {op.t(1)}, {settings})")


@rule("AffineGrid")
def affine(op: OpContext) -> None:
    """``F.affine_grid``."""
    corners = bool(op.attr("align_corners", 0))
    op.out(f"F.affine_grid({op.t(0)}, {op.ints_code(1)}, align_corners={corners})")


@rule("RoiAlign")
def roi_align(op: OpContext) -> None:
    """Bilinear samples of regions."""
    shift = op.attr("coordinate_transformation_mode", "half_pixel" if op.opset >= 16 else "output_half_pixel")
    settings = op.attr("output_height", 1), op.attr("output_width", 1), op.attr("sampling_ratio", 0)
    scale, largest = fl(op.attr("spatial_scale", 1.0)), op.choice("mode", "avg", ("avg", "max")) == "max"
    arguments = op.t(0), op.t(1), op.t(2), *settings, scale
    op.out(op.call("onnx_roi_align", *arguments, half=shift == "half_pixel", largest=largest))


@rule("NonMaxSuppression")
def suppression(op: OpContext) -> None:
    """Non-maximum suppression."""
    max_boxes = op.ints(2) if op.has(2) else (0,)
    code = str(max_boxes[0]) if max_boxes else f"int({op.t(2)})"
    limits = []
    for index in (3, 4):
        constant = op.scalar(index) if op.has(index) else None
        limits.append(
            "None" if not op.has(index) else fl(constant) if constant is not None else f"float({op.t(index)})"
        )
    if limits[0] == "None":
        limits[0] = "0.0"
    centers = bool(op.attr("center_point_box", 0))
    op.out(op.call("onnx_non_max_suppression", op.t(0), op.t(1), code, *limits, centers=centers))


@rule("Col2Im")
def fold(op: OpContext) -> None:
    """``F.fold``."""
    if op.fixed(2) is None or len(op.fixed(2) or ()) != 2:
        raise NotCovered("not two spatial dimensions")
    pads = tuple(op.attr("pads", (0, 0, 0, 0)))
    if pads[:2] != pads[2:]:
        raise NotCovered("asymmetric padding")
    settings = {"padding": pads[:2], "dilation": tuple(op.attr("dilations", (1, 1)))}
    settings["stride"] = tuple(op.attr("strides", (1, 1)))
    more = ", ".join(f"{key}={value}" for key, value in settings.items())
    op.out(f"F.fold({op.t(0)}, {op.ints_code(1)}, {op.ints_code(2)}, {more})")
