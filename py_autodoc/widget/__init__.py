"""The notebook widget."""

from py_autodoc.widget.autodoc import Autodoc
from py_autodoc.widget.beside import SideBySide, compare, side_by_side
from py_autodoc.widget.playground import QuantPlayground

__all__ = ["Autodoc", "QuantPlayground", "SideBySide", "compare", "side_by_side"]
