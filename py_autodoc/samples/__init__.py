"""Values for the inputs of a model: made up, or read from files."""

from __future__ import annotations

from py_autodoc.samples.made import made_samples
from py_autodoc.samples.read import read_samples
from py_autodoc.samples.specs import InputSpec, Sample, input_specs, matched

__all__ = ["InputSpec", "Sample", "input_specs", "made_samples", "matched", "read_samples"]
