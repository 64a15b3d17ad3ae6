"""Settings of convolutions and pools: padding as numbers, nothing that has no effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py_autodoc.compare.node_case import NodeCase
from py_autodoc.graph.symbolic_dims import pooling_windows


def _pairs(pads: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return (*(head for head, _ in pads), *(tail for _, tail in pads))


def _spatial(case: NodeCase) -> tuple[Any, ...] | None:
    shape = case.shape()
    return None if shape is None or len(shape) < 3 else tuple(shape[2:])


def convolution(case: NodeCase) -> None:
    """Take the kernel from the weight, and write padding by rule as numbers."""
    weight = case.shape(3 if case.node.op_type == "QLinearConv" else 1)
    values, sizes = case.values, _spatial(case)
    if weight is not None and len(weight) > 2 and all(isinstance(size, int) for size in weight[2:]):
        values.setdefault("kernel_shape", tuple(weight[2:]))
    kernel = case.integers("kernel_shape")
    if kernel is not None:
        _window(case, kernel, sizes, case.node.op_type == "ConvTranspose", dilated=True)


def pool(case: NodeCase) -> None:
    """Write padding by rule as numbers, and forget roundings and counts that change nothing."""
    values, kernel, sizes = case.values, case.integers("kernel_shape"), _spatial(case)
    if kernel is None:
        return
    _window(case, kernel, sizes, transposed=False, dilated=False)
    if len(case.node.outputs) < 2 or case.node.outputs[1] < 0:
        case.drop("storage_order")
    if values.get("ceil_mode") and _floor_is_ceil(case, sizes):
        values["ceil_mode"] = 0
    if not values.get("ceil_mode") and not any(values.get("pads", ())):
        values.pop("count_include_pad", None)
    if values.get("count_include_pad") == 0:
        case.drop("count_include_pad")


def _floor_is_ceil(case: NodeCase, sizes: tuple[Any, ...] | None) -> bool:
    if sizes is None or not all(isinstance(size, int) for size in sizes):
        return False
    counts = []
    for ceil in (0, 1):
        try:
            axes = pooling_windows.axes({**case.values, "ceil_mode": ceil}, len(sizes))
        except pooling_windows.PoolFault:
            return False
        counts.append([pooling_windows.windows(axis, size) for axis, size in zip(axes, sizes, strict=True)])
    return counts[0] == counts[1]


def _window(
    case: NodeCase, kernel: tuple[int, ...], sizes: tuple[Any, ...] | None, transposed: bool, dilated: bool
) -> None:
    """Write the padding as numbers, as far as it is known, and forget what has no effect."""
    values, rank = case.values, len(kernel)
    strides = case.integers("strides") or (1,) * rank
    dilations = case.integers("dilations") or (1,) * rank
    if len(strides) != rank or len(dilations) != rank or (sizes is not None and len(sizes) != rank):
        return
    if dilations != (1,) * rank:
        values["dilations"] = dilations = tuple(
            1 if width == 1 else step for width, step in zip(kernel, dilations, strict=True)
        )
    auto = values.get("auto_pad", "NOTSET")
    explicit = transposed and case.integers("output_shape")
    if auto == "VALID" and not explicit:
        case.drop("pads")
    if auto in ("NOTSET", "", "VALID") and not explicit:
        case.drop("auto_pad")
        if not transposed and not values.get("ceil_mode"):
            _reached(case, kernel, sizes, strides, dilations)
        return
    reach = [(w - 1) * (d if dilated else 1) + 1 for w, d in zip(kernel, dilations, strict=True)]
    totals: list[int | None] = []
    for i in range(rank):
        size = sizes[i] if sizes is not None and isinstance(sizes[i], int) else None
        if transposed:
            added = (case.integers("output_padding") or (0,) * rank)[i]
            if not explicit:
                totals.append(reach[i] + added - strides[i])
            elif size is not None and len(explicit) >= rank:
                totals.append(strides[i] * (size - 1) + added + reach[i] - explicit[-rank:][i])
            else:
                totals.append(None)
        elif strides[i] == 1:
            totals.append(reach[i] - 1)
        else:
            steps = None if size is None else -(-size // strides[i])
            totals.append(None if steps is None else (steps - 1) * strides[i] + reach[i] - (size or 0))
    known = [max(total, 0) if total is not None and not transposed else total for total in totals]
    pads = [
        (n // 2, n - n // 2) if auto == "SAME_UPPER" else (n - n // 2, n // 2)
        for n in known
        if n is not None and n >= 0
    ]
    if len(pads) == rank:
        values["pads"] = _pairs(pads)
        case.drop("auto_pad", "output_shape")


def _reached(
    case: NodeCase,
    kernel: tuple[int, ...],
    sizes: tuple[Any, ...] | None,
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> None:
    """Limit the padding at the end to what the last window reaches."""
    rank = len(kernel)
    pads = case.integers("pads") or (0,) * (2 * rank)
    if len(pads) != 2 * rank:
        return
    ends = list(pads[rank:])
    for i in range(rank):
        size = sizes[i] if sizes is not None else None
        if isinstance(size, int):
            reach = (kernel[i] - 1) * dilations[i] + 1
            spare = (size + pads[i] + ends[i] - reach) % strides[i] if strides[i] > 0 else 0
            ends[i] = max(ends[i] - spare, min(ends[i], 0))
    case.values["pads"] = (*pads[:rank], *ends)
