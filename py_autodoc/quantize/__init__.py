"""Quantized models, made by ONNX Runtime's own tools, with tags kept and scores measured."""

from __future__ import annotations

from py_autodoc.quantize.api import quantize
from py_autodoc.quantize.document import Quantization
from py_autodoc.quantize.recipe import Recipe

__all__ = ["Quantization", "Recipe", "quantize"]
