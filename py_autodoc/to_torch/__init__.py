"""Convert ONNX models to readable PyTorch source and a weights file.

``write`` converts a model; ``uncovered`` lists the operators that prevent a conversion. The converter does
not need torch, the generated file does. Names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.to_torch.convert import NotCoveredError, Uncovered, Written, uncovered, write

__all__ = ["NotCoveredError", "Uncovered", "Written", "uncovered", "write"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from py_autodoc.to_torch import convert

    return getattr(convert, name)
