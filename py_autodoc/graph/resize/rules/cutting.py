"""Operators that slice, join and pad along an axis; stored positions count from one of its ends."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import (
    Axis,
    AxisFactor,
    changes_size,
    fixed_axis,
    new_size,
    old_size,
    without_front,
)
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule

END_OF_AXIS = (1 << 63) - 1
_FIRST, _LAST = 16, 4
"""Positions assumed to be counted from the start, and from the end."""


def new_position(axis: Axis, k: int) -> int:
    """Return a stored position for another size: negative if it is counted from the end.

    Raises: SizeBlocked if it is ambiguous from which end it is counted.
    """
    size = old_size(axis)
    if k <= 0:
        return k
    front = k == 1 or (k <= _FIRST and 4 * k < size)
    back = k == size - 1 or (size - k <= _LAST and 4 * (size - k) < size)
    if front == back:
        raise SizeBlocked(f"index {k} of {size} may be counted from the start, from the end or as a fraction")
    return k if front else k - size


@rule("Slice")
def slices(walk: SizePass, node: Node) -> None:
    """Replaces numbers that represent positions on a changing axis."""
    t = node.inputs[0]
    axes, size = walk.axes_of(t), walk.old_shape(t)
    inputs = node.opset >= 10
    starts, ends = _attribute_or_input(walk, node, 1, "starts"), _attribute_or_input(walk, node, 2, "ends")
    if starts is None or ends is None:
        raise SizeBlocked("its slice bounds depend on the data")
    slice_axes = (
        _attribute_or_input(walk, node, 3, "axes")
        if not inputs or walk.has(node, 3)
        else list(range(len(starts)))
    )
    steps = _attribute_or_input(walk, node, 4, "") if inputs and walk.has(node, 4) else [1] * len(starts)
    if slice_axes is None and not inputs:
        slice_axes = list(range(len(starts)))
    if slice_axes is None or steps is None:
        raise SizeBlocked("its slice bounds depend on the data")
    numbers = {1: list(starts), 2: list(ends)}
    out = list(axes)
    computed = inputs and any(node.inputs[i] in walk.changing_values for i in (1, 2))
    for k, a in enumerate(slice_axes):
        axis = axes[a % len(size)]
        if not changes_size(axis):
            out[a % len(size)] = ()
            continue
        if steps[k] < 0:
            if ends[k] >= -old_size(axis) and not computed:
                raise SizeBlocked("it slices backwards to a stored index")
            if not computed:
                numbers[1][k] = (
                    END_OF_AXIS if starts[k] >= old_size(axis) - 1 else new_position(axis, starts[k])
                )
                numbers[2][k] = -END_OF_AXIS
            out[a % len(size)] = ()
            continue
        if computed:
            out[a % len(size)] = _sliced_axis(axis, starts[k], steps[k])
            continue
        numbers[1][k] = 0 if starts[k] <= -old_size(axis) else new_position(axis, starts[k])
        numbers[2][k] = END_OF_AXIS if ends[k] >= old_size(axis) else new_position(axis, ends[k])
        if numbers[2][k] != ends[k] < old_size(axis) or numbers[1][k] != starts[k] > 0:
            walk.note(node, f"index {starts[k]}:{ends[k]} of {old_size(axis)} is counted from the end")
        out[a % len(size)] = _sliced_axis(axis, numbers[1][k], steps[k])
    if inputs:
        old = {1: starts, 2: ends}
        walk.infer(node, consts={i: v for i, v in numbers.items() if v != old[i]})
    else:
        changed = {"starts": (numbers[1], starts), "ends": (numbers[2], ends)}
        walk.infer(node, ints={name: new for name, (new, old) in changed.items() if new != old})
    old_dims, new_dims = walk.old_shape(node.outputs[0]), walk.new_shape(node.outputs[0])
    result = []
    for a, (old_d, new_d) in enumerate(zip(old_dims, new_dims, strict=True)):
        covers_axis = bool(out[a]) and old_size(out[a]) == old_d and new_size(out[a]) == new_d
        front = (
            all(factor.front for factor in out[a] if not factor.is_fixed)
            if out[a]
            else computed and not any(starts)
        )
        result.append(out[a] if covers_axis else (AxisFactor(old_d, new_d, front and old_d != new_d),))
    walk.put(node, 0, result)


def _sliced_axis(axis: Axis, start: int, step: int) -> Axis:
    """Return the axis after a slice; positions keep their order, but the first may be missing."""
    return axis if start >= 0 and step == 1 else without_front(axis)


def _attribute_or_input(walk: SizePass, node: Node, i: int, attr: str) -> list[int] | None:
    if node.opset >= 10:
        return walk.numbers(node.inputs[i]) if walk.has(node, i) else None
    value = node.attributes.get(attr)
    return None if value is None else [int(v) for v in value]


@rule("Split")
def split(walk: SizePass, node: Node) -> None:
    """Equal parts stay equal; of unequal parts only one may grow."""
    axes = walk.axes_of(node.inputs[0])
    a = node.attributes.get("axis", 0) % len(axes)
    inputs = node.opset >= 13
    has_sizes = walk.has(node, 1) if inputs else bool(node.attributes.get("split"))
    axis = axes[a]
    if changes_size(axis) and has_sizes and not (inputs and node.inputs[1] in walk.changing_values):
        sizes = walk.numbers(node.inputs[1]) if inputs else [int(v) for v in node.attributes["split"]]
        if sizes is None:
            raise SizeBlocked("its split sizes depend on the data")
        parts = _parts(axis, sizes)
        if inputs:
            walk.infer(node, consts={1: parts})
        else:
            walk.infer(node, ints={"split": parts})
    else:
        walk.infer(node)
    for k, t in enumerate(node.outputs):
        if t < 0:
            continue
        result = list(axes)
        if changes_size(axis):
            result[a] = (
                AxisFactor(walk.old_shape(t)[a], walk.new_shape(t)[a], k == 0 and _counts_from_start(axis)),
            )
        else:
            result[a] = fixed_axis(walk.old_shape(t)[a])
        walk.put(node, k, result)


def _counts_from_start(axis: Axis) -> bool:
    return len(axis) == 1 and axis[0].front


def _parts(axis: Axis, sizes: Sequence[int]) -> list[int]:
    if len(set(sizes)) == 1 and new_size(axis) % len(sizes) == 0:
        return [new_size(axis) // len(sizes)] * len(sizes)
    large = [k for k, size in enumerate(sizes) if size > _LAST]
    remaining = new_size(axis) - (old_size(axis) - sizes[large[0]]) if len(large) == 1 else 0
    if remaining < 1:
        raise SizeBlocked(f"it splits {old_size(axis)} entries into {list(sizes)}")
    return [remaining if k == large[0] else size for k, size in enumerate(sizes)]


@rule("Concat")
def concat(walk: SizePass, node: Node) -> None:
    """Other axes must have equal sizes; along its own axis the sizes add up."""
    rank = len(walk.old_shape(node.inputs[0]))
    a = node.attributes.get("axis", 1 if node.opset < 4 else 0) % rank
    live = range(len(node.inputs))
    if not any(walk.is_changed(node.inputs[i]) for i in live):
        walk.infer(node)  # shape arithmetic
        walk.require_rest_steady(node, 0)
        return
    result: list[Axis] = []
    cuts: dict[int, dict[int, int]] = {}
    for axis in range(rank):
        joined_axes = [walk.axes_of(node.inputs[i])[axis] for i in live]
        if axis == a:
            result.append(_joined(joined_axes, walk.old_shape(node.outputs[0])[a]))
            continue
        data = [x for i, x in zip(live, joined_axes, strict=True) if not walk.is_stored(node.inputs[i])]
        pattern = next(
            (x for x in data if changes_size(x)),
            next((x for x in joined_axes if changes_size(x)), joined_axes[0]),
        )
        for i, axis_of_input in zip(live, joined_axes, strict=True):
            if new_size(axis_of_input) != new_size(pattern):
                cuts.setdefault(i, {})[axis] = walk.fit(node, i, axis, pattern)
        result.append(pattern)
    walk.infer(node, cuts=cuts)
    walk.put(node, 0, result)


def _joined(axes: Sequence[Axis], old: int) -> Axis:
    """Positions still count from the start if only the last part grows and has a single factor."""
    new = sum(map(new_size, axes))
    last = axes[-1]
    only_last_moves = not any(changes_size(x) for x in axes[:-1])
    return (
        AxisFactor(old, new, only_last_moves and changes_size(last) and len(last) == 1 and last[0].front),
    )


@rule("Pad")
def pad(walk: SizePass, node: Node) -> None:
    """Padding is stored; at the end it may round up to a multiple."""
    axes = walk.axes_of(node.inputs[0])
    inputs = node.opset >= 11
    if inputs:
        pads = walk.numbers(node.inputs[1])
    else:
        pads = [int(v) for v in node.attributes.get("pads", node.attributes.get("paddings")) or ()]
    pad_axes = walk.numbers(node.inputs[3]) if walk.has(node, 3) else list(range(len(axes)))
    if pads is None or pad_axes is None:
        raise SizeBlocked("its padding is computed from data")
    fixed = not inputs or node.inputs[1] not in walk.changing_values
    result = list(axes)
    for k, a in enumerate(pad_axes):
        axis, front, end = axes[a], pads[k], pads[k + len(pad_axes)]
        if not (front or end):
            continue
        if not changes_size(axis):
            result[a % len(axes)] = fixed_axis(old_size(axis) + front + end)
            continue
        change = new_size(axis) - old_size(axis)
        if fixed and end > front and change % 32:
            raise SizeBlocked(
                f"its padding of {old_size(axis)} entries by {end} at the end may round up to a multiple",
                hint="Choose a size that differs by a multiple of 32 on this axis.",
            )
        size = old_size(axis) + front + end, new_size(axis) + front + end
        result[a % len(axes)] = (AxisFactor(*size, _counts_from_start(axis) and fixed),)
    walk.infer(node)
    if fixed:
        walk.put(node, 0, result)
    else:
        walk.require_rest_steady(node, 0)
