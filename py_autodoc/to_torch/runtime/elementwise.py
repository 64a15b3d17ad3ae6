"""Arithmetic."""

from __future__ import annotations

import torch


def onnx_unsigned(name: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Compute on uint16, uint32 and uint64, for which torch has few kernels; results wrap around."""
    wide_a, wide_b = a.to(torch.int64), b.to(torch.int64)
    if name == "Div":
        return torch.div(wide_a, wide_b, rounding_mode="trunc").to(a.dtype)
    if name == "Mod":
        return torch.remainder(wide_a, wide_b).to(a.dtype)
    bits = torch.iinfo(a.dtype).bits
    result = wide_a + wide_b if name == "Add" else wide_a - wide_b if name == "Sub" else wide_a * wide_b
    return (result if bits == 64 else result & ((1 << bits) - 1)).to(a.dtype)


def onnx_div(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Divide; integer division rounds towards zero."""
    return a / b if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")


def onnx_pow(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Raise to a power; the result has the type of the base."""
    if a.is_floating_point() or not b.is_floating_point():
        return torch.pow(a, b.to(a.dtype) if a.is_floating_point() else b).to(a.dtype)
    return torch.pow(a.to(torch.float64), b.to(torch.float64)).to(a.dtype)


def onnx_bit_shift(a: torch.Tensor, b: torch.Tensor, left: bool = False) -> torch.Tensor:
    """Shift the bits of unsigned integers."""
    wide_a, wide_b = a.to(torch.int64), b.to(torch.int64)
    bits = torch.iinfo(a.dtype).bits
    if left:
        result = wide_a << wide_b
        return (result if bits == 64 else result & ((1 << bits) - 1)).to(a.dtype)
    result = wide_a >> wide_b
    if bits == 64:
        # An arithmetic shift copies the sign bit, which is an ordinary bit of an unsigned integer.
        result = torch.where(wide_b > 0, result & ~(-1 << (64 - wide_b.clamp(min=1))), result)
    return result.to(a.dtype)


def onnx_cast_float8(x: torch.Tensor, dtype: torch.dtype, saturate: bool = False) -> torch.Tensor:
    """Convert to an 8-bit float; with ``saturate``, too large numbers become the largest number."""
    largest = torch.finfo(dtype).max
    if not saturate:
        # torch saturates this type; 464 is halfway between the largest number and the next that
        # would follow.
        lost = (x.abs() > 464) & (dtype == torch.float8_e4m3fn)
        return torch.where(lost, torch.full_like(x, float("nan")), x).to(dtype)
    return torch.clamp(x.to(torch.float32), -largest, largest).to(dtype)


def onnx_shrink(x: torch.Tensor, lambd: float, bias: float) -> torch.Tensor:
    """Set numbers within ``lambd`` of zero to zero and move others towards zero by ``bias``."""
    zero = torch.zeros_like(x)
    return torch.where(x < -lambd, x + bias, torch.where(x > lambd, x - bias, zero)).to(x.dtype)


def onnx_hardmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Return one at the first maximum, zero elsewhere."""
    return torch.zeros_like(x).scatter(dim, x.argmax(dim, keepdim=True), 1)
