"""Convolutions and pooling: windows of a stored size over axes of any size."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import changes_size, new_size, old_size
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule

MS = "com.microsoft"
_MIN_GLOBAL_KERNEL = 4
"""Windows of at least this size may depend on the size in the file."""


@rule("Conv", "ConvInteger", "ConvTranspose", "QLinearConv", "DeformConv", "Col2Im")
@rule("QLinearConv", "NhwcConv", "FusedConv", domain=MS)
def convolution(walk: SizePass, node: Node) -> None:
    """Channels are stored, the other axes are not."""
    axes = walk.axes_of(node.inputs[0])
    channel = len(axes) - 1 if node.op_type == "NhwcConv" else 1
    if changes_size(axes[channel]):
        raise SizeBlocked(
            f"its weights are stored for {old_size(axes[channel])} channels", walk.name(node.inputs[1])
        )
    if node.op_type == "Col2Im" or (node.op_type == "ConvTranspose" and node.attributes.get("output_shape")):
        raise SizeBlocked("its output size is stored")
    _parity(walk, node)
    walk.infer(node)
    walk.put(node, 0, front=len(axes) == 3 and all(factor.front for factor in axes[2] if not factor.is_fixed))


def _parity(walk: SizePass, node: Node) -> None:
    """Raises: SizeBlocked for asymmetric padding, which may depend on the size."""
    axes, pads = walk.axes_of(node.inputs[0])[2:], node.attributes.get("pads") or []
    strides = node.attributes.get("strides") or [1] * len(axes)
    for k, axis in enumerate(axes):
        if len(pads) != 2 * len(axes) or not changes_size(axis) or pads[k] == pads[k + len(axes)]:
            continue
        if (new_size(axis) - old_size(axis)) % int(strides[k]):
            raise SizeBlocked(
                f"its padding of {pads[k]} and {pads[k + len(axes)]} on axis {k + 2} may be valid for"
                f" {old_size(axis)} entries only",
                hint=f"Choose a size that differs by a multiple of {strides[k]} on this axis.",
            )


@rule("AveragePool", "MaxPool", "LpPool")
@rule("QLinearAveragePool", domain=MS)
def pool(walk: SizePass, node: Node) -> None:
    """A window over a whole axis still covers it; one that splits it evenly may depend on its size."""
    axes = walk.axes_of(node.inputs[0])
    spatial = range(2, len(axes))
    kernel = [int(k) for k in node.attributes.get("kernel_shape") or ()]
    strides = [int(s) for s in node.attributes.get("strides") or [1] * len(kernel)]
    pads = [int(p) for p in node.attributes.get("pads") or [0] * 2 * len(kernel)]
    if len(kernel) != len(spatial):
        raise SizeBlocked("its kernel shape does not match the input rank")
    if changes_size(axes[1]) or (node.domain and node.attributes.get("channels_last")):
        raise SizeBlocked("its channels are not on a fixed axis 1")
    moving = [k for k, a in enumerate(spatial) if changes_size(axes[a])]
    global_axes = [
        k for k in moving if kernel[k] == old_size(axes[k + 2]) and kernel[k] >= _MIN_GLOBAL_KERNEL
    ]
    for k in moving:
        fits = not pads[k] and not pads[k + len(kernel)] and kernel[k] == strides[k]
        if (
            k not in global_axes
            and fits
            and kernel[k] >= _MIN_GLOBAL_KERNEL
            and old_size(axes[k + 2]) % kernel[k] == 0
        ):
            raise SizeBlocked(
                f"its windows of {kernel[k]} divide {old_size(axes[k + 2])} entries evenly and may depend on"
                " that size"
            )
    _parity(walk, node)
    if global_axes and not any(pads):
        name = ", ".join(str(k + 2) for k in global_axes)
        reading = walk.choose(node, ["whole", "literal"])
        if reading == "whole":
            walk.note(node, f"the window still covers all of axis {name}")
            grown = [new_size(axes[k + 2]) if k in global_axes else size for k, size in enumerate(kernel)]
            walk.infer(node, ints={"kernel_shape": grown})
            walk.require_rest_steady(node, 0)
            return
    walk.infer(node)
    front = len(axes) == 3 and all(factor.front for factor in axes[2] if not factor.is_fixed)
    walk.put(node, 0, front=front)
    walk.require_rest_steady(node)


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
@rule("QLinearGlobalAveragePool", domain=MS)
def everywhere(walk: SizePass, node: Node) -> None:
    """Reduces all axes after the channels."""
    walk.unchanged(node)


@rule("GridSample")
@rule("GridSample", domain=MS)
def grid_sample(walk: SizePass, node: Node) -> None:
    """The grid determines the size of the result."""
    if walk.is_stored(node.inputs[1]):
        raise SizeBlocked("its grid is stored", walk.name(node.inputs[1]))
    walk.unchanged(node)
