"""Compare the values that a model computes with those of a reference, layer by layer."""

from __future__ import annotations

from py_autodoc.verify.api import verify
from py_autodoc.verify.document import Verification, VerifiedLayer, VerifiedOutput

__all__ = ["Verification", "VerifiedLayer", "VerifiedOutput", "verify"]
