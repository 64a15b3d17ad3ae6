"""ONNX models as readable PyTorch source with their weights.

``write`` writes a model, ``uncovered`` lists operators that keep it from doing so. Needs no torch; the
written file does. Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.to_torch.convert import NotCoveredError, Uncovered, Written, uncovered, write

__all__ = ["NotCoveredError", "Uncovered", "Written", "uncovered", "write"]


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from py_autodoc.to_torch import convert

    return getattr(convert, name)
