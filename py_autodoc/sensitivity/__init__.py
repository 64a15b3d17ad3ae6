"""Measure the effect of quantizing each layer alone on the results of a model."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.sensitivity.api import sensitivity
    from py_autodoc.sensitivity.document import SensitiveLayer, Sensitivity
    from py_autodoc.sensitivity.switches import SwitchedModel

__all__ = ["SensitiveLayer", "Sensitivity", "SwitchedModel", "sensitivity"]

_LAZY = {
    "SensitiveLayer": "py_autodoc.sensitivity.document",
    "Sensitivity": "py_autodoc.sensitivity.document",
    "SwitchedModel": "py_autodoc.sensitivity.switches",
    "sensitivity": "py_autodoc.sensitivity.api",
}
"""Name → module. Imported when used: the server only reads the grammar of targets."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'py_autodoc.sensitivity' has no attribute {name!r}")
