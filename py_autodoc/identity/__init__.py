"""A model in words: its task, its kind, its inputs and outputs, from labels and structure."""
