"""From a model and its options to an analysis."""
