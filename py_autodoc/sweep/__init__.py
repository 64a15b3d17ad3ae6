"""Costs, latency and memory of one model at many sizes, precisions and devices."""

from __future__ import annotations

from py_autodoc.sweep.choose import PointChoice, best, knee
from py_autodoc.sweep.run import Axes, SweepOptions, sweep
from py_autodoc.sweep.schema import Sweep, SweepPoint

__all__ = ["Axes", "PointChoice", "Sweep", "SweepOptions", "SweepPoint", "best", "knee", "sweep"]
