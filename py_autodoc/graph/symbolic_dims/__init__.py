"""Symbolic dimensions: polynomials, bounds, values, grammar, names and sizes."""
