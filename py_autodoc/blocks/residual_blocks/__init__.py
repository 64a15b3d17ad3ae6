"""Residual connections: their joins and their shortcuts."""
