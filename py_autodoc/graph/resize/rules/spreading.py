"""Operators that repeat, fill or resize, whose numbers may represent input dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.axes import AxisFactor, blurred, moves, new_size, old_size, steady
from py_autodoc.graph.resize.walk import SizeBlocked, SizePass, rule


@rule("ConstantOfShape", "Range", "RandomNormal", "RandomUniform", "EyeLike")
def made(walk: SizePass, node: Node) -> None:
    """A tensor filled to a given shape."""
    walk.infer(node)
    for k in range(len(node.outputs)):
        walk.put(node, k, front=node.op_type in ("ConstantOfShape", "Range"))


@rule("Expand")
def expand(walk: SizePass, node: Node) -> None:
    """Numbers on changing axes follow them; other numbers may represent such an axis, too."""
    t, out = node.inputs[0], walk.was(node.outputs[0])
    axes = walk.at(t)
    asked = walk.numbers(node.inputs[1])
    if asked is None:
        raise SizeBlocked("the shape it makes is computed from data")
    wanted = list(asked)
    computed = node.inputs[1] in walk.moved
    result = [steady(d) for d in out]
    for k in range(len(out)):
        given = axes[k - len(out)] if len(out) - k <= len(axes) else None
        place = k - (len(out) - len(asked))
        number = asked[place] if place >= 0 else 1
        if given is not None and moves(given):
            result[k] = given
            if number not in (1, new_size(given)):
                wanted[place] = new_size(given)
        elif place >= 0 and number != out[k] and computed and number != 1:
            result[k] = (AxisFactor(out[k], number, True),)
        elif place >= 0 and number in walk.spans and (given is None or old_size(given) == 1) and number > 1:
            follow = [x for held in walk.axes.values() for x in held if old_size(x) == number and moves(x)]
            options = [*dict.fromkeys(follow), steady(number)]
            seen: dict[int, object] = {}
            options = [x for x in options if seen.setdefault(new_size(x), x) is x]
            result[k] = walk.choose(node, options, f".{k}")
            wanted[place] = new_size(result[k])
    walk.infer(node, consts={1: wanted} if wanted != asked else None)
    walk.put(node, 0, result)


@rule("Tile")
def tile(walk: SizePass, node: Node) -> None:
    """The number of repeats is stored."""
    axes = walk.at(node.inputs[0])
    counts = walk.numbers(node.inputs[1])
    if counts is None or node.opset < 6:
        raise SizeBlocked("how often it repeats depends on the data")
    walk.infer(node)
    if node.inputs[1] in walk.moved:
        walk.rest(node, 0)
        return
    result = []
    for axis, count in zip(axes, counts, strict=True):
        if moves(axis) and count > 1:
            result.append((AxisFactor(count, count), *blurred(axis)))
        else:
            result.append(axis if count == 1 else steady(old_size(axis) * count))
    walk.put(node, 0, result)


@rule("Resize", "Upsample")
def resize(walk: SizePass, node: Node) -> None:
    """Scales are valid at any size; stored sizes follow the resized tensor, or stay."""
    axes = walk.at(node.inputs[0])
    old = node.op_type == "Upsample" or node.opset < 11
    if old or not walk.has(node, 3):
        walk.plain(node)
        return
    if node.attributes.get("keep_aspect_ratio_policy", "stretch") not in ("stretch", b"stretch"):
        raise SizeBlocked("it keeps the aspect ratio to stored sizes")
    asked = walk.numbers(node.inputs[3])
    along = [a % len(axes) for a in node.attributes.get("axes") or range(len(axes))]
    if asked is None or len(asked) != len(along):
        raise SizeBlocked("its sizes are computed from data")
    moving = [
        k
        for k, a in enumerate(along)
        if moves(axes[a]) or (old_size(axes[a]) == 1 and asked[k] in walk.spans)
    ]
    before = walk.were(node.inputs[3])
    if before is None or any(asked[k] != before[k] for k in moving):
        walk.plain(node)  # computed
        return
    options = _sizes(walk, node, asked, [(k, along[k]) for k in moving])
    reading = walk.choose(node, options)
    walk.infer(node, consts={3: reading} if reading != asked else None)
    walk.rest(node, 0)


def _sizes(walk: SizePass, node: Node, asked: list[int], moving: list[tuple[int, int]]) -> list[list[int]]:
    """Return readings of stored sizes: those of another changing tensor, else a factor, or unchanged."""
    axes = walk.at(node.inputs[0])
    given = tuple(old_size(axes[a]) for _, a in moving)
    wanted = tuple(asked[k] for k, _ in moving)
    held = [[other[a] for _, a in moving] for other in walk.axes.values() if len(other) == len(axes)]
    alike = [sizes for sizes in held if tuple(map(old_size, sizes)) == wanted]
    followed = list(dict.fromkeys(tuple(map(new_size, sizes)) for sizes in alike))
    if followed and not (given == wanted and set(wanted) <= walk.roots):
        walk.note(node, f"its stored sizes {list(wanted)} belong to another tensor and follow it")
        return [_with(asked, moving, sizes) for sizes in followed]
    grown = [new_size(axes[a]) * asked[k] / old_size(axes[a]) for k, a in moving]
    if not moving or not all(size.is_integer() for size in grown):
        return [asked]
    return [_with(asked, moving, [int(size) for size in grown]), asked]


def _with(asked: list[int], moving: Sequence[tuple[int, int]], sizes: Sequence[int]) -> list[int]:
    made = list(asked)
    for (k, _), size in zip(moving, sizes, strict=True):
        made[k] = size
    return made
