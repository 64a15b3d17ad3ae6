"""Quantize models with ONNX Runtime's tools, keep their tags and measure the results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.quantize.api import quantize
    from py_autodoc.quantize.document import Quantization
    from py_autodoc.quantize.recipe import Recipe

__all__ = ["Quantization", "Recipe", "quantize"]

_LAZY = {
    "Quantization": "py_autodoc.quantize.document",
    "Recipe": "py_autodoc.quantize.recipe",
    "quantize": "py_autodoc.quantize.api",
}
"""Name → module. Imported when used: `verify`, which these modules import, reads `quantize.reference`."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'py_autodoc.quantize' has no attribute {name!r}")
