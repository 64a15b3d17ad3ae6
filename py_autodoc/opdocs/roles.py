"""Where each quantized operator has its data, scales and zero points: one entry for each operator."""

from __future__ import annotations

from typing import Final, NamedTuple


class Role(NamedTuple):
    """One operand: its name in formulas; where its values, scale and zero point are among the inputs."""

    name: str
    at: int | None
    """None: the output."""
    scale: int | None = None
    zero: int | None = None


_X = Role("x", 0, 1, 2)
_UNARY = (_X, Role("y", None, 3, 4))
_BINARY = (Role("a", 0, 1, 2), Role("b", 3, 4, 5), Role("y", None, 6, 7))

ROLES: Final[dict[str, tuple[Role, ...]]] = {
    "QLinearConv": (_X, Role("w", 3, 4, 5), Role("bias", 8), Role("y", None, 6, 7)),
    "QLinearMatMul": _BINARY,
    "QGemm": (Role("a", 0, 1, 2), Role("b", 3, 4, 5), Role("bias", 6), Role("y", None, 7, 8)),
    "ConvInteger": (Role("x", 0, None, 2), Role("w", 1, None, 3), Role("y", None)),
    "MatMulInteger": (Role("a", 0, None, 2), Role("b", 1, None, 3), Role("y", None)),
    "QLinearAdd": _BINARY,
    "QLinearMul": _BINARY,
    "QLinearAveragePool": _UNARY,
    "QLinearGlobalAveragePool": _UNARY,
    "QLinearSigmoid": _UNARY,
    "QLinearLeakyRelu": _UNARY,
    "QLinearSoftmax": _UNARY,
    "QuantizeLinear": (Role("x", 0), Role("y", None, 1, 2)),
    "DequantizeLinear": (_X, Role("y", None)),
    "DynamicQuantizeLinear": (Role("x", 0), Role("y", None)),
}
"""``QLinearConcat`` has as many as it has parts: see ``roles``."""

WEIGHTS: Final = {
    "QLinearConv": "w",
    "ConvInteger": "w",
    "QLinearMatMul": "b",
    "QGemm": "b",
    "MatMulInteger": "b",
}
"""The operand that holds the weights, where it is constant."""


def roles(op_type: str, inputs: int) -> tuple[Role, ...]:
    """The operands of an operator with so many inputs."""
    if op_type == "QLinearConcat":
        parts = [Role(f"x{number}", at, at + 1, at + 2) for number, at in enumerate(range(2, inputs, 3))]
        return (*parts, Role("y", None, 0, 1))
    return ROLES[op_type]
