"""Slice, Gather, Split, Pad and other selections of elements."""

from __future__ import annotations

from py_autodoc.to_torch.code import CodeValue, NotCovered, sequence, without_parentheses
from py_autodoc.to_torch.dtypes import FLOATS
from py_autodoc.to_torch.op import OpContext, fl
from py_autodoc.to_torch.registry import rule

_LARGE = 1 << 30
"""Ends from this value on mean the end of the axis."""
_MOST_AXES = 64
"""Maximum rank of a tensor in PyTorch; a subscript has one entry for each axis up to its last."""
Ints = tuple[int | str, ...]


@rule("Slice")
def cut(op: OpContext) -> None:
    """``x[:, 1:5]`` if Python's slices can express it."""
    if op.opset < 10:
        starts = tuple(op.attr("starts"))
        ends, axes = tuple(op.attr("ends")), tuple(op.attr("axes", range(len(starts))))
        code = [str(list(values)) for values in (starts, ends, axes)]
        _cut(op, (starts, ends, axes, (1,) * len(starts)), [*code, "None"])
        return
    first, last = op.ints(1), op.ints(2)
    code = [op.ints_code(n) if op.has(n) else "None" for n in (1, 2, 3, 4)]
    count = len(first) if first is not None else 0
    axis_numbers = op.ints(3) if op.has(3) else tuple(range(count))
    steps = op.ints(4) if op.has(4) else (1,) * count
    if first is None or last is None or axis_numbers is None or steps is None:
        op.out(op.call("onnx_slice", op.t(0), *code))
    else:
        _cut(op, (first, last, axis_numbers, steps), code)


def _cut(op: OpContext, parts: tuple[Ints, Ints, Ints, Ints], code: list[str]) -> None:
    """Write a slice whose starts, ends, axes and steps are known or Python integers."""
    starts, ends, axes, steps = parts
    value = op.value(0)
    bounds = [bound for bound in (*starts, *ends, *steps) if isinstance(bound, int)]
    if value.kind == "host" and not value.scalar and len(starts) == 1 and len(bounds) == 3:
        op.set(CodeValue("host", "", _host_slice(value.items, *bounds), False, value.dtype))
        return
    forward = all(isinstance(step, int) and step > 0 for step in steps)
    simple = forward and all(isinstance(axis, int) for axis in axes)
    index = _index(op, starts, ends, axes, steps) if simple else None
    if index is None:
        op.out(op.call("onnx_slice", op.t(0), *code))
    else:
        op.out(f"{op.v(0)}[{index}]" if index else op.t(0))


def _host_slice(items: Ints, first: int, last: int, step: int) -> Ints:
    size = len(items)
    first = first + size if first < 0 else first
    last = last + size if last < 0 else last
    if step > 0:
        return items[max(first, 0) : max(last, 0) : step]
    return tuple(items[n] for n in range(min(first, size - 1), max(last, -1), step))


def _index(op: OpContext, starts: Ints, ends: Ints, axes: Ints, steps: Ints) -> str | None:
    """Return the subscript; None if the slice cannot be written as one."""
    rank = op.rank(0)
    parts: dict[int, str] = {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        position = int(axis)
        if position < 0 and rank is not None:
            position += rank
        if position in parts or not -_MOST_AXES <= position < _MOST_AXES:
            return None
        low = "" if start == 0 else str(without_parentheses(start))
        high = "" if isinstance(end, int) and end >= _LARGE else str(without_parentheses(end))
        # Like ONNX, Python counts a negative end from the back, but it stops at the front.
        parts[position] = _subscript(low, high, "" if step == 1 else str(step))
    parts = {position: text for position, text in parts.items() if text != ":"}
    if not parts:
        return ""
    if min(parts) < 0:
        if max(parts) >= 0:
            return None
        return ", ".join(["...", *(parts.get(n, ":") for n in range(min(parts), 0))])
    if rank is not None and max(parts) == rank - 1 and len(parts) < rank and min(parts) > 2:
        return ", ".join(["...", *(parts.get(n, ":") for n in range(min(parts), rank))])
    return ", ".join(parts.get(n, ":") for n in range(max(parts) + 1))


def _subscript(low: str, high: str, step: str) -> str:
    """Return ``1:5``, with the spaces that formatters write around bounds other than names and numbers."""
    if not any(" " in bound or "[" in bound or "(" in bound for bound in (low, high)):
        return f"{low}:{high}" + (f":{step}" if step else "")
    spaced = f"{low} :" if low else ":"
    spaced += f" {high}" if high else ""
    return spaced + (f" : {step}" if step else "")


def at_axis(axis: int, index: str, rank: int | None) -> str:
    """Return the subscript that takes ``index`` along an axis. Raises: NotCovered."""
    if not -_MOST_AXES <= axis < _MOST_AXES:
        raise NotCovered(f"axis {axis}")
    if axis < 0:
        return ", ".join(["...", index, *(":" for _ in range(-axis - 1))])
    return ", ".join([*(":" for _ in range(axis)), index])


@rule("Gather")
def gather(op: OpContext) -> None:
    """``x[:, index]``, or nn.Embedding if the exporter recorded one."""
    axis, rank = op.attr("axis", 0), op.rank(0)
    value, index = op.value(0), op.host(1)
    if value.kind == "host" and index is not None and not value.scalar and axis in (0, -1):
        indices = [n for n in index.items if isinstance(n, int) and -len(value.items) <= n < len(value.items)]
        if len(indices) == len(index.items):
            op.set(CodeValue("host", "", tuple(value.items[n] for n in indices), index.scalar, value.dtype))
            return
    if value.kind == "constant" and axis == 0 and op.path and _says_embedding(op):
        weight = op.weight(0)
        # A quantized table becomes a buffer, since nn.Embedding holds a parameter, which must be a float.
        if len(weight.shape) == 2 and weight.dtype in FLOATS:
            rows, width = weight.shape
            layer = op.layer(
                "Embedding", {"_num_embeddings": rows, "_embedding_dim": width}, {"weight": weight}
            )
            op.out(f"{layer}({op.t(1)})")
            return
    if index is not None and index.scalar:
        op.out(f"{op.v(0)}[{at_axis(axis, str(index.items[0]), rank)}]")
    else:
        op.out(f"{op.v(0)}[{at_axis(axis, op.t(1), rank)}]")


def _says_embedding(op: OpContext) -> bool:
    """True if the node's module is an Embedding by class, so its indices are never negative."""
    return bool(op.node.classes) and op.node.classes[-1] == "Embedding"


@rule("Split")
def split(op: OpContext) -> None:
    """``x.split([2, 3], dim=1)``."""
    axis = op.attr("axis", 0)
    sizes = tuple(op.attr("split")) if "split" in op.node.attributes else op.ints(1) if op.has(1) else None
    outputs = len(op.node.outputs)
    value = op.value(0)
    if value.kind == "host" and not value.scalar:
        split_sizes = sizes if sizes is not None else (len(value.items) // outputs,) * outputs
        if all(isinstance(size, int) for size in split_sizes):
            start = 0
            for index, size in enumerate(split_sizes):
                op.set(
                    CodeValue("host", "", value.items[start : start + int(size)], False, value.dtype), index
                )
                start += int(size)
            return
    if op.has(1) or "split" in op.node.attributes:
        code = sequence(sizes, "[]") if sizes is not None else op.ints_code(1)
        op.outs(f"{op.v(0)}.split({code}, dim={axis})")
    else:
        op.outs(f"{op.v(0)}.chunk({outputs}, dim={axis})")


@rule("Pad")
def pad(op: OpContext) -> None:
    """``F.pad`` for constant padding, else selection by indices."""
    mode = op.attr("mode", "constant")
    x = op.v(0)
    if op.opset < 11:
        names = "pads" if "pads" in op.node.attributes else "paddings"
        pads: Ints | None = tuple(op.attr(names))
        value = fl(op.attr("value", 0.0))
    else:
        pads = op.ints(1)
        value = op.num(2) if op.has(2) else "0"
    axes = op.ints(3) if op.has(3) else None
    if "\x01" in value or "\x03" in value or "torch" in value:
        value = f"{op.v(2)}.item()"
    if mode == "constant" and pads is not None and not op.has(3):
        half = len(pads) // 2
        order = [item for n in reversed(range(half)) for item in (pads[n], pads[n + half])]
        while len(order) > 2 and order[-2:] == [0, 0]:
            order = order[:-2]
        more = "" if value in ("0", "0.0") else f", value={value}"
        op.out(f"F.pad({x}, {sequence(order)}{more})")
        return
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise NotCovered(f"mode {mode}")
    code = sequence(pads, "[]") if pads is not None else op.ints_code(1)
    axes_code = None if not op.has(3) else sequence(axes, "[]") if axes is not None else op.ints_code(3)
    fill = None if value in ("0", "0.0") else value
    op.out(op.call("onnx_pad", x, code, f'"{mode}"', axes=axes_code, value=fill))


@rule("Trilu")
def triangle(op: OpContext) -> None:
    """``torch.triu`` or ``tril``."""
    name = "triu" if op.attr("upper", 1) else "tril"
    diagonal = "0"
    if op.has(1):
        ints = op.ints(1)
        diagonal = str(ints[0]) if ints else f"int({op.t(1)})"
    op.out(f"torch.{name}({op.t(0)}" + (f", diagonal={diagonal})" if diagonal != "0" else ")"))


@rule("CenterCropPad")
def center(op: OpContext) -> None:
    """Crops or pads around the centre."""
    axes = op.attr("axes", None)
    named = None if axes is None else list(axes)
    op.out(op.call("onnx_center_crop_pad", op.t(0), op.ints_code(1), axes=named))


@rule("ReverseSequence")
def reverse(op: OpContext) -> None:
    """Reverses the first steps of each sequence."""
    axes = op.attr("batch_axis", 1), op.attr("time_axis", 0)
    op.out(op.call("onnx_reverse_sequence", op.t(0), op.t(1), *axes))
