"""Other sequence lengths and resolutions for a model that has them fixed, or the node that forbids it.

The graph is followed at its own sizes and at the wanted ones (``walk``), one rule an operator
(``rules``). An axis is a list of factors (``axes``), which a reshape deals out anew (``regroup``): where
they were joined they come apart. Numbers that stood for old sizes are written anew, stored tables beside a
sequence are cut to their first entries, and what more than one reading fits is refused (``search``).
"""

from py_autodoc.graph.resize.model import BLOCKED, ResizeBlocked, ResizedModel, resize_model

__all__ = ["BLOCKED", "ResizeBlocked", "ResizedModel", "resize_model"]
