"""Export from PyTorch to ONNX and record the module of each operation.

Modules in this package import torch absolutely, since the package has the same last name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py_autodoc.errors import RequirementError

if TYPE_CHECKING:
    from py_autodoc.torch.exporting import export
    from py_autodoc.torch.quantizing import Quantize
    from py_autodoc.torch.result import ExportResult

__all__ = ["ExportResult", "Quantize", "export"]

_NEEDED = ("torch", "onnxscript")
"""Packages installed by the extra ``export``."""


class TorchMissing(RequirementError, ImportError):
    """torch or its ONNX exporter is not installed. Also an ``ImportError``, for callers that catch that."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "torch-missing", f"py_autodoc.torch needs {name}.", 'pip install "onnx-autodoc[export]"'
        )


_LAZY = {
    "ExportResult": "py_autodoc.torch.result",
    "Quantize": "py_autodoc.torch.quantizing",
    "export": "py_autodoc.torch.exporting",
}


def __getattr__(name: str) -> Any:
    """Import a public name, and with it torch, on first use."""
    if name in _LAZY:
        from importlib import import_module

        try:
            return getattr(import_module(_LAZY[name]), name)
        except ModuleNotFoundError as fault:
            if fault.name is None or fault.name.partition(".")[0] not in _NEEDED:
                raise
            raise TorchMissing(fault.name) from None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
