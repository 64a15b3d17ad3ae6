"""Where x86 kernels without VNNI saturate: which products, in which order, and which pairs can.

The instruction adds the products of two neighbours of the summed axis, u8 of the left operand times s8 of the
right, in 16 bits. Codes are multiplied as they are stored; zero points are applied exactly afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from py_autodoc.quantize.reference.arithmetic import Array, limits

LOW, HIGH = limits(np.int16)


class Factors(NamedTuple):
    """Positions of the operands of a product and of their zero points in a node's inputs."""

    a: int
    b: int
    a_zero: int | None = None
    b_zero: int | None = None
    a_quantized: bool = True
    """False: float in the file, and u8 in the kernel."""


FACTORS: Final[dict[str, tuple[Factors, ...]]] = {
    "QLinearConv": (Factors(0, 3, 2, 5),),
    "QLinearMatMul": (Factors(0, 3, 2, 5),),
    "QGemm": (Factors(0, 3, 2, 5),),
    "ConvInteger": (Factors(0, 1, 2, 3),),
    "MatMulInteger": (Factors(0, 1, 2, 3),),
    "MatMulIntegerToFloat": (Factors(0, 1, 4, 5),),
    "DynamicQuantizeMatMul": (Factors(0, 1, None, 3, a_quantized=False),),
    "QAttention": (Factors(0, 1, 6, 7),),
    "DynamicQuantizeLSTM": (
        Factors(0, 1, None, 9, a_quantized=False),
        Factors(5, 2, None, 11, a_quantized=False),
    ),
}
"""Operators with integer products. MatMulNBits is not one: its 8-bit kernels never saturate."""
_FILTERS = frozenset({"QLinearConv", "ConvInteger"})


def saturates_pairs(
    op_type: str, a: DTypeLike, b: DTypeLike, b_shape: tuple[int, ...] = (), group: int = 1
) -> bool:
    """Return whether an operator's kernels without VNNI saturate for operands of these types.

    ``b_shape`` is that of a convolution's filters, [M, C/group, *kernel]. The filter is the left operand of
    ConvInteger. Depthwise kernels (one input and one output channel per group) multiply into 32 bits; there
    are none for ConvInteger, and none for several output channels per group.
    """
    left, right = (b, a) if op_type == "ConvInteger" else (a, b)
    if np.dtype(left) != np.uint8 or np.dtype(right) != np.int8:
        return False
    return not (op_type == "QLinearConv" and b_shape[1] == 1 and b_shape[0] == group)


def summed(op_type: str, values: Array, channels: int, positions: int) -> Array:
    """Reorder the axes of filters or windows so that flattening the last ones gives the order of the sum.

    ``channels`` is the axis of a group's channels, ``positions`` the first of the kernel's axes, which are
    last. Channels are fastest; in ConvInteger they are slowest.
    """
    return np.moveaxis(values, channels, positions - 1 if op_type == "ConvInteger" else -1)


def weight_rows(op_type: str, weight: Array, transposed: bool = False) -> Array:
    """Return constant weights with one row per output, [outputs, K], in the order of the sum.

    weight: filters [M, C/group, *kernel], or a right operand [..., K, N] ([N, K] if ``transposed``).
    """
    if op_type in _FILTERS:
        return np.asarray(summed(op_type, weight, 1, 2).reshape(weight.shape[0], -1))
    if weight.ndim < 2:
        return np.asarray(weight.reshape(1, -1))
    rows = weight if transposed else np.swapaxes(weight, -1, -2)
    return np.asarray(rows.reshape(-1, rows.shape[-1]))


def left_rows(weight: Array, transposed: bool = False) -> Array:
    """Return a constant left operand [..., M, K] ([K, M] if ``transposed``) with one row per output row."""
    rows = weight.T if transposed else weight
    return np.asarray(rows.reshape(-1, rows.shape[-1]))


def can_saturate(first: Array, second: Array, data: DTypeLike) -> Array:
    """Return where first·p + second·q exceeds 16 bits for some codes p, q of the other operand's type."""
    low, high = limits(data)
    one, other = first.astype(np.int64), second.astype(np.int64)
    most = np.maximum(one * low, one * high) + np.maximum(other * low, other * high)
    least = np.minimum(one * low, one * high) + np.minimum(other * low, other * high)
    return np.asarray((most > HIGH) | (least < LOW))


def product(a: Array, b: Array, pairs: bool) -> Array:
    """Return the products of codes summed in int64, [..., M, N]; the last of an odd K has no partner.

    a: [..., M, K]; b: [..., K, N]. With ``pairs`` the sums of elements 2i and 2i + 1 of K saturate at 16
    bits.
    """
    # Sums of products of 8-bit values are integers below 2^53, so float64 holds them exactly.
    total = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
    if not pairs:
        return total
    even = a.shape[-1] // 2 * 2
    # Only columns that can saturate are summed again: seldom more than half of them.
    where = can_saturate(b[..., 0:even:2, :], b[..., 1:even:2, :], a.dtype)
    where = np.asarray(where.any(tuple(range(where.ndim - 2))))
    for k in range(0, even, 2):
        columns = np.flatnonzero(where[k // 2])
        if columns.size:
            sums = np.zeros((), np.int32)
            for at in (k, k + 1):
                factors = b[..., at, :][..., None, columns].astype(np.int32)
                sums = sums + a[..., at, None].astype(np.int32) * factors
            total[..., columns] += np.clip(sums, LOW, HIGH) - sums
    return total


def as_unsigned(
    op_type: str, inputs: Sequence[Array | None], operands: Collection[int]
) -> list[Array | None]:
    """Return a node's inputs with s8 operands as u8: their codes and zero points get 128 more.

    ``operands`` are positions in the inputs. Real values stay, so the exact result does.
    """
    (factors,) = FACTORS[op_type]
    zeros = {factors.a: factors.a_zero, factors.b: factors.b_zero}
    shifted = {*operands, *(zeros[operand] for operand in operands)}
    return [
        np.asarray(value.view(np.uint8) ^ np.uint8(128))
        if index in shifted and value is not None and value.dtype == np.int8
        else value
        for index, value in enumerate(inputs)
    ]
