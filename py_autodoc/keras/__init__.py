"""Convert Keras files to ONNX without Keras or TensorFlow; no code in the file is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.keras.converting import convert
    from py_autodoc.keras.result import ConvertResult

__all__ = ["ConvertResult", "convert"]

_LAZY = {"ConvertResult": "py_autodoc.keras.result", "convert": "py_autodoc.keras.converting"}


def __getattr__(name: str) -> Any:
    """Import a public name, and with it onnx, on first use."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
