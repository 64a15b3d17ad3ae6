"""Sizes for free dimensions that the model runs with."""
