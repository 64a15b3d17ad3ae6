"""The notebook widget."""

from py_autodoc.widget.autodoc import Autodoc

__all__ = ["Autodoc"]
