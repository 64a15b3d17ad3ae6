"""Positions of data, scales and zero points in the inputs of each quantized operator."""

from __future__ import annotations

from typing import Final, NamedTuple

from py_autodoc.quantize.reference.block_weights import MATMUL_NBITS


class InputRole(NamedTuple):
    """One operand: its name in formulas, and the positions of its values, scale and zero point."""

    name: str
    position: int | None
    """None for the output."""
    scale: int | None = None
    zero: int | None = None


_X = InputRole("x", 0, 1, 2)
_UNARY = (_X, InputRole("y", None, 3, 4))
_BINARY = (InputRole("a", 0, 1, 2), InputRole("b", 3, 4, 5), InputRole("y", None, 6, 7))

ROLES: Final[dict[str, tuple[InputRole, ...]]] = {
    "QLinearConv": (_X, InputRole("w", 3, 4, 5), InputRole("bias", 8), InputRole("y", None, 6, 7)),
    "QLinearMatMul": _BINARY,
    "QGemm": (
        InputRole("a", 0, 1, 2),
        InputRole("b", 3, 4, 5),
        InputRole("bias", 6),
        InputRole("y", None, 7, 8),
    ),
    "ConvInteger": (InputRole("x", 0, None, 2), InputRole("w", 1, None, 3), InputRole("y", None)),
    "MatMulInteger": (InputRole("a", 0, None, 2), InputRole("b", 1, None, 3), InputRole("y", None)),
    "MatMulIntegerToFloat": (
        InputRole("a", 0, 2, 4),
        InputRole("b", 1, 3, 5),
        InputRole("bias", 6),
        InputRole("y", None),
    ),
    "DynamicQuantizeMatMul": (
        InputRole("a", 0),
        InputRole("b", 1, 2, 3),
        InputRole("bias", 4),
        InputRole("y", None),
    ),
    MATMUL_NBITS: (
        InputRole("x", 0),
        InputRole("w", 1),
        InputRole("w_scale", 2),
        InputRole("w_zero_point", 3),
        InputRole("bias", 5),
        InputRole("y", None),
    ),
    "QLinearAdd": _BINARY,
    "QLinearMul": _BINARY,
    "QLinearAveragePool": _UNARY,
    "QLinearGlobalAveragePool": _UNARY,
    "QLinearSigmoid": _UNARY,
    "QLinearLeakyRelu": _UNARY,
    "QLinearSoftmax": _UNARY,
    "QuantizeLinear": (InputRole("x", 0), InputRole("y", None, 1, 2)),
    "DequantizeLinear": (_X, InputRole("y", None)),
    "DynamicQuantizeLinear": (InputRole("x", 0), InputRole("y", None)),
}
"""``QLinearConcat`` has one per part; see ``roles``."""

WEIGHTS: Final = {
    "QLinearConv": "w",
    "ConvInteger": "w",
    "QLinearMatMul": "b",
    "QGemm": "b",
    "MatMulInteger": "b",
    "MatMulIntegerToFloat": "b",
    "DynamicQuantizeMatMul": "b",
}
"""The operand with the weights, if it is constant."""


def roles(op_type: str, inputs: int) -> tuple[InputRole, ...]:
    """Return the operands of an operator with a number of inputs."""
    if op_type == "QLinearConcat":
        parts = [InputRole(f"x{number}", i, i + 1, i + 2) for number, i in enumerate(range(2, inputs, 3))]
        return (*parts, InputRole("y", None, 0, 1))
    return ROLES[op_type]
