"""Measure the latency of mixtures of float and quantized layers on this machine."""

from __future__ import annotations

from py_autodoc.mixtures.measure import measure_mixtures
from py_autodoc.mixtures.written import with_written

__all__ = ["measure_mixtures", "with_written"]
