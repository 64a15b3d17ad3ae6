"""Costs of a model: MACs, FLOPs, bytes, parameters and peak activation memory."""
