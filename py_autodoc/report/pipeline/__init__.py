"""The pipeline from a model and options to an analysis."""
