"""Pooling windows along one axis: attributes, padding and number of windows.

Sizes follow the operator specification where ONNX Runtime does, and ONNX Runtime elsewhere: a window beyond
the padded input is rounded towards zero as in C, a window added by ``ceil_mode`` must start inside the input
or its left padding, and ``auto_pad = SAME_*`` pads as if there were no dilation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from py_autodoc.graph.ir.model import Dim
from py_autodoc.graph.symbolic_dims import dim_arithmetic

SAME = ("SAME_UPPER", "SAME_LOWER")


class PoolFault(ValueError):
    """Invalid pooling attributes; the text names them."""


@dataclass(frozen=True, slots=True)
class PoolingAxis:
    """Window along one spatial axis. ``head`` and ``tail`` are the pads in the file."""

    kernel: int
    stride: int = 1
    dilation: int = 1
    head: int = 0
    tail: int = 0
    auto_pad: str = "NOTSET"
    ceil: bool = False

    @property
    def reach(self) -> int:
        """Positions from the first to the last element of the window."""
        return (self.kernel - 1) * self.dilation + 1


def axes(attributes: Mapping[str, Any], rank: int) -> tuple[PoolingAxis, ...]:
    """Return the windows of a pooling over ``rank`` spatial axes. Raises: PoolFault."""
    kernel = _ints(attributes, "kernel_shape", rank, None, 1)
    strides = _ints(attributes, "strides", rank, 1, 1)
    dilations = _ints(attributes, "dilations", rank, 1, 1)
    pads = _ints(attributes, "pads", 2 * rank, 0, None)
    auto_pad = attributes.get("auto_pad") or "NOTSET"
    if auto_pad not in ("NOTSET", "VALID", *SAME):
        raise PoolFault(f"auto_pad is {str(auto_pad)[:40]!r}")
    ceil = bool(attributes.get("ceil_mode"))
    if auto_pad != "NOTSET":
        pads = (0,) * (2 * rank)
    rows = zip(kernel, strides, dilations, pads[:rank], pads[rank:], strict=True)
    return tuple(PoolingAxis(*row, auto_pad, ceil) for row in rows)


def _ints(
    attributes: Mapping[str, Any], name: str, n: int, default: int | None, low: int | None
) -> tuple[int, ...]:
    values = attributes.get(name)
    if not values and isinstance(values, (list, tuple, type(None))):
        if default is None:
            raise PoolFault(f"{name} is missing")
        return (default,) * n
    if not isinstance(values, (list, tuple)) or not all(isinstance(v, int) for v in values):
        raise PoolFault(f"attribute {name} is not a list of integers")
    if len(values) != n:
        raise PoolFault(f"{name} {list(values[:8])} needs {n} entries")
    if low is not None and min(values) < low:
        raise PoolFault(f"{name} {list(values[:8])} has an entry below {low}")
    return tuple(values)


def windows(axis: PoolingAxis, size: Dim) -> Dim:
    """Return the number of windows on an axis of ``size``; negative if the window does not fit.

    For a symbolic size the result holds where the count is at least 1.
    """
    if axis.auto_pad in SAME:
        target = dim_arithmetic.ceildiv(size, axis.stride)
        if axis.dilation == 1 or target is None:
            return target
        # Padding is computed for the undilated window, so dilation reduces the number of windows.
        padded = dim_arithmetic.add(
            dim_arithmetic.mul(dim_arithmetic.sub(target, 1), axis.stride), axis.kernel
        )
        return _rounded(axis, padded, None)
    padded = dim_arithmetic.add(size, axis.head + axis.tail)
    return _rounded(axis, padded, dim_arithmetic.add(size, axis.head))


def _rounded(axis: PoolingAxis, padded: Dim, starts: Dim) -> Dim:
    """Return the windows over ``padded`` positions; one added by ``ceil_mode`` starts before ``starts``."""
    free_positions = dim_arithmetic.sub(padded, axis.reach)
    if not axis.ceil:
        if isinstance(free_positions, int) and free_positions < 0:
            return 1 - (-free_positions // axis.stride)
        return dim_arithmetic.add(dim_arithmetic.floordiv(free_positions, axis.stride), 1)
    count = dim_arithmetic.add(dim_arithmetic.ceildiv(free_positions, axis.stride), 1)
    if starts is None or axis.stride + axis.tail <= axis.reach:
        return count  # the added window starts inside in any case
    return dim_arithmetic.extreme(False, count, dim_arithmetic.ceildiv(starts, axis.stride))
