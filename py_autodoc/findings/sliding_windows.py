"""Sliding windows: positions of a map that a convolution or pooling never reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py_autodoc.findings.registry import RuleContext

_POOLS = frozenset({"MaxPool", "AveragePool", "LpPool"})
WINDOWS = _POOLS | {"Conv"}
"""Operators that ``window`` supports."""


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """``unread[i]``: positions at the end of spatial axis i that no window covers."""

    node: int
    sizes: tuple[int, ...]
    unread: tuple[int, ...]


def window(ctx: RuleContext, number: int) -> SlidingWindow | None:
    """Return the unread positions of a Conv or pooling; None for other operators and unknown sizes.

    A stride larger than the window (1×1 with stride 2) skips positions by design, which counts as 0 unread.
    """
    node = ctx.flow.nodes[number]
    if node.domain or not node.inputs or node.inputs[0] < 0:
        return None
    if node.op_type in _POOLS:
        kernel = _ints(node.attributes.get("kernel_shape"))
    elif node.op_type == "Conv" and len(node.inputs) > 1 and node.inputs[1] >= 0:
        shape = ctx.flow.shapes[node.inputs[1]]
        kernel = _ints(list(shape[2:])) if shape is not None else None
    else:
        return None
    input_shape = ctx.flow.shapes[node.inputs[0]]
    sizes = _ints(list(input_shape[2:])) if input_shape is not None else None
    if kernel is None or sizes is None or not sizes or len(kernel) != len(sizes):
        return None
    rank = len(sizes)
    strides = _ints(node.attributes.get("strides", [1] * rank))
    dilations = _ints(node.attributes.get("dilations", [1] * rank))
    pads = _ints(node.attributes.get("pads", [0] * 2 * rank))
    explicit_padding = node.attributes.get("auto_pad", "NOTSET") in ("NOTSET", "VALID")
    if (
        strides is None
        or dilations is None
        or pads is None
        or not explicit_padding
        or node.attributes.get("ceil_mode")
    ):
        return None
    if len(strides) != rank or len(dilations) != rank or len(pads) != 2 * rank or min(strides) < 1:
        return None
    unread = []
    for axis in range(rank):
        span = (kernel[axis] - 1) * dilations[axis] + 1
        last_start = sizes[axis] + pads[axis] + pads[rank + axis] - span
        covers = span >= strides[axis] and last_start >= 0
        unread.append(max(0, last_start % strides[axis] - pads[rank + axis]) if covers else 0)
    return SlidingWindow(number, sizes, tuple(unread))


def _ints(values: Any) -> tuple[int, ...] | None:
    """Return integers of 0 or more, else None."""
    if not isinstance(values, (list, tuple)):
        return None
    for value in values:
        if type(value) is not int or value < 0:
            return None
    return tuple(values)
