"""Export from PyTorch to ONNX without losing which module each operation came from.

The real torch is always imported absolutely; this package only shares its last name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.torch.exporting import export
    from py_autodoc.torch.result import ExportResult

__all__ = ["ExportResult", "export"]

_LAZY = {"ExportResult": "py_autodoc.torch.result", "export": "py_autodoc.torch.exporting"}


def __getattr__(name: str) -> Any:
    """Load a public name, and with it torch, when it is first used."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
