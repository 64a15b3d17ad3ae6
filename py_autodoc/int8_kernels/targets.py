"""What the targets of a quantization compute, and what this machine does."""

from __future__ import annotations

from py_autodoc.int8_kernels.computations import (
    COMPUTATIONS,
    EXACT,
    EXACT_TARGET,
    Computation,
    checked_target,
    computation,
)
from py_autodoc.ort_kernels import saturates
from py_autodoc.quantize.reference.products import Kernel

__all__ = [
    "COMPUTATIONS",
    "EXACT",
    "EXACT_TARGET",
    "Computation",
    "checked_target",
    "computation",
    "kernel_here",
]


def kernel_here() -> Kernel:
    """Return the kind of kernels on this machine. Raises: RequirementError: ONNX Runtime is missing."""
    return "pairs" if saturates() else "exact"
