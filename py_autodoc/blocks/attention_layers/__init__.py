"""Attention recognisers: operands, masks and sources."""
