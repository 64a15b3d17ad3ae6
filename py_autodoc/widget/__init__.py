"""The notebook widget."""

from py_autodoc.widget.autodoc import Autodoc
from py_autodoc.widget.playground import QuantPlayground
from py_autodoc.widget.side_by_side_views import SideBySide, compare, side_by_side

__all__ = ["Autodoc", "QuantPlayground", "SideBySide", "compare", "side_by_side"]
