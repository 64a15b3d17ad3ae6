"""The Jupyter server extension: an HTTP API for ``py_autodoc.jobs`` and ``py_autodoc.tasks``."""
