"""Number formatting; see ``py_autodoc.units``."""

from py_autodoc.units import UNKNOWN, at_least, confidence, count, exact, seconds, shape, share, size

__all__ = ["UNKNOWN", "at_least", "confidence", "count", "exact", "seconds", "shape", "share", "size"]
