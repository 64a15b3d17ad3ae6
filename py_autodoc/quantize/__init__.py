"""Quantize models with ONNX Runtime's tools, keep their tags and measure the results."""

from __future__ import annotations

from py_autodoc.quantize.api import quantize
from py_autodoc.quantize.document import Quantization
from py_autodoc.quantize.recipe import Recipe

__all__ = ["Quantization", "Recipe", "quantize"]
