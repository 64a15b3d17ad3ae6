"""Elements and stored bytes of tensors, computed once and shared by all cost computations."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Model, Shape, TypeTable
from py_autodoc.graph.protobuf.tensor_protos import BITS

FLOAT_TYPES = frozenset({1, 10, 11, 14, 15, 16, 17, 18, 19, 20, 23, 24, 27, 28})
"""Floating-point (and complex) element types, including 8-bit and 4-bit ones."""


def numel(shape: Shape | None) -> int | None:
    """Return the number of elements; None if a dimension is negative or not a number."""
    if shape is None:
        return None
    n = 1
    for d in shape:
        if type(d) is not int or d < 0:
            return None
        n *= d
    return n


class TensorSizes:
    """``numel[t]`` and ``bytes[t]`` of tensor ``t``; None if unknown.

    The bytes of a constant are its stored bytes (packed, sparse); other tensors are dense.
    """

    __slots__ = ("bytes", "numel")

    def __init__(self, model: Model, types: TypeTable) -> None:
        bits = BITS
        cache: dict[tuple[Shape | None, int], tuple[int | None, int | None]] = {}
        counts: list[int | None] = []
        sizes: list[int | None] = []
        for tensor, shape, dtype in zip(model.tensors, types.shapes, types.dtypes, strict=True):
            measured = cache.get((shape, dtype))
            if measured is None:
                n = numel(shape)
                dense = None if n is None or dtype not in bits else (n * bits[dtype] + 7) // 8
                measured = cache[shape, dtype] = n, dense
            counts.append(measured[0])
            storage = tensor.storage
            if storage is not None and storage.bytes is not None:
                sizes.append(storage.bytes)
            elif tensor.container in ("tensor", "sparse"):
                sizes.append(measured[1])
            else:
                sizes.append(None)
        self.numel = counts
        self.bytes = sizes
