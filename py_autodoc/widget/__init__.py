"""The notebook widget."""

from py_autodoc.widget.autodoc import Autodoc
from py_autodoc.widget.beside import SideBySide, compare, side_by_side

__all__ = ["Autodoc", "SideBySide", "compare", "side_by_side"]
