"""Comparison of two or more models."""

from __future__ import annotations

from py_autodoc.compare.topology import Difference, same_topology

__all__ = ["Difference", "same_topology"]
