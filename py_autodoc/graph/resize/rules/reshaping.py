"""Operators that keep the order of elements."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import Axis, changes_size, new_size, old_size
from py_autodoc.graph.resize.regroup import output_axes, sizes_of
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule


@rule("Transpose", scales=True)
def transpose(walk: SizePass, node: Node) -> None:
    """Axes move according to the permutation."""
    axes = walk.axes_of(node.inputs[0])
    order = list(node.attributes.get("perm") or range(len(axes))[::-1])
    walk.infer(node)
    walk.put(node, 0, [axes[a] for a in order])
    _carry(walk, node)


@rule("Flatten", "Squeeze", "Unsqueeze", scales=True)
def axes_of_one(walk: SizePass, node: Node) -> None:
    """The operator itself lists the axes to add or remove."""
    walk.infer(node)
    walk.put(node, 0, _output_axes(walk, node, walk.new_shape(node.outputs[0])))
    _carry(walk, node)


@rule("Reshape", scales=True)
def reshape(walk: SizePass, node: Node) -> None:
    """The shape is kept if it is right at the requested sizes, otherwise rewritten."""
    t, out = node.inputs[0], walk.old_shape(node.outputs[0])
    if 0 in walk.old_shape(t):
        raise SizeBlocked("its input has no elements")
    candidates = output_axes(walk.axes_of(t), out)
    if not candidates:
        shape = list(walk.old_shape(t))
        raise SizeBlocked(f"reshaping {shape} to {list(out)} does not extend to other sizes")
    old = walk.old_numbers(node.inputs[1]) if walk.has(node, 1) else list(node.attributes.get("shape") or ())
    requested = walk.numbers(node.inputs[1]) if walk.has(node, 1) else old
    if old is None or requested is None or len(old) != len(out):
        raise SizeBlocked("its output shape is computed from data")
    if requested != old:
        right = [candidate for candidate in candidates if _results_in(walk, node, requested, candidate)]
        candidates = right or candidates
    candidate = walk.choose(node, candidates)
    if _results_in(walk, node, requested, candidate):
        walk.infer(node)
    else:
        new_shape = _rewritten_shape(walk, node, old, requested, candidate)
        if walk.has(node, 1):
            walk.infer(node, consts={1: new_shape})
        else:
            walk.infer(node, ints={"shape": new_shape})
    walk.put(node, 0, candidate)
    _carry(walk, node)


def _results_in(walk: SizePass, node: Node, requested: Sequence[int], axes: Sequence[Axis]) -> bool:
    """True if a Reshape to ``requested`` gives these axes."""
    input_shape, target = walk.new_shape(node.inputs[0]), sizes_of(axes)
    keep_zero = bool(node.attributes.get("allowzero", 0))
    out = [
        input_shape[i] if d == 0 and not keep_zero and i < len(input_shape) else d
        for i, d in enumerate(requested)
    ]
    if out.count(-1) > 1:
        return False
    return all(d in (-1, w) for d, w in zip(out, target, strict=True))


def _rewritten_shape(
    walk: SizePass, node: Node, old: Sequence[int], requested: Sequence[int], axes: Sequence[Axis]
) -> list[int]:
    """Return the shape with changed numbers replaced; -1 stays, as does 0 if it copies the right size."""
    input_shape, keep_zero = walk.new_shape(node.inputs[0]), bool(node.attributes.get("allowzero", 0))
    result = []
    for k, (number, axis) in enumerate(zip(old, axes, strict=True)):
        size = new_size(axis)
        copied = number == 0 and not keep_zero and k < len(input_shape) and input_shape[k] == size
        result.append(number if number == -1 or copied else size)
    if requested != list(old) and any(
        a != o and a != w for a, o, w in zip(requested, old, result, strict=True)
    ):
        raise SizeBlocked("its computed output shape does not fit", walk.name(node.inputs[1]))
    return result


def _output_axes(walk: SizePass, node: Node, new: Sequence[int]) -> tuple[Axis, ...]:
    out = walk.old_shape(node.outputs[0])
    for axes in output_axes(walk.axes_of(node.inputs[0]), out):
        if sizes_of(axes) == list(new):
            return axes
    raise SizeBlocked(f"the output shape {list(out)} does not extend to other sizes")


def _carry(walk: SizePass, node: Node) -> None:
    if node.inputs[0] in walk.sums:
        walk.sums[node.outputs[0]] = walk.sums[node.inputs[0]]


@rule("DepthToSpace", "SpaceToDepth")
def blocks(walk: SizePass, node: Node) -> None:
    """Blocks of a stored size."""
    axes = walk.axes_of(node.inputs[0])
    size = node.attributes.get("blocksize", 1)
    if node.op_type == "SpaceToDepth" and any(new_size(a) % size for a in axes[2:]):
        raise SizeBlocked(f"its blocks of {size} do not divide the new size")
    if any(changes_size(a) and old_size(a) == 1 for a in axes):
        raise SizeBlocked("an axis of size 1 changes")
    walk.unchanged(node)
