"""What quantizing each layer alone does to what a model returns."""

from __future__ import annotations

from py_autodoc.sensitivity.api import sensitivity
from py_autodoc.sensitivity.document import SensitiveLayer, Sensitivity
from py_autodoc.sensitivity.switches import SwitchedModel

__all__ = ["SensitiveLayer", "Sensitivity", "SwitchedModel", "sensitivity"]
