"""Comparison of two or more models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.compare.topology import Difference, same_topology

__all__ = ["Difference", "same_topology"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use: it needs onnx-ir, which imports SymPy; other comparisons do not."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from py_autodoc.compare import topology

    return getattr(topology, name)
