"""Operators that repeat, fill or resize, whose numbers may represent input dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import (
    AxisFactor,
    changes_size,
    fixed_axis,
    new_size,
    old_size,
    without_front,
)
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule


@rule("ConstantOfShape", "Range", "RandomNormal", "RandomUniform", "EyeLike")
def constant_of_shape(walk: SizePass, node: Node) -> None:
    """A tensor filled to a given shape."""
    walk.infer(node)
    for k in range(len(node.outputs)):
        walk.put(node, k, front=node.op_type in ("ConstantOfShape", "Range"))


@rule("Expand")
def expand(walk: SizePass, node: Node) -> None:
    """Numbers on changing axes follow them; other numbers may represent such an axis, too."""
    t, out = node.inputs[0], walk.old_shape(node.outputs[0])
    axes = walk.axes_of(t)
    requested = walk.numbers(node.inputs[1])
    if requested is None:
        raise SizeBlocked("its output shape is computed from data")
    new_shape = list(requested)
    computed = node.inputs[1] in walk.changing_values
    result = [fixed_axis(d) for d in out]
    for k in range(len(out)):
        input_axis = axes[k - len(out)] if len(out) - k <= len(axes) else None
        position = k - (len(out) - len(requested))
        number = requested[position] if position >= 0 else 1
        if input_axis is not None and changes_size(input_axis):
            result[k] = input_axis
            if number not in (1, new_size(input_axis)):
                new_shape[position] = new_size(input_axis)
        elif position >= 0 and number != out[k] and computed and number != 1:
            result[k] = (AxisFactor(out[k], number, True),)
        elif (
            position >= 0
            and number in walk.spans
            and (input_axis is None or old_size(input_axis) == 1)
            and number > 1
        ):
            follow = [
                x
                for axes_of_tensor in walk.axes.values()
                for x in axes_of_tensor
                if old_size(x) == number and changes_size(x)
            ]
            options = [*dict.fromkeys(follow), fixed_axis(number)]
            by_size: dict[int, object] = {}
            options = [x for x in options if by_size.setdefault(new_size(x), x) is x]
            result[k] = walk.choose(node, options, f".{k}")
            new_shape[position] = new_size(result[k])
    walk.infer(node, consts={1: new_shape} if new_shape != requested else None)
    walk.put(node, 0, result)


@rule("Tile")
def tile(walk: SizePass, node: Node) -> None:
    """The number of repeats is stored."""
    axes = walk.axes_of(node.inputs[0])
    counts = walk.numbers(node.inputs[1])
    if counts is None or node.opset < 6:
        raise SizeBlocked("its number of repeats depends on the data")
    walk.infer(node)
    if node.inputs[1] in walk.changing_values:
        walk.require_rest_steady(node, 0)
        return
    result = []
    for axis, count in zip(axes, counts, strict=True):
        if changes_size(axis) and count > 1:
            result.append((AxisFactor(count, count), *without_front(axis)))
        else:
            result.append(axis if count == 1 else fixed_axis(old_size(axis) * count))
    walk.put(node, 0, result)


@rule("Resize", "Upsample")
def resize(walk: SizePass, node: Node) -> None:
    """Scales are valid at any size; stored sizes follow the resized tensor, or stay."""
    axes = walk.axes_of(node.inputs[0])
    old = node.op_type == "Upsample" or node.opset < 11
    if old or not walk.has(node, 3):
        walk.unchanged(node)
        return
    if node.attributes.get("keep_aspect_ratio_policy", "stretch") not in ("stretch", b"stretch"):
        raise SizeBlocked("it keeps the aspect ratio for stored sizes")
    requested = walk.numbers(node.inputs[3])
    resized_axes = [a % len(axes) for a in node.attributes.get("axes") or range(len(axes))]
    if requested is None or len(requested) != len(resized_axes):
        raise SizeBlocked("its sizes are computed from data")
    moving = [
        k
        for k, a in enumerate(resized_axes)
        if changes_size(axes[a]) or (old_size(axes[a]) == 1 and requested[k] in walk.spans)
    ]
    before = walk.old_numbers(node.inputs[3])
    if before is None or any(requested[k] != before[k] for k in moving):
        walk.unchanged(node)  # computed
        return
    options = _sizes(walk, node, requested, [(k, resized_axes[k]) for k in moving])
    reading = walk.choose(node, options)
    walk.infer(node, consts={3: reading} if reading != requested else None)
    walk.require_rest_steady(node, 0)


def _sizes(
    walk: SizePass, node: Node, requested: list[int], moving: list[tuple[int, int]]
) -> list[list[int]]:
    """Return readings of stored sizes: those of another changing tensor, else a factor, or unchanged."""
    axes = walk.axes_of(node.inputs[0])
    old_input = tuple(old_size(axes[a]) for _, a in moving)
    old_output = tuple(requested[k] for k, _ in moving)
    candidates = [
        [tensor_axes[a] for _, a in moving]
        for tensor_axes in walk.axes.values()
        if len(tensor_axes) == len(axes)
    ]
    matches = [sizes for sizes in candidates if tuple(map(old_size, sizes)) == old_output]
    followed = list(dict.fromkeys(tuple(map(new_size, sizes)) for sizes in matches))
    if followed and not (old_input == old_output and set(old_output) <= walk.roots):
        walk.note(node, f"its stored sizes {list(old_output)} are those of another tensor and change with it")
        return [_with(requested, moving, sizes) for sizes in followed]
    grown = [new_size(axes[a]) * requested[k] / old_size(axes[a]) for k, a in moving]
    if not moving or not all(size.is_integer() for size in grown):
        return [requested]
    return [_with(requested, moving, [int(size) for size in grown]), requested]


def _with(requested: list[int], moving: Sequence[tuple[int, int]], sizes: Sequence[int]) -> list[int]:
    result = list(requested)
    for (k, _), size in zip(moving, sizes, strict=True):
        result[k] = size
    return result
