"""The Jupyter server extension: a thin shell around ``py_autodoc.jobs``."""
