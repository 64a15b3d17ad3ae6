"""Symbolic dimensions: polynomials, their bounds and values, the grammar, names and sizes."""
