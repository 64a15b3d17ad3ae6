"""How numbers are written; see ``py_autodoc.units``."""

from py_autodoc.units import UNKNOWN, count, exact, seconds, shape, share, size

__all__ = ["UNKNOWN", "count", "exact", "seconds", "shape", "share", "size"]
