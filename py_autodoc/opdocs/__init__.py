"""The operation reference: what every quantized operator of a model computes, bit for bit."""

from __future__ import annotations

from py_autodoc.opdocs.api import opdocs
from py_autodoc.opdocs.document import Operations

__all__ = ["Operations", "opdocs"]
