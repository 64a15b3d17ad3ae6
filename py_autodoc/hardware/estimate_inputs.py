"""The inputs of an estimate for a model at given dimensions, and tensor sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from py_autodoc.costs.engine import MAX_NUMBER
from py_autodoc.graph.ir.model import Shape
from py_autodoc.graph.protobuf.tensor_protos import BITS

FLOATS = frozenset({1, 10, 11, 16})
"""Element types that a runtime converts to the chosen precision: float32, float16, double, bfloat16."""
_NO_DIMS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class EstimateInputs:
    """A model at given dimensions: by tensor and, for ``macs`` and ``repeat``, by node."""

    shapes: Sequence[Shape | None]
    dtypes: Sequence[int]
    weight: Sequence[bool]
    """Whether it is an initializer or constant, which no cache keeps between inferences."""
    producer: Sequence[int]
    macs: Sequence[int | None]
    """For one execution."""
    repeat: Mapping[int, int | None] = field(default_factory=dict)
    """Executions per inference, if not 1; None if unknown."""


def tensor_bytes(
    sized: EstimateInputs, tensor: int, width: int, dims: Mapping[str, int] = _NO_DIMS
) -> int | None:
    """Return the bytes of a tensor, with ``width`` per float element; None if its size or type is unknown.

    ``dims`` are values of symbols.
    """
    shape = sized.shapes[tensor]
    if dims and shape is not None:
        shape = tuple(dims.get(size, size) if isinstance(size, str) else size for size in shape)
    count = elements(shape)
    dtype = sized.dtypes[tensor]
    if count is None:
        return None
    if dtype in FLOATS:
        return count * width
    bits = BITS.get(dtype)
    return None if bits is None else (count * bits + 7) // 8


def elements(shape: Shape | None) -> int | None:
    """Return the number of elements; None if a dimension is not a number, or the product is implausible."""
    if shape is None:
        return None
    count = 1
    for size in shape:
        if not isinstance(size, int) or size < 0:
            return None
        count *= size
    return count if count <= MAX_NUMBER else None
