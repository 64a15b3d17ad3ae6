"""Changes fixed sequence lengths and resolutions of a model, or names the node that prevents it.

The graph is followed at its original and its requested dimensions (``walk``), by one rule per operator
(``rules``). An axis is a list of factors (``axes``), which a reshape regroups (``regroup``) where they were
joined. Numbers that represent old dimensions are replaced, and stored tables next to a sequence are cut to
their first entries. If several readings with different results fit, the change is refused (``search``).
"""

from py_autodoc.graph.resize.model import BLOCKED, ResizeBlocked, ResizedModel, resize_model

__all__ = ["BLOCKED", "ResizeBlocked", "ResizedModel", "resize_model"]
