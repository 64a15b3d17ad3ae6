"""Quantized operators in NumPy, bit-exact with ONNX Runtime's CPU kernels."""

from __future__ import annotations

from py_autodoc.quantize.reference.operators import OPERATORS, evaluate
from py_autodoc.quantize.reference.products import Kernel

__all__ = ["OPERATORS", "Kernel", "evaluate"]
