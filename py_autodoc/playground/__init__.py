"""A quantized model whose scales, zero points and precisions can be changed while it runs."""

from __future__ import annotations

from py_autodoc.playground.edits import Edits
from py_autodoc.playground.playground import Playground

__all__ = ["Edits", "Playground"]
