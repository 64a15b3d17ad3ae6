"""MatMulNBits in NumPy: a float product with weights of few bits in blocks. Sums are not bit-exact.

Each row of the weights is cut into blocks along the summed axis; a block has one scale and zero point. Codes
are packed from the lowest bits of a byte, and each row of zero points begins at a byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from py_autodoc.quantize.reference.arithmetic import F32, Array

MATMUL_NBITS = "MatMulNBits"
BITS = (2, 4, 8)
TOLERANCE = 1e-4
"""Difference that rounding of float32 sums explains, as a share of the largest output."""
COARSE_TOLERANCE = 3e-2
"""The same with 16-bit floats, or 8-bit data (``accuracy_level`` 4)."""


class BlockWeights(NamedTuple):
    """Weights of a MatMulNBits: real value = (code - zero) · scale of its block."""

    codes: Array
    """[N, K], unsigned."""
    zeros: Array
    """[N, blocks] in float32: they may be fractions."""
    scales: Array
    """[N, blocks] in float32."""
    block: int

    def centred(self) -> Array:
        """Return the codes minus the zero points, [N, K] in float32."""
        zeros = np.repeat(self.zeros, self.block, 1)[:, : self.codes.shape[1]]
        return np.asarray(self.codes.astype(F32) - zeros)

    def real(self) -> Array:
        """Return the real weights, [N, K] in float32."""
        scales = np.repeat(self.scales, self.block, 1)[:, : self.codes.shape[1]]
        return np.asarray(self.centred() * scales)


def block_weights(inputs: Sequence[Array | None], attributes: Mapping[str, Any]) -> BlockWeights:
    """Return the weights of a node's inputs. Raises: ValueError: sizes or bits do not fit."""
    rows, columns = int(attributes["N"]), int(attributes["K"])
    bits, block = int(attributes.get("bits", 4)), int(attributes["block_size"])
    if bits not in BITS or block < 1:
        raise ValueError(f"{bits} bits in blocks of {block} are not supported")
    blocks = -(-columns // block)
    packed, scales, zeros = (inputs[index] if index < len(inputs) else None for index in (1, 2, 3))
    if packed is None or scales is None:
        raise ValueError("weights or scales are missing")
    codes = _unpacked(packed.reshape(rows, -1), bits)
    if codes.shape[1] < columns:
        raise ValueError("the weights have too few codes")
    scales = scales.astype(F32).reshape(rows, blocks)
    if zeros is None:
        points = np.full((rows, blocks), 1 << bits - 1, F32)
    elif zeros.dtype == np.uint8:
        points = _unpacked(zeros.reshape(rows, -1), bits)[:, :blocks].astype(F32)
    else:
        points = zeros.astype(F32).reshape(rows, blocks)
    return BlockWeights(codes[:, :columns], points, scales, block)


def matmul_nbits(inputs: Sequence[Array | None], attributes: Mapping[str, Any]) -> Array:
    """Return x · wᵀ + bias in float32 sums, [..., N], with the type of x."""
    x = inputs[0]
    if x is None or (len(inputs) > 4 and inputs[4] is not None):
        raise ValueError("g_idx is not supported")
    bias = inputs[5] if len(inputs) > 5 else None
    y = x.astype(F32) @ block_weights(inputs, attributes).real().T
    return np.asarray(y if bias is None else y + bias.astype(F32)).astype(x.dtype)


def tolerance(inputs: Sequence[Array | None], attributes: Mapping[str, Any]) -> float:
    """Return the difference to expect from a runtime, as a share of the largest output."""
    x = inputs[0]
    coarse = (x is not None and x.dtype == np.float16) or int(attributes.get("accuracy_level", 0)) >= 2
    return COARSE_TOLERANCE if coarse else TOLERANCE


def _unpacked(packed: Array, bits: int) -> Array:
    """Return the codes of rows of bytes, [rows, bytes · 8 / bits]."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return np.asarray((packed[..., None] >> shifts & ((1 << bits) - 1)).reshape(packed.shape[0], -1))
