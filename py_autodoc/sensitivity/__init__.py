"""Measure the effect of quantizing each layer alone on the results of a model."""

from __future__ import annotations

from py_autodoc.sensitivity.api import sensitivity
from py_autodoc.sensitivity.document import SensitiveLayer, Sensitivity
from py_autodoc.sensitivity.switches import SwitchedModel

__all__ = ["SensitiveLayer", "Sensitivity", "SwitchedModel", "sensitivity"]
