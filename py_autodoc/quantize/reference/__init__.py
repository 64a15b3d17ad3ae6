"""Quantized operators in NumPy: the integers that ONNX Runtime's CPU kernels write, bit for bit."""

from __future__ import annotations

from py_autodoc.quantize.reference.operators import OPERATORS, evaluate
from py_autodoc.quantize.reference.products import Kernel

__all__ = ["OPERATORS", "Kernel", "evaluate"]
