"""Mixtures of float and quantized layers, made as files and run: what they take on this machine."""

from __future__ import annotations

from py_autodoc.mixtures.measure import measure_mixtures

__all__ = ["measure_mixtures"]
