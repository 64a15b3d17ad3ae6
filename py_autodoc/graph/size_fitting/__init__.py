"""Finds values of symbolic dimensions for which the model runs."""
