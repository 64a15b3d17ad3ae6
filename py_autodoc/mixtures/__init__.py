"""Measure the latency of mixtures of float and quantized layers on this machine."""

from __future__ import annotations

from py_autodoc.mixtures.checked_choice import with_checked_choice
from py_autodoc.mixtures.measure import measure_mixtures
from py_autodoc.mixtures.written import with_written

__all__ = ["measure_mixtures", "with_checked_choice", "with_written"]
