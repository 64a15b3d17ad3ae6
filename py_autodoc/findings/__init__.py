"""Findings: rules over the analysis of a model."""
